"""Distinct turns for bench/latency.py, and questions about them.

Any number of them, in Korean, English and both.
"""

import random
from dataclasses import dataclass

TOPICS = (
    ("order events", "주문 이벤트"), ("payment module", "결제 모듈"), ("login page", "로그인 화면"),
    ("deployment pipeline", "배포 파이프라인"), ("search index", "검색 색인"), ("image cache", "이미지 캐시"),
    ("notification service", "알림 서비스"), ("nightly build", "야간 빌드"), ("rate limiter", "요청 제한"),
    ("member table", "회원 테이블"), ("billing job", "청구 작업"), ("CSV import", "CSV 가져오기"),
    ("map view", "지도 화면"), ("feature flags", "기능 플래그"), ("audit log", "감사 로그"),
    ("session store", "세션 저장소"), ("coupon rules", "쿠폰 규칙"), ("mobile release", "모바일 출시"),
    ("price list", "가격표"), ("backup plan", "백업 계획"),
)  # fmt: skip
ASKED = (
    ("What changed in the {0} of {where}?", "{where} {0}에서 뭐가 바뀌었지?"),
    ("Why does the {0} fail with {error}?", "{0}가 왜 {error} 오류로 실패해?"),
    ("Which limit holds for the {0} since ticket {number}?", "{number}번 티켓 이후 {0} 한도가 얼마지?"),
    ("Who owns the {0} in {where}?", "{where}의 {0} 담당이 누구야?"),
    ("How do we test the {0} in {file}?", "{file}의 {0}은 어떻게 테스트해?"),
)
ANSWERED = (
    ("We moved it to {engine} because {reason}; the switch is in {file}, and {person} reviews every change.",
     "{reason} 때문에 {engine}(으)로 옮겼고, 전환 코드는 {file}에 있습니다. 변경은 {person}이 검토합니다."),
    ("Root cause: {reason}. {file} now retries {small} times and gives up after {number} ms.",
     "원인은 {reason} 때문입니다. 이제 {file}에서 {small}번 다시 시도하고 {number}ms 뒤에 포기합니다."),
    ("It was decided to keep {engine} with a limit of {number} rows; {person} wrote it down in {file}.",
     "{engine}를 유지하고 {number}행으로 제한하기로 결정했습니다. {person}이 {file}에 적어 두었습니다."),
    ("Use {engine} on port {number}, never the old one: {reason}. The tests are in {file}.",
     "예전 것 말고 {engine}를 포트 {number}에서 쓰세요. {reason} 때문입니다. 테스트는 {file}에 있습니다."),
)  # fmt: skip
ENGINES = ("ClickHouse", "Postgres 16", "Redis Streams", "SQLite", "Kafka", "DuckDB", "Elasticsearch", "RabbitMQ")
REASONS = (
    ("the nightly reports timed out", "야간 보고서가 시간 초과됐기"),
    ("the workers ran out of memory", "작업자 메모리가 모자랐기"),
    ("two writers fought over one row", "두 프로세스가 같은 행을 두고 다퉜기"),
    ("the index was rebuilt twice", "색인이 두 번 만들어졌기"),
    ("a header was missing behind the proxy", "프록시 뒤에서 헤더가 빠졌기"),
    ("the certificate had expired", "인증서가 만료됐기"),
)
PEOPLE = ("Mina", "Jun", "Alex", "서연", "도윤", "Priya", "하은", "Tom")
PLACES = ("staging", "production", "the Seoul region", "the partner API", "release 4.{0}", "the admin tool")
ERRORS = ("E{0}", "HTTP 504", "TimeoutError", "deadlock", "ENOSPC", "KeyError 'id_{0}'")


@dataclass(frozen=True)
class Turn:
    """One prompt and its answer.

    topic: number of the topic, which its vector follows.
    """

    number: int
    topic: int
    prompt: str
    answer: str


def turn(number: int) -> Turn:
    """Return the number-th turn, the same for every run.

    Four in ten are Korean, four English, two mixed.
    """
    dice = random.Random(number)
    topic = dice.randrange(len(TOPICS))
    kind = dice.choices(((0, 0, 0), (1, 1, 1), (1, 0, 1), (0, 1, 0)), (4, 4, 1, 1))[0]
    words = {
        "engine": dice.choice(ENGINES), "reason": dice.choice(REASONS)[kind[1]], "person": dice.choice(PEOPLE),
        "number": number, "small": number % 7 + 2, "file": f"src/{TOPICS[topic][0].split()[0]}_{number % 997}.py",
        "where": dice.choice(PLACES).format(number % 83), "error": dice.choice(ERRORS).format(number % 503),
    }  # fmt: skip
    prompt = dice.choice(ASKED)[kind[0]].format(TOPICS[topic][kind[2]], **words)
    return Turn(number, topic, prompt, dice.choice(ANSWERED)[kind[1]].format(**words))


def question(number: int) -> str:
    """Return a prompt whose answer may be in the store.

    By turns English, Korean and both.
    """
    dice = random.Random(-number - 1)
    english, korean = dice.choice(TOPICS)
    words = {"engine": dice.choice(ENGINES), "file": f"src/{english.split()[0]}_{number % 997}.py", "n": number}
    form = (
        "why did we move the {0} to {engine}, and where is the switch ({file})?",
        "{1}을 {engine}(으)로 옮긴 이유가 뭐였지? 담당자는 누구였어?",
        "{0} 관련해서 {file}에 정해 둔 limit이 얼마였지?",
        "what was decided about the {0} limit of {n} rows, and who wrote it down?",
        "{1} 한도를 몇 행으로 결정했지?",
    )[number % 5]
    return form.format(english, korean, **words)
