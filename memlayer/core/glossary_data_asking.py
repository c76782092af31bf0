"""Glossary rows: common words that questions on software are asked with."""

from __future__ import annotations

ROWS = """
까닭 | reason, cause, why
원본 | original, source
금액 | amount, price, sum
새로고침 | refresh, reload
모드 | mode
발송 | send, sent, dispatch, delivery
오차 | error margin, tolerance, deviation, drift
차트 | chart
포기하다 | give up, abandon, drop
시스템 | system
반영하다 | apply, reflect, take effect
베타 | beta
밀리초 | millisecond, ms
엔진 | engine
정식판, 정식 출시 | release, stable, general availability
조각 | piece, fragment, chunk, shard
심사 | review, approval
미터 | meter, metre
가짜 | fake, mock, dummy
체크섬 | checksum
탈락하다 | reject, drop, fail
구분하다, 구별하다 | distinguish, tell apart, separate
지역 | region, area
코어 | core
단말, 단말기 | device, terminal, handset
입찰 | bid, bidding
차량 | vehicle, car
통신 | communication, network
시범 운영, 시범 | pilot, trial
이상 탐지 | anomaly detection
확정하다 | confirm, finalize, settle
시뮬레이션 | simulation
시뮬레이터 | simulator
구형 | old, legacy
거래 | trade, transaction, deal
스캔 | scan
통일하다 | unify, standardize
버킷 | bucket
고객사 | customer, client, tenant
오프라인 | offline
온라인 | online
무시하다 | ignore, skip
피드 | feed
러너 | runner
피처 | feature
수명 | lifetime, ttl, life
구간 | range, section, window, segment
모양, 형태 | shape, form, format
판정 | verdict, decision, judge
크래시 | crash
정의하다 | define, definition
신고 | report, flag
슬롯 | slot
주범, 범인 | culprit, cause
시연 | demo, demonstration
카운터 | counter
컴퓨터, 머신 | machine, computer
매장 | store, shop
후보 | candidate
임포트 | import
인식하다 | recognize, recognise, recognition, detect
증분 | incremental
건수 | count, number
발급하다 | issue, issued
조작하다 | operate, manipulate
다이제스트 | digest
블록 | block
영역 | area, region
내역 | history, detail, breakdown
해석하다 | interpret, parse
예비 | spare, backup, standby
회수하다 | reclaim, recover, collect
강제 | force, forced
매니페스트 | manifest
매니지드 | managed
사유 | reason
전문 용어 | term, terminology
트레이스 | trace
트레이싱 | tracing
연속 | consecutive, in a row
플랫폼 | platform
시트 | sheet
연동 | integration, integrate, sync
보상 | compensation, reward
미만 | below, less than, under
리포트 | report
노선 | route, line
체험판 | trial
오탐 | false positive
노쇼 | no-show
스토어 | store
보조 | auxiliary, secondary
녹화 | record, recording
하트비트 | heartbeat
보류 | hold, pending, postpone
데모 | demo
어댑터 | adapter
신청 | apply, application, request
묶음 | batch, bundle, group
기여자 | contributor
테넌트 | tenant
바코드 | barcode
심볼 | symbol
심볼릭 링크 | symlink, symbolic link
버벅이다, 버벅대다 | stutter, lag, jank
수단 | means, way
적재 | load, loading
서류 | document, paper
검수 | inspect, inspection, review
아웃박스 | outbox
접수 | intake, receive, reception
주민번호, 주민등록번호 | resident registration number, rrn
비밀값 | secret
연산 | operation, computation
디스플레이 | display
미리보기, 프리뷰 | preview
인기 | popular, popularity
판별하다 | discriminate, determine, classify
전자책 | ebook, epub
종목 | ticker, symbol, stock
건물 | building
터널 | tunnel
베트남어 | vietnamese
이중 예약, 더블부킹 | double booking, overbooking
반려 | reject, return
동결 | freeze, frozen
리더 | leader
외국인 | foreigner, foreign
보장하다 | guarantee
음수 | negative
구역 | zone, area
대역 | band, bandwidth
태스크 | task
패닉 | panic
절반 | half
최근접 | nearest
차원 | dimension
정적 | static
정류장, 정류소 | stop, station
낭독기, 화면 낭독기 | screen reader
케이블 | cable
조합 | combination
시리얼 | serial
민감 정보, 민감정보 | sensitive, pii
기체 | aircraft, airframe, drone
폭증 | surge, spike, explode
절약하다 | save, saving
대량 | bulk
포스트백 | postback
포스트모템 | postmortem
변경 사항 | change, diff
도면 | drawing
진동 | vibration, vibrate
홀드아웃 | holdout
가상 | virtual
용도 | purpose
매뉴얼 | manual
사본 | copy, replica
드라이런 | dry run
온실 | greenhouse
난방 | heating, heat
정전 | power outage, blackout
워치독 | watchdog
릴레이 | relay
세그먼트 | segment
스팟 | spot
조회수 | view count, views
패스 | pass
띄어쓰기 | spacing, word spacing
스케줄링 | scheduling
글로벌 | global
리플레이 | replay
클레임 | claim
조항 | clause, article
면허 | license, licence
허브 | hub
로직 | logic
되돌아가다, 되돌아오다 | return, go back
곡선 | curve
퍼징 | fuzz, fuzzing
타깃, 타겟 | target
중첩 | nested, overlap
튕기다 | crash, bounce, kick
백그라운드 | background
커넥션 | connection
레지스트리 | registry
하위 | sub, child, lower
방송 | broadcast, stream
유효 시간 | validity, expiry, ttl, lifetime
분산 | distributed, variance
"""
