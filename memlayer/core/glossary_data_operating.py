"""Glossary rows: running software. Tests, releases, servers, networks, files, performance."""

from __future__ import annotations

ROWS = """
테스트, 시험 | test
단위 테스트, 유닛 테스트 | unit test
회귀 | regression
인수 테스트 | acceptance test
스모크 테스트 | smoke test
테스트 케이스 | test case
테스트 커버리지, 커버리지 | coverage
픽스처 | fixture
모킹, 목 객체 | mock
스텁 | stub
스냅샷 | snapshot
단언 | assert, assertion
불안정하다, 불안정 | flaky, unstable
안정성, 안정 | stability, stable
통과 | pass
실패 | fail, failure
성공 | success, succeed
건너뛰다, 스킵 | skip
실행 | run, execute, execution
재현 | reproduce, repro
벤치마크 | benchmark
성능 | performance
성능 저하 | performance degradation, slowdown
프로파일링, 프로파일러 | profile, profiling, profiler
최적화 | optimize, optimization
병목 | bottleneck
느리다, 느림 | slow
빠르다 | fast, quick
속도 | speed, velocity
지연, 레이턴시, 지연시간 | latency, delay, lag
처리량 | throughput
처리 | process, handle, processing
부하 | load
과부하 | overload
사용량 | usage
사용률 | utilization
배포, 디플로이 | deploy, deployment, release, rollout, ship
배포판 | distribution, distro
무중단 배포, 무중단배포 | zero downtime, rolling deployment
블루그린, 블루 그린 | blue green
카나리 | canary
릴리스, 릴리즈, 출시, 런칭 | release, launch
출시일 | release date, launch date
재배포 | redeploy
롤아웃 | rollout, roll out
점진적 | gradual, incremental
단계적 | phased, gradual, staged
기능 플래그, 피처 플래그 | feature flag, feature toggle
플래그 | flag
환경 | environment, env
운영 환경, 운영환경, 운영 서버, 프로덕션, 상용 | production, prod
운영 | operation, production, ops
스테이징 | staging
샌드박스 | sandbox
로컬 | local
원격, 리모트 | remote
서버 | server
서버리스 | serverless
클라이언트 | client
클라우드 | cloud
온프레미스 | on-premise, on-prem
가상 머신, 가상머신 | virtual machine, vm
가상 환경, 가상환경 | virtualenv, venv, virtual environment
컨테이너 | container
이미지 | image
파드 | pod
클러스터 | cluster
네임스페이스 | namespace
오케스트레이션 | orchestration
오토스케일링, 자동 확장 | autoscaling, autoscale, auto scaling
스케일링 | scaling, scale
로드 밸런서, 로드밸런서, 부하 분산 | load balancer, load balancing
프록시 | proxy
리버스 프록시 | reverse proxy
게이트웨이 | gateway
인그레스 | ingress
방화벽 | firewall
네트워크 | network
대역폭 | bandwidth
트래픽 | traffic
패킷 | packet
포트 | port
호스트 | host
호스팅 | hosting
도메인 주소, 도메인명 | domain name
서브도메인 | subdomain
네임서버 | nameserver
아이피, 아이피 주소 | ip, ip address
주소 | address, url
링크 | link
리다이렉트, 리디렉션 | redirect
연결, 접속 | connect, connection
연결 끊김, 접속 끊김 | disconnect, disconnection
끊기다, 끊어지다 | disconnect, drop, cut off
인터넷 | internet
와이파이 | wifi
공유기 | router
브라우저 | browser
쿠키 | cookie
세션 | session
로그 | log
로깅 | logging
모니터링 | monitoring, monitor
감시 | watch, monitor
대시보드 | dashboard
지표, 메트릭 | metric
추적 | trace, track, tracing
알림 | notification, alert, notify
경보, 알람 | alarm, alert
임계값, 임계치 | threshold
장애 | outage, incident, failure
장애 보고서, 사후 분석 | postmortem, incident report
사고 | incident, accident
다운타임, 중단 시간 | downtime
중단 | stop, abort, interruption
멈추다, 멎다 | stop, hang, halt, freeze
죽다 | die, crash
종료 | exit, shutdown, terminate, quit
강제 종료 | kill, force quit
충돌 | conflict, crash, collision
재시작, 재기동 | restart
재부팅 | reboot
시작 | start, begin
기동, 구동 | start, boot, startup
부팅 | boot
백업 | backup, back up
복구, 복원 | restore, recover, recovery
재해 복구 | disaster recovery
이중화, 페일오버, 장애 조치 | failover, redundancy
가용성, 고가용성 | availability, high availability
보관, 보존 | retention, retain, archive, keep
아카이브 | archive
스케줄러 | scheduler
스케줄 | schedule
크론, 크론탭 | cron, crontab
배치 | batch
작업자, 워커 | worker
데몬 | daemon
큐잉 | queueing
메시지 | message
브로커 | broker
발행 | publish, issue
구독 | subscribe, subscription
소비자, 컨슈머 | consumer
생산자, 프로듀서 | producer
토픽 | topic
파이프라인 | pipeline
지속적 통합 | continuous integration, ci
워크플로, 워크플로우 | workflow
자동화 | automation, automate
자동 | automatic, auto
수동 | manual
스크립트 | script
명령어, 커맨드, 명령 | command
명령줄, 커맨드라인 | command line, cli
터미널 | terminal
쉘, 셸 | shell
프롬프트 | prompt
콘솔 | console
설치 | install, installation
제거 | remove, uninstall, eliminate
업그레이드 | upgrade
다운그레이드 | downgrade
패치 | patch
핫픽스, 긴급 수정 | hotfix
버전 | version
버전 관리 | version control, versioning
시맨틱 버전 | semantic versioning, semver
최신 | latest, newest, recent
호환성, 호환 | compatibility, compatible
하위 호환, 하위호환 | backward compatibility, backward compatible
지원 | support
지원 중단, 폐기 예정 | deprecate, deprecation
폐기 | discard, dispose, retire
설정 | setting, config, configuration, setup, configure
구성 | configuration, composition
초기화 | initialize, init, reset
초기 | initial, early
초기값 | initial value
비활성화, 비활성 | disable, inactive, deactivate
활성화, 활성 | enable, activate, active
브랜치 | branch
기본 브랜치 | default branch, main branch
보호 | protect, protection, guard
병합, 머지 | merge
리베이스 | rebase
체리픽 | cherry-pick, cherry pick
스쿼시 | squash
푸시 | push
풀 리퀘스트, 풀리퀘스트, 풀리퀘 | pull request, pr
이슈 | issue
태그 | tag
라벨, 레이블 | label
포크 | fork
클론 | clone
스태시 | stash
서브모듈 | submodule
모노레포 | monorepo
변경 이력, 변경이력, 변경 로그 | changelog, change history
이력, 히스토리 | history
차이점, 차이 | difference, diff
비교 | compare, comparison
파일 | file
폴더, 디렉터리, 디렉토리 | folder, directory
경로 | path
루트 | root
확장자 | file extension, extension
업로드 | upload
다운로드, 내려받다 | download
첨부, 첨부파일, 첨부 파일 | attachment, attach
압축 | compress, compression, zip
압축 해제 | decompress, unzip, extract
용량 | capacity, size, disk space
크기, 사이즈 | size
큰, 크다, 커서 | big, large
작다, 작은 | small, little
디스크 | disk
하드디스크 | hard disk, hard drive
운영체제 | operating system, os
커널 | kernel
드라이버 | driver
장치, 디바이스, 기기 | device
프린터 | printer
모니터 | monitor, display
하드웨어 | hardware
소프트웨어 | software
애플리케이션, 어플리케이션, 앱, 어플 | app, application
모바일 | mobile
데스크톱, 데스크탑 | desktop
노트북 | laptop, notebook
마이크로서비스 | microservice
모놀리식, 모놀리스 | monolith, monolithic
아키텍처 | architecture
인프라 | infrastructure, infra
리전 | region
가동 | uptime, running
점검 | maintenance, inspection, check
유지보수 | maintenance, maintain
쓰로틀링, 속도 제한, 요청 제한 | rate limit, throttle, throttling
회로 차단기, 서킷 브레이커 | circuit breaker
콜드 스타트 | cold start
워밍업, 예열 | warm up, warmup
채우기 | fill
상주 | resident
고아 프로세스, 좀비 프로세스 | orphan process, zombie process
이식 | port, transplant
상태 검사, 헬스체크, 상태 확인 | health check, healthcheck
재연결 | reconnect
연결 수 | connection count
동시 접속자 | concurrent users
메모리 부족 | out of memory, oom
디스크 부족 | disk full, out of disk
점유율 | occupancy, share
경합하다 | contend
쏠리다, 쏠림 | skew, imbalance
폭주, 급증 | spike, surge
"""
