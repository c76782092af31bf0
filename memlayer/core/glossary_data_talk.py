"""Glossary rows: nouns of work talk, time, numbers, units, colours, directions, and further verbs."""

from __future__ import annotations

ROWS = """
일어나다 | happen, occur, wake up
생기다 | occur, arise, happen
발생 | occur, happen, occurrence
나누기 | divide, division
끝나다 | end, finish, complete
끝내다 | finish, complete
마치다 | finish, complete
완료 | complete, done, completion
완성 | complete, finish
진행 | progress, proceed, ongoing
진행 상황, 진행상황, 진척 | progress, status
미루다 | postpone, defer, put off
연기하다 | postpone, delay
미뤄지다 | postponed, delayed
앞당기다 | move up, bring forward
늦다 | late, delayed
늦추다 | delay, slow down
늦어지다 | delayed
시작하다 | start, begin
준비 | prepare, preparation, ready
계획, 플랜 | plan
일정 | schedule, timeline
로드맵 | roadmap
마감, 마감일, 기한, 데드라인 | deadline, due date, due
마일스톤, 이정표 | milestone
목표 | goal, target, objective
목적 | purpose, aim, goal
방향 | direction
방법, 방식 | method, way, approach
접근법, 접근 방식 | approach
전략 | strategy
정책 | policy
규칙, 룰 | rule
원칙 | principle
기준 | criterion, criteria, standard, baseline
표준 | standard
가이드, 지침 | guide, guideline
절차 | procedure, process
단계 | step, stage, phase
과정 | process, course
작업 | task, job, work
할 일, 할일 | todo, to-do, task
업무 | work, task, duty
일감 | ticket, task
티켓 | ticket
과제, 숙제 | assignment, homework, task
프로젝트 | project
사이드 프로젝트, 토이 프로젝트 | side project, toy project, hobby project
스프린트 | sprint
회고 | retrospective, retro
백로그 | backlog
스탠드업 | standup
팀 | team
팀원, 동료 | teammate, colleague, coworker, team member
팀장 | team lead, team leader
담당, 담당자 | owner, assignee, responsible, person in charge
책임 | responsibility, responsible
관리자, 어드민 | admin, administrator, manager
매니저 | manager
상사 | boss, supervisor
대표 | ceo, representative
직원, 사원 | employee, staff
회사 | company
고객 | customer, client
고객 지원, 고객지원, 고객센터 | customer support, help desk, helpdesk
사용자, 유저 | user
개발자 | developer, dev
개발 | develop, development, dev
디자이너 | designer
디자인 | design
설계 | design, architecture
설계 문서, 설계서 | design doc, design document
기획 | planning, plan
기획자 | product manager, planner
엔지니어 | engineer
면접, 인터뷰 | interview
채용 | hire, hiring, recruit, recruitment
이력서 | resume, cv
입사 | join, onboarding
퇴사 | resign, leave, offboarding
온보딩 | onboarding
재택, 재택근무, 원격 근무 | remote work, work from home, wfh
출근 | commute, go to work
휴가, 연차 | vacation, leave, pto, day off
당직, 온콜 | on-call, oncall
교대 | shift, rotation
문서, 도큐먼트 | document, doc, documentation
문서화 | documentation, document
위키 | wiki
양식 | form, template
초안 | draft
요약 | summary, summarize
목차 | table of contents, contents
제목, 타이틀 | title, subject
부제 | subtitle
내용 | content
문장 | sentence
문단, 단락 | paragraph
단어, 낱말 | word
용어 | term, terminology
어조, 말투 | tone
존댓말, 높임말 | polite, honorific, formal
반말 | informal, casual
의미, 뜻 | meaning, mean
예시, 예제 | example, sample
샘플, 표본 | sample
문제 | problem, issue, question
문제점 | problem, issue
원인, 이유 | cause, reason
근본 원인, 근본원인 | root cause
증상 | symptom
영향 | impact, effect, affect, influence
결과 | result, outcome
결론 | conclusion, conclude
효과 | effect
성과 | achievement, performance, result
장점 | advantage, benefit, pro
단점 | disadvantage, drawback, con
절충, 트레이드오프 | tradeoff, trade-off, compromise
대안 | alternative
가설 | hypothesis
가정 | assumption, assume
근거 | evidence, rationale, basis, reason
증거 | evidence, proof
사실 | fact
의견 | opinion, comment
생각 | thought, idea, think
아이디어 | idea
질문 | question, ask
답변, 대답, 답 | answer, reply, response
문의 | inquiry, enquiry
피드백 | feedback
불만 | complaint, complain
제보 | report
주의, 주의사항 | caution, notice, careful
실수 | mistake
오타 | typo
누락 | missing, omit, omission
빠뜨리다 | omit, miss
제한, 한도, 한계, 상한 | limit, max, cap, maximum
최대, 최댓값 | max, maximum
최소, 최솟값 | min, minimum
하한 | lower bound, minimum, floor
범위 | range, scope
개수, 갯수 | count, number
횟수 | count, number of times, times
숫자, 번호 | number
수치 | figure, number, value
수량 | quantity
비율 | ratio, rate, proportion
퍼센트, 백분율 | percent, percentage
값 | value
가중치 | weight
점수 | score, point
등급 | grade, rank, tier, rating
순위, 랭킹 | rank, ranking
수준, 레벨 | level
종류 | kind, type
유형 | type, kind
분류 | classify, classification, category
카테고리 | category
그룹 | group
전체 | whole, entire, total, all
일부 | part, partial
부분 | part, portion, partial
나머지 | rest, remainder, remaining
항목, 아이템 | item, entry
요소 | element, factor
기능 | feature, function
핵심 | core, key
특징 | feature, characteristic
장면 | scene
상황 | situation, circumstance
사례 | case, example
경우 | case
예외 상황, 예외상황 | edge case, corner case
기본 | default, basic, base
고급 | advanced, premium
임시 | temporary, temp, tmp, provisional
영구 | permanent
공통 | shared, common
개인 | personal, private, individual
내부 | internal, inside
외부 | external, outside, third-party
공식 | official, formula
전용 | dedicated, exclusive
실시간 | real-time, realtime, live
주기 | interval, period, cycle, schedule
주기적, 정기적, 정기 | periodic, regular, recurring
간격 | interval, gap, spacing
빈도 | frequency
기간 | period, duration
지속 시간, 지속시간 | duration
시각, 타임스탬프 | timestamp, time
시간 | time, hour
날짜, 일자 | date
오늘 | today
어제 | yesterday
내일 | tomorrow
모레 | day after tomorrow
아침, 오전 | morning, am
점심 | lunch, noon
오후 | afternoon, pm
저녁 | evening, dinner
밤, 야간 | night
새벽 | dawn, early morning
자정 | midnight
정오 | noon
다음 주, 다음주 | next week
지난주, 지난 주 | last week
주말 | weekend
평일 | weekday
공휴일, 휴일 | holiday
매일, 일일 | daily, every day
매주, 주간 | weekly, every week
매월, 매달, 월간 | monthly, every month
매년, 연간 | yearly, annual, every year
월요일 | monday, mon
화요일 | tuesday, tue
수요일 | wednesday, wed
목요일 | thursday, thu
금요일 | friday, fri
토요일 | saturday, sat
일요일 | sunday, sun
1월 | january, jan
2월 | february, feb
3월 | march, mar
4월 | april, apr
6월 | june, jun
7월 | july, jul
8월 | august, aug
9월 | september, sep
10월 | october, oct
11월 | november, nov
12월 | december, dec
봄 | spring
여름 | summer
가을 | autumn, fall
겨울 | winter
연말 | year end, end of year
월말 | month end, end of month
#초 | second, sec
#분 | minute, min
#시간 | hour
#일 | day
#주 | week
#개월, #달 | month
#년 | year
#밀리초 | millisecond, ms
#명 | people, person
#번, #회 | times
#배 | times, fold
#원 | won, krw
#달러, 달러 | dollar, usd
#유로, 유로 | euro, eur
#엔 | yen, jpy
#기가, 기가바이트 | gigabyte, gb
#메가, 메가바이트 | megabyte, mb
테라바이트 | terabyte, tb
킬로바이트 | kilobyte, kb
#킬로, 킬로그램 | kilogram, kg
킬로미터 | kilometer, km
#미터 | meter, metre
#센티, 센티미터 | centimeter, cm
밀리미터 | millimeter, mm
#픽셀, 픽셀 | pixel, px
"""
