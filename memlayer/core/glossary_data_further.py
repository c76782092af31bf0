"""Glossary rows: further words that questions are asked with, and English names written as they sound."""

from __future__ import annotations

ROWS = """
자음 | consonant
모음 | vowel
청크 | chunk
하이퍼바이저 | hypervisor
하이라이팅 | highlighting
스코프 | scope
위조 | forge, forged, forgery, spoof
고도 | altitude
임무 | mission
임베드 | embed
답장 | reply
크레이트 | crate
투표 | vote, poll
충전대 | dock, charging dock
무선 | wireless
증권사 | broker, brokerage
경매 | auction
지급 | pay, payout, payment
복습 | review
명세 | spec, specification
리마인더 | reminder
열람 | view, read
저항 | resistance, resistor
수분 | moisture
관수 | irrigation, watering
비트레이트 | bitrate
대용량 | large, bulk
코덱 | codec
저가폰 | low-end, cheap phone
공짜 | free
인코더 | encoder
디코더 | decoder
시나리오 | scenario
금칙어 | banned word, blocklist
매칭 | match, matching
소모 | consume, consumption, drain
지하 | underground, basement
리텐션 | retention
프리셋 | preset
프리페치 | prefetch
프리즈 | freeze
라이브 | live
체크아웃 | checkout
파이프 | pipe
다이렉트 | direct
다이내믹 | dynamic
마이크로초 | microsecond
나노초 | nanosecond
카운트다운 | countdown
플레이북 | playbook
스위치 | switch
마스크 | mask
마스터 | master, primary
그래픽카드, 그래픽 카드 | gpu
비디오 메모리, 그래픽 메모리 | vram, gpu memory
씨아이 | ci
씨디 | cd
에스디케이 | sdk
아이디 | id
브이랜 | vlan
지피에스 | gps
지피지 | gpg
유알엘 | url
도커허브 | docker hub, dockerhub
스루풋 | throughput
디바운스 | debounce
스로틀링 | throttle, throttling
서킷브레이커 | circuit breaker
버퍼링 | buffering
딥링크 | deep link
푸시 알림 | push notification, push
야간 | nightly, overnight
낡은, 오래된 | stale
대체 경로, 폴백 | fallback
할당량, 쿼터 | quota
살아남다, 견디다 | survive
유휴 | idle
리뷰어, 심사자 | reviewer
갱신 | renewal
토글 | toggle
업스트림 | upstream
워크스페이스 | workspace
구독자 | subscriber
엄격 | strict
검증 | verification
재빌드 | rebuild
노출 | impression, visibility
제한 | restriction, restricted, limitation
컷오프 | cutoff
미사용 | unused
거절, 반려 | rejection, refusal
재전송, 재발송 | resend
지터 | jitter
합성 | synthetic, synthesis
자리표시자, 플레이스홀더 | placeholder
옵티마이저 | optimizer
분류기 | classifier
바우처, 쿠폰 | voucher
불일치 | discrepancy
호환 | incompatible
페어링 | pairing, paired
심각도 | severity
감사 | audit
경계 | boundary
축 | axis
호스트명, 호스트 이름 | hostname
주입 | inject, injection
전환 | switchover
선출 | election, elect
정규화 | normalise
파일시스템, 파일 시스템 | filesystem
면제 | exempt, waive
축출, 퇴출 | eviction, evict
차감, 공제 | deduction, deduct
무중단 | zero downtime, zero-downtime
난수 | random number, rng
평문 | plaintext, plain text, cleartext
인쇄 | print, printing
격자 | grid
반올림 | round, rounding
동의서 | consent
소진 | exhaust, exhausted, used up
문체 | style, tone
표지 | cover
최저 | minimum, lowest, floor
출입 | access, entry
식별 | identify, identification
위반 | violation, violate
가속 | acceleration, accelerate
솔버 | solver
마커 | marker
학년 | grade
욕설 | profanity, swear, abuse
도배 | spam, flood
해외 | overseas, abroad, foreign
손가락 | finger
재무 | finance
행동 | behavior, behaviour, action
절연 | insulation
최소화 | minimize
누락 | drop
중복 제거 | dedup
임시방편 | stopgap
임시 조치 | workaround, stopgap
안전장치 | safeguard, guard, failsafe
예외 처리 | exception handling
거부하다 | refuse, deny, reject
택하다 | choose, pick
건드리다 | touch, modify
걷어내다 | remove, rip out, drop
끊기다 | interrupted
"""
