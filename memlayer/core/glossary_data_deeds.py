"""Glossary rows: further verbs, adjectives and adverbs of work talk, and the nouns they go with."""

from __future__ import annotations

ROWS = """
띄우다 | launch, start, run, spin up
밀리다 | backlog, delayed, pushed back
쌓이다 | pile up, accumulate
쌓다 | stack, accumulate, build up
비우다 | empty, clear, flush
비어있다, 빈 | empty, blank
채우다 | fill, populate
가득, 꽉 | full, filled up
잡다, 잡아내다 | catch, caught, fix
잡히다 | caught
찍다 | print, take, log
찍히다 | printed, logged
가리다 | hide, mask, cover
덮다 | cover, overwrite
덮어쓰다 | overwrite, override
나오다 | come out, appear
나가다 | go out, exit, leave
들어가다 | enter, go in
들어오다 | come in, arrive
도착 | arrive, arrival
출발 | depart, departure
떠나다 | leave, depart
만나다 | meet
모으다 | collect, gather
모이다 | gather
수집 | collect, collection, gather
수집기 | collector
흩어지다 | scattered
퍼지다 | spread
번지다 | spread, bleed
섞다 | mix, shuffle
섞이다 | mixed
거르다, 걸러내다 | filter, filter out
골라내다 | pick out, filter
솎아내다 | prune
다듬다 | polish, refine, trim
정리 | clean up, cleanup, organize, tidy
치우다 | clean up, remove
갈다 | replace, grind
갈아타다 | switch, migrate
갈아엎다 | overhaul, rewrite
뒤집다 | flip, reverse, invert
뒤집히다 | flipped, inverted, upside down
뒤바뀌다 | swapped
뒤섞이다 | mixed up
엉키다, 꼬이다 | tangled, messed up
겹치다 | overlap, collide
부딪히다 | collide, hit
마주치다 | encounter
맞물리다 | interlock
물리다 | bite, bitten, stuck
걸다 | hang, set, attach
걸치다 | span
매달다 | hang
묻다 | ask
물어보다 | ask
되묻다 | ask back
답하다 | answer, reply
외우다, 암기 | memorize
익히다 | learn
익숙하다 | familiar
낯설다 | unfamiliar
헷갈리다, 혼동 | confuse, confusing, confusion
착각 | misunderstand, confuse
오해 | misunderstanding
속다 | fooled
속이다 | deceive, spoof
의심 | suspect, suspicious, doubt
믿다, 신뢰 | trust, reliable
신뢰성, 신뢰도 | reliability, confidence
걱정 | worry, concern
고민 | concern, consider
고려 | consider, consideration
검사 | inspect, check, test
검출, 탐지, 감지 | detect, detection
놓치다 | miss
지나치다 | excessive, pass by
벗어나다 | escape, out of range
빠지다 | missing, fall out, omitted
새다 | leak
흐르다, 흐름 | flow
굳히다 | solidify, harden
고정 | pin, fix, fixed
고정하다 | pin, lock
박다, 하드코딩 | hardcode, hard-coded, hardcoded
덧붙이다 | append, add
곁들이다 | accompany
감싸다, 래핑 | wrap
래퍼 | wrapper
꺼내다 | take out, pop, extract
뽑아내다, 추출 | extract, extraction
끌어오다 | pull, fetch
당기다 | pull
밀다 | push, shift
밀어넣다 | push
던지다 | throw
넘기다 | pass, hand over, skip
넘겨주다, 인계, 인수인계 | handover, hand over, handoff
물려받다 | inherit
물려주다 | pass down
돕다, 도움 | help, assist
도와주다 | help
방해 | interrupt, disturb, interfere
간섭 | interference, interfere
끼어들다 | interrupt
끼우다 | insert
끼치다 | affect
견디다, 버티다 | endure, withstand
참다 | tolerate, bear
지치다 | tired, exhausted
쉬다, 휴식 | rest, break
잠들다, 잠자다 | sleep, asleep
깨우다 | wake, wake up
깨어나다 | wake up
일어서다 | stand up
앉다 | sit
걷다 | walk
뛰다 | run, jump
점프 | jump
날다 | fly
날리다, 날아가다 | blown away, lost, wipe
태우다 | burn
타다 | ride, burn
녹다 | melt
얼다 | freeze
식히다 | cool, cool down
데우다 | warm, heat
발열, 과열 | overheat, heat
가열 | heat
젖다 | wet
마르다 | dry
자라다 | grow
키우다 | grow, raise, enlarge
심다 | plant
죽이다 | kill
살리다 | revive, save
살다 | live
살아나다 | revive, come back
되살리다 | revive, restore
부활 | revive, resurrect
느끼다 | feel
입다 | wear
씻다 | wash
먹다 | eat
마시다 | drink
웃다 | laugh, smile
울다 | cry
말하다 | say, talk, tell
이야기, 얘기 | talk, story, conversation
대화 | conversation, dialogue, chat
상담 | counseling, consultation
발음 | pronunciation, pronounce
억양 | intonation, accent
번역하다 | translate
통역 | interpret, interpreter
인용 | quote, citation, cite
출처 | source, citation
참고 | reference, refer
참조하다 | refer, reference
강조 | emphasize, highlight, emphasis
하이라이트 | highlight
생략 | omit, skip
축약 | abbreviate, shorten
약어 | abbreviation, acronym
단축 | shorten, shortcut
연장 | extend, extension
확대 | zoom in, enlarge, expand
축소 | zoom out, shrink, minimize
펼치다 | expand, unfold
접다 | collapse, fold
넓히다 | widen, broaden
좁히다 | narrow
가까운, 가깝다 | close, near, nearest
멀다, 먼 | far, distant
가장자리 | edge
둥글다, 둥근 | round, rounded
뾰족하다 | sharp
날카롭다 | sharp
부드럽다 | smooth, soft
매끄럽다 | smooth
거칠다 | rough
딱딱하다 | hard
단단하다 | solid, hard
투명하다 | transparent
흐리다 | blurry, cloudy
선명하다 | sharp, clear, vivid
조용하다 | quiet, silent
시끄럽다 | loud, noisy
깨끗하다 | clean
더럽다 | dirty
지저분하다 | messy
낡다 | old, worn
젊다 | young
늙다 | old
어리다 | young
귀찮다 | annoying, tedious
번거롭다 | cumbersome, tedious
불편 | inconvenient, inconvenience, uncomfortable
편리, 편하다 | convenient, comfortable
유용하다 | useful
쓸모없다 | useless
불필요 | unnecessary, unneeded
가능하다 | possible
불가능 | impossible
당연하다 | obvious, natural
명확하다 | clear, explicit
모호하다, 애매하다 | ambiguous, vague, unclear
명시적 | explicit
암시적, 암묵적 | implicit
직접 | direct, directly, manually, self-hosted
간접 | indirect
대신 | instead
먼저, 우선 | first
나중, 나중에 | later
마지막 | last, final
최종 | final
최초, 처음 | first, initial
다음 | next
동일 | same, identical
반대로 | opposite, reverse
거꾸로, 역순 | reverse, backwards
무작위, 랜덤 | random
일부러 | intentionally, on purpose
우연히 | by chance, accidentally
항상, 늘 | always
가끔 | sometimes, occasionally
자주 | often, frequently
드물다 | rare
오래 | long, long time
잠깐, 잠시 | moment, briefly
즉시, 바로 | immediately, instant
미리, 사전에 | beforehand, in advance
천천히 | slowly
빨리 | quickly, fast, soon
완전히 | completely, fully
거의 | almost, nearly
특히 | especially
특정 | specific, certain, particular
특별하다 | special
일반 | general, normal, ordinary
보통 | usually, normal
평소 | usual, usually
정상 | normal, healthy
비정상 | abnormal
과도하다 | excessive
적절하다, 적당하다 | appropriate, proper
완벽하다 | perfect
부정확 | inaccurate
"""
