"""Glossary rows: what people do with software and at work. Verbs and adjectives."""

from __future__ import annotations

ROWS = """
정하다 | decide, set, choose
결정, 결정하다 | decide, decision
고르다, 선택 | choose, pick, select, choice
뽑다 | pick, pull, draw
채택, 도입 | adopt, adoption, introduce
바꾸다 | change, switch, replace, swap
바뀌다 | change, switch
교체, 대체 | replace, replacement, substitute
대체하다 | replace, substitute
고치다 | fix, repair, correct
수리 | repair
해결 | fix, solve, resolve, solution, resolution
해결책, 해법 | solution, fix, workaround
풀다 | solve, unlock, untie
풀리다 | resolved, solved, unlocked
우회, 우회책, 임시방편 | workaround, bypass, detour
옮기다 | move, migrate, transfer
이전하다, 이관 | migrate, transfer, move
전환 | switch, convert, conversion, transition
변환 | convert, transform, conversion
지우다 | delete, remove, erase, clear
없애다 | remove, eliminate, drop
빼다 | remove, exclude, subtract, drop
제외 | exclude, except, exclusion
포함 | include, contain
넣다 | put, insert, add
집어넣다 | put, insert
더하다 | add, plus
곱하다 | multiply
나누다 | divide, split, share
나뉘다 | divided, split
쪼개다 | split, break up
분리 | separate, split, detach, decouple
합치다 | merge, combine, join
통합 | integrate, integration, unify, consolidate
결합 | combine, couple, join
묶다 | group, bundle, bind
남기다 | keep, leave, preserve
남다 | remain, leftover, left
유지 | keep, maintain, preserve
지키다 | keep, protect, comply
막다 | block, prevent
막히다 | blocked, stuck
방지, 예방 | prevent, prevention, avoid
금지 | forbid, prohibit, ban, disallow
피하다 | avoid
깨지다 | break, broken, corrupt
깨뜨리다 | break
망가지다, 고장 | break, broken, malfunction
손상 | corrupt, damage, corruption
터지다 | crash, blow up, burst
뻗다 | crash, hang
늘다 | grow, increase
늘리다 | increase, extend, expand
늘어나다 | increase, grow
증가 | increase, grow, growth
줄다 | decrease, shrink
줄이다 | reduce, shorten, cut, decrease
줄어들다 | decrease, shrink, drop
감소 | decrease, reduction, decline
올리다 | raise, increase, upload, bump
오르다 | rise, increase, climb
올라가다 | rise, increase
내리다 | lower, drop, reduce
내려가다 | drop, fall, decrease
높이다 | raise, increase
낮추다 | lower, reduce
높다, 높은 | high
낮다, 낮은 | low
떨어지다 | drop, fall, decrease
떨어뜨리다 | drop
만들다 | make, create, build
짜다 | write, weave
작성 | write, draft, compose
쓰다 | write, use
쓰기 | write, writing
읽다 | read
읽기 | read, reading
적다 | write down, note, few
기록 | record, log
기록하다 | record, log
메모, 필기 | memo, note
사용, 이용 | use, usage
활용 | utilize, use, leverage
적용 | apply, application
보내다 | send
전송, 송신 | send, transmit, transmission, transfer
전달 | deliver, pass, forward, convey
받다, 수신 | receive, accept
주고받다 | exchange
가져오다 | fetch, import, bring
불러오다 | load, fetch, import
내보내다 | export
가져오기 | import
내보내기 | export
호출 | call, invoke
부르다 | call
열다 | open
열리다 | open
닫다 | close
닫히다 | close
켜다 | turn on, enable, switch on
켜지다 | turn on, enabled, lit
끄다 | turn off, disable, switch off
꺼지다 | turn off, shut down
누르다 | press, push, click
돌리다 | run, rotate, turn
돌아가다 | run, return, go back
돌아오다 | return, come back
되돌리다 | revert, undo, roll back, restore
실행 취소 | undo
취소 | cancel, cancellation
멈춤 | pause, stop
일시정지, 일시 정지 | pause
계속 | continue, keep, ongoing
재개 | resume
이어지다 | continue, follow
기다리다, 대기 | wait, standby
걸리다 | take, stuck, caught
붙이다 | attach, append, paste
붙다 | attach, stick
떼다 | detach, remove
연결하다 | connect, link
찾다 | find, search, look for
찾아내다 | find, discover
발견 | discover, find, discovery
확인 | check, confirm, verify, confirmation
점검하다 | check, inspect
살펴보다 | look into, examine, review
조사 | investigate, investigation, survey, research
분석 | analyze, analysis, analyse
파악 | figure out, understand, identify
이해 | understand, understanding
배우다, 학습 | learn, study, training
가르치다 | teach
공부 | study
연구 | research
실험 | experiment
시도, 시도하다 | try, attempt
해보다 | try
측정 | measure, measurement
재다 | measure
세다 | count
계산 | calculate, compute, calculation
추정 | estimate, estimation
예측 | predict, prediction, forecast
예상 | expect, estimate, anticipate
평가 | evaluate, evaluation, assess
판단 | judge, judgment
선호 | prefer, preference
좋아하다 | like, prefer, favorite
싫어하다 | dislike, hate
원하다 | want
바라다 | hope, want
필요, 필요하다 | need, require, necessary
요구, 요구사항 | requirement, require, demand
요청하다 | request, ask
부탁하다 | ask
제안 | suggest, propose, suggestion, proposal
추천 | recommend, recommendation
권장 | recommend
조언 | advice, advise
동의 | agree, consent, agreement
합의 | agreement, agree, consensus
반대 | oppose, opposite, against
거절, 거부 | reject, refuse, decline, deny
승인 | approve, approval
수락 | accept
허락 | permission, allow
약속 | promise, appointment
논의, 토론 | discuss, discussion
의논 | discuss
상의하다 | consult, discuss
회의, 미팅 | meeting
설명 | explain, explanation, description
설명하다 | explain, describe
묘사 | describe, depict
알리다 | notify, inform, announce
공지 | announce, announcement, notice
발표 | presentation, present, announce
보고 | report
보고서 | report
공유 | share
공개 | public, publish, open, disclose
비공개 | private, closed
숨기다 | hide
숨김 | hidden, hide
감추다 | hide, conceal
보이다 | show, visible, appear
보여주다 | show, display
표시 | display, show, indicate, mark
나타나다 | appear, show up
사라지다 | disappear, vanish, gone
잃다 | lose
잃어버리다, 분실 | lose, lost
유실, 손실 | loss, lose
잊다, 까먹다 | forget
잊어버리다 | forget
기억하다 | remember, recall
떠올리다 | recall, remember
맡다 | take charge, responsible
맡기다 | assign, entrust
배정 | assign, assignment
지정 | designate, specify, assign
위임 | delegate, delegation
관리 | manage, management, administer
제어 | control
조정 | adjust, tune, coordinate
조절 | adjust, control
튜닝 | tune, tuning
맞추다 | adjust, match, align, fit
맞다 | correct, match, right
일치 | match, consistent
불일치 | mismatch, inconsistent
틀리다 | wrong, incorrect
다르다 | different, differ
똑같다 | same, equal, identical
비슷하다 | similar
쉽다 | easy, simple
어렵다 | difficult, hard
간단하다 | simple
가볍다 | light, lightweight
무겁다 | heavy
길다 | long
짧다 | short
넓다 | wide, broad
좁다 | narrow
두껍다 | thick
얇다 | thin
깊다 | deep
얕다 | shallow
강하다 | strong
약하다 | weak
밝다 | bright
어둡다 | dark
뜨겁다 | hot
차갑다 | cold
좋다 | good
나쁘다 | bad
비싸다 | expensive
싸다, 저렴하다 | cheap
많다 | many, much
부족 | lack, shortage, insufficient
넘치다 | overflow
넘다 | exceed, over
초과 | exceed, excess, over
넘어가다 | move on, skip, pass
모자라다 | lack, short of
충분하다 | enough, sufficient
새롭다, 새로운 | new
오래되다, 오래된, 낡은 | old, outdated, legacy
예쁘다 | pretty
안전, 안전하다 | safe, safety
위험, 위험하다, 리스크 | risk, danger, dangerous
중요, 중요하다 | important, critical
급하다, 긴급 | urgent
심각하다 | serious, severe
이상하다 | strange, weird, odd
정확, 정확도 | accurate, accuracy
정확하다 | accurate, exact, correct
정밀도 | precision
재현율 | recall
흔들리다 | shake, wobble
움직이다 | move
따라가다 | follow
따르다 | follow, comply
"""
