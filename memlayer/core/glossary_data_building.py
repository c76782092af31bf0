"""Glossary rows: writing software. Code, types, data, interfaces."""

from __future__ import annotations

ROWS = """
코드 | code
소스, 소스코드 | source, source code
코드베이스 | codebase
스니펫 | snippet
함수 | function, func, fn
메서드, 메소드 | method
클래스 | class
객체, 오브젝트 | object
인스턴스 | instance
상속 | inherit, inheritance
생성자 | constructor
소멸자 | destructor
속성, 프로퍼티, 어트리뷰트 | property, attribute
필드 | field
변수 | variable, var
상수 | constant, const
매개변수, 파라미터, 파라메터 | parameter, param
인자, 인수, 아규먼트 | argument, arg
반환, 리턴, 반환값 | return
타입, 자료형, 데이터형 | type
타입 힌트, 타입힌트 | type hint, annotation
제네릭, 제너릭 | generic
인터페이스 | interface
추상, 추상화 | abstract, abstraction
구현, 구현체 | implement, implementation
캡슐화 | encapsulation, encapsulate
다형성 | polymorphism
모듈 | module
패키지 | package
라이브러리 | library, lib
프레임워크 | framework
의존성, 디펜던시 | dependency
의존성 주입 | dependency injection
의존, 의존하다 | depend, dependent, rely
플러그인 | plugin
확장, 익스텐션 | extension, extend
확장성 | scalability, extensibility
미들웨어 | middleware
데코레이터 | decorator
콜백 | callback
클로저 | closure
람다 | lambda
이터레이터, 반복자 | iterator
제너레이터 | generator
열거형 | enum, enumeration
구조체 | struct
포인터 | pointer
참조, 레퍼런스 | reference
주석, 코멘트 | comment
문법, 구문 | syntax, grammar
표현식 | expression
조건문, 조건 | condition, conditional
분기 | branch, quarter
반복문, 루프 | loop
반복 | repeat, iteration, loop
재귀 | recursion, recursive
예외, 예외처리, 익셉션 | exception
오류, 에러 | error
버그 | bug, defect
결함 | defect, flaw
경고, 워닝 | warning, alert
스택 트레이스, 스택트레이스 | stack trace, traceback
디버깅, 디버그 | debug
디버거 | debugger
중단점, 브레이크포인트 | breakpoint
빌드 | build
컴파일 | compile
컴파일러 | compiler
인터프리터 | interpreter
번들, 번들링 | bundle
번들러 | bundler
트랜스파일 | transpile
미니파이, 난독화 | minify, obfuscate
린트, 린터 | lint, linter
포매터, 포맷터 | formatter
포맷, 서식 | format
형식 | format, form
정적 분석 | static analysis
리팩터링, 리팩토링 | refactor
리뷰, 검토 | review
컨벤션, 관례, 코딩 규칙 | convention
들여쓰기 | indent, indentation
줄바꿈, 개행 | newline, line break, linebreak
공백 | whitespace, blank, space
따옴표 | quote, quotation
쉼표, 콤마 | comma
세미콜론 | semicolon
괄호 | bracket, parenthesis, parentheses
중괄호 | brace
이름, 네이밍 | name, naming
변수명 | variable name
파일명, 파일이름 | filename, file name
접두사, 접두어 | prefix
접미사, 접미어 | suffix
별칭, 별명, 닉네임 | alias, nickname
대문자 | uppercase, capital
소문자 | lowercase
대소문자 | case sensitive, letter case
문자열, 스트링 | string
문자 | character, char, text message
글자 | letter, character
정수 | integer, int
실수, 부동소수점 | float, floating point
소수점 | decimal
불리언 | boolean, bool
배열 | array
리스트, 목록 | list
튜플 | tuple
딕셔너리, 사전 | dictionary, dict
해시맵 | hashmap, hash map
해시, 해싱 | hash
집합 | set
스택 | stack
큐, 대기열 | queue
우선순위 큐, 우선순위큐 | priority queue
우선순위 | priority
트리 | tree
노드 | node
그래프 | graph
연결 리스트 | linked list
힙 | heap
버퍼 | buffer
비트 | bit
바이트 | byte
이진 | binary
바이너리 | binary
십진수 | decimal
십육진수, 16진수 | hex, hexadecimal
정렬, 소팅 | sort, align
순서, 차례 | order, sequence
순번 | sequence number
탐색 | traverse, explore, search
검색 | search
검색어 | search term, keyword, query
검색 엔진 | search engine
전문 검색 | full-text search
알고리즘 | algorithm
복잡도 | complexity
복잡하다 | complex, complicated
정규식, 정규표현식 | regex, regular expression
파싱, 구문 분석 | parse
파서 | parser
직렬화 | serialize, serialization
역직렬화 | deserialize, deserialization
인코딩, 부호화 | encode, encoding
디코딩, 복호 | decode
유니코드 | unicode
이스케이프 | escape
템플릿 | template
렌더링, 렌더 | render
상태 | state, status
상태 머신, 유한 상태 기계 | state machine
이벤트 | event
이벤트 소싱 | event sourcing
핸들러, 처리기 | handler
리스너 | listener
훅 | hook
웹훅 | webhook
스레드, 쓰레드 | thread
프로세스 | process
멀티스레드, 다중 스레드 | multithread, multithreaded
동시성 | concurrency, concurrent
동시 | simultaneous, concurrent
병렬, 병렬화 | parallel
비동기 | async, asynchronous
동기 | sync, synchronous
동기화, 싱크 | sync, synchronize, synchronization
경쟁 상태, 경합 | race condition, race, contention
교착, 교착상태, 데드락 | deadlock
잠금, 락 | lock
뮤텍스 | mutex
세마포어 | semaphore
원자적, 원자성 | atomic, atomicity
코루틴 | coroutine
프로미스 | promise
타이머 | timer
메모리 | memory, ram
누수 | leak
가비지 컬렉션, 가비지컬렉터 | garbage collection, garbage collector, gc
할당 | allocate, allocation, assign
오버플로, 오버플로우 | overflow
데이터 | data
데이터베이스, 디비 | database, db
테이블, 표 | table
컬럼, 칼럼 | column
행 | row
레코드 | record
스키마 | schema
마이그레이션 | migration, migrate
쿼리, 질의 | query
인덱스, 색인 | index
기본키, 기본 키 | primary key
외래키, 외래 키 | foreign key
유니크, 고유 | unique
고유값, 식별자 | identifier, id
제약 조건, 제약조건, 제약 | constraint
조인 | join
뷰 | view
저장 프로시저 | stored procedure
트리거 | trigger
트랜잭션 | transaction
롤백 | rollback, roll back, revert
커밋 | commit
격리, 격리 수준 | isolation, isolate
정합성, 일관성 | consistency, consistent
무결성 | integrity
정규화 | normalize, normalization
역정규화, 비정규화 | denormalize
파티션 | partition
파티셔닝 | partitioning
샤드, 샤딩 | shard, sharding
복제, 레플리카 | replica, replication, replicate
중복 | duplicate, duplication
중복 제거 | dedupe, deduplicate, deduplication
커넥션 풀 | connection pool
풀링 | pooling
시드 | seed
덤프 | dump
백필 | backfill
페이지네이션, 페이징 | pagination, paging
커서 | cursor
오프셋 | offset
집계 | aggregate, aggregation
합계, 총합 | sum, total
평균 | average, mean, avg
중앙값 | median
표준편차 | standard deviation
캐시, 캐싱 | cache
무효화 | invalidate, invalidation
적중률 | hit rate
저장, 세이브 | save, store
저장소 | repository, repo, storage, store
스토리지 | storage
조회 | lookup, query, retrieve, view
등록 | register, registration, enroll
수정 | edit, modify, fix, update
변경 | change, modification
갱신 | update, renew, refresh
업데이트 | update
삭제 | delete, remove, deletion
소프트 삭제, 논리 삭제 | soft delete
생성 | create, generate, creation
추가 | add, addition, append
삽입 | insert
편집 | edit
편집기, 에디터 | editor
복사 | copy
붙여넣기 | paste
잘라내기 | cut
이동 | move
입력 | input
출력 | output, print
입출력 | io
요청 | request
응답 | response, respond, reply
요청 본문, 본문 | body
헤더 | header
푸터 | footer
페이로드 | payload
엔드포인트 | endpoint
라우팅, 라우터, 라우트 | route, router, routing
컨트롤러 | controller
서비스 | service
도메인 | domain
엔티티 | entity
모델 | model
모델링 | modeling, modelling
관계 | relation, relationship
매핑 | mapping, map
유효성, 유효성 검사, 검증 | validation, validate, verify
유효하다 | valid
잘못된 | invalid, wrong, incorrect
필수 | required, mandatory
선택사항, 옵션 | option, optional
기본값, 디폴트 | default
널 | null
멱등성, 멱등 | idempotent, idempotency
재시도 | retry
백오프 | backoff
타임아웃, 시간 초과, 시간초과 | timeout, time out
폴링 | polling, poll
웹소켓 | websocket
소켓 | socket
스트림 | stream
스트리밍 | streaming, stream
프로토콜 | protocol
제이슨 | json
"""
