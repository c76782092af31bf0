"""What a later sentence leaves standing, because it asks, supposes, denies, or tells of the past or of another's."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from memlayer.consolidation.rules.modality import says_nothing, says_only_of_what_it_names
from tests.support.consolidating_in_memory import DAY_MS, Consolidating

# What was said first, and what takes nothing of it back.
STANDS = [
    ("스테이징 포트는 8443이야.", "스테이징 포트가 8080이었나"),
    ("스테이징 포트는 8443이야.", "스테이징 포트가 8080이었던가"),
    ("스테이징 포트는 8443이야.", "예전에는 스테이징 포트가 8080이었어."),
    ("스테이징 포트는 8443이야.", "README에는 스테이징 포트가 8080이라고 돼 있는데 틀렸어."),
    ("스테이징 포트는 8443이야.", "로컬 포트는 8080이야."),
    ("The staging port is 8443.", "Before March the staging port was 8080."),
    ("The staging port is 8443.", "The staging port used to be 8080."),
    ("The staging port is 8443.", "The README says the staging port is 8080, that's outdated."),
    ("The staging port is 8443.", "If the staging port were 8080, the firewall would block it."),
    ("The staging port is 8443.", "The staging port is not 8080."),
    ("The staging port is 8443.", "The staging port can't be 8080, that's taken by Jenkins."),
    ("The staging port is 8443.", "Wasn't the staging port 8080"),
    ("The staging port is 8443.", "I thought the staging port was 8080."),
    ("The staging port is 8443.", "Let's pretend the staging port is 8080."),
    ("The staging port is 8443.", "The customer's staging port is 8080."),
    ("DB는 Postgres로 가기로 했어.", "DB를 MySQL로 가기로 했던가"),
    ("DB는 Postgres로 가기로 했어.", "DB를 MySQL로 가기로 한 적 없어."),
    ("DB는 Postgres로 가기로 했어.", "DB를 MySQL로 가기로 했었는데 그건 작년 얘기야."),
    ("DB는 Postgres로 가기로 했어.", "만약 DB를 MySQL로 가기로 했다면 라이선스가 문제였을 거야."),
    ("DB는 Postgres로 가기로 했어.", "경쟁사는 DB를 MySQL로 가기로 했대."),
    ("DB는 Postgres로 가기로 했어.", "DB를 MySQL로 하자는 의견도 있었는데 기각됐어."),
    ("DB는 Postgres로 가기로 했어.", "DB를 Postgres로 가기로 한 이유 정리해줘"),
    (
        "We decided to use Postgres for orders.",
        "If we had decided to use MySQL for orders, replication would be easier.",
    ),
    ("We decided to use Postgres for orders.", "They decided to use MySQL for orders at my old company."),
    ("We decided to use Postgres for orders.", "We haven't decided to use MySQL for orders, whatever Bob says."),
    ("We decided to use Postgres for orders.", "We did not decide to use MySQL for orders."),
    ("We decided to use Postgres for orders.", "Let's say we decided to use MySQL for orders."),
    ("We decided to use Postgres for orders.", "Even if we decided to use MySQL for orders, I'd keep the outbox."),
    ("배포는 매주 화요일 오전 10시야.", "이번 주만 배포는 목요일 오전 10시야."),
    ("배포는 매주 화요일 오전 10시야.", "작년에는 배포가 매주 목요일 오전 10시였어."),
    ("We deploy every Tuesday at 10.", "This week we deploy on Thursday at 10."),
    ("We deploy every Tuesday at 10.", "Last year we deployed every Thursday at 10."),
    ("We deploy every Tuesday at 10.", "At my old job we always deployed every Thursday at 10."),
    ("결제 서비스 담당은 지은이야.", "휴가 동안만 결제 서비스 담당은 민수야."),
    ("결제 서비스 담당은 지은이야.", "결제 서비스 담당이 민수였던 건 작년까지야."),
    ("Jieun owns the billing service.", "Minsu owned the billing service until last year."),
    ("Jieun owns the billing service.", "Minsu owns the billing frontend."),
    ("답변은 항상 한국어로 해줘", "이번 답변만 영어로 해줘"),
    ("답변은 항상 한국어로 해줘", "답변을 항상 영어로 하라는 뜻은 아니야"),
    ("Always answer in Korean.", "Don't always answer in English."),
    ("Our API limit is 100 requests per minute.", "GitHub's API limit is 5000 requests per hour."),
    ("Our API limit is 100 requests per minute.", "Should our API limit be 200 requests per minute"),
    ("Our API limit is 100 requests per minute.", "Maybe our API limit will be 200 requests per minute one day."),
    ("Our API limit is 100 requests per minute.", "The internal API limit is 200 requests per minute."),
    ("로그는 30일 보관해.", "감사 로그는 365일 보관해."),
    ("로그는 30일 보관해.", "로그를 90일 보관하자는 얘기는 없던 걸로 하자."),
    ("We won't use Kafka; the outbox table is enough.", "Did we say we use Kafka"),
    ("We decided not to use Kafka.", "The data team decided to use Kafka."),
    ("우리는 Kafka 안 쓰기로 했어.", "데이터팀은 Kafka 쓰기로 했어."),
    ("원인은 캐시 TTL이 0이어서였어.", "원인은 캐시 TTL이 아니라 락이었던 적도 있었지."),
    ("The root cause was the cache TTL of 0.", "For the other outage the root cause was the lock timeout of 5."),
    # In words that the first rules were not made from.
    ("The retention period is 14 days.", "Isn't the retention period 30 days"),
    ("We decided to use Terraform for infra.", "Hold on, did we agree to use Pulumi for infra"),
    ("The cache TTL is 60 seconds.", "Originally the cache TTL was 300 seconds."),
    (
        "Every pull request is reviewed by 2 people.",
        "Back in the monolith days every pull request was reviewed by 1 person.",
    ),
    ("Mina owns the search service.", "Before the reorg Tom owned the search service."),
    ("The worker pool has 8 workers.", "Assume for a second the worker pool has 32 workers."),
    (
        "We agreed to deploy with ArgoCD.",
        "Were we to agree on deploying with Jenkins, the pipelines would need rewriting.",
    ),
    ("Our default region is eu-central-1.", "I wish our default region were us-east-1."),
    ("We chose pnpm for the frontend.", "Say we had chosen yarn for the frontend, then the lockfile would be smaller."),
    ("The admin panel runs on port 9000.", "The admin panel doesn't run on port 9100."),
    ("The session timeout is 20 minutes.", "The session timeout isn't 45 minutes, no matter what the ticket says."),
    ("The upload limit is 25 MB.", "The old wiki has the upload limit at 10 MB, but the wiki is stale."),
    (
        "The nightly job starts at 02:00.",
        "The runbook claims the nightly job starts at 04:00, which is no longer true.",
    ),
    ("Our rate limit is 50 requests per second.", "Stripe's rate limit is 100 requests per second."),
    ("We use Redis for sessions.", "The analytics team uses Memcached for sessions."),
    ("Our tests run against Postgres 16.", "In my side project tests run against Postgres 12."),
    ("Logs are kept for 30 days.", "The idea of keeping logs for 180 days was turned down."),
    ("We decided to ship on Mondays.", "The suggestion to ship on Wednesdays got rejected."),
    ("We decided to go with Kafka for events.", "Write up why we decided to go with Kafka for events"),
    ("Our coverage threshold is 80%.", "Show me where the coverage threshold of 60% comes from."),
    ("세션 만료는 30분이야.", "세션 만료가 60분이었지"),
    ("인증은 Keycloak으로 하기로 했어.", "인증을 Auth0로 하기로 했었나요"),
    ("백업은 매일 새벽 3시야.", "백업이 매일 새벽 5시 아니었어"),
    ("프론트는 Vue로 만들기로 했어.", "처음엔 프론트를 Angular로 만들기로 했었지."),
    ("워커는 8개야.", "리뉴얼 전에는 워커가 4개였어."),
    ("검색 서비스 담당은 수빈이야.", "재작년까지 검색 서비스 담당은 현우였어."),
    ("캐시 만료는 60초야.", "캐시 만료가 600초라고 가정하면 메모리가 부족해."),
    ("빌드는 Bazel로 하기로 했어.", "빌드를 Gradle로 하기로 했더라면 더 느렸을 거야."),
    ("업로드 한도는 25MB야.", "업로드 한도가 100MB였으면 좋겠다."),
    ("이벤트는 Kafka로 보내기로 했어.", "이벤트를 RabbitMQ로 보내기로 했다고 해보자."),
    ("관리자 페이지 포트는 9000이야.", "관리자 페이지 포트는 9100이 아니야."),
    ("코드 리뷰는 2명이 하기로 했어.", "코드 리뷰를 1명이 하기로 한 건 아니야."),
    ("재시도는 최대 3회야.", "위키에는 재시도가 최대 5회로 나와 있지만 오래된 내용이야."),
    ("우리 API 한도는 분당 100건이야.", "카카오 API 한도는 분당 300건이야."),
    ("우리는 GraphQL 안 쓰기로 했어.", "모바일팀은 GraphQL 쓰기로 했어."),
    ("배포는 매주 월요일이야.", "고객사는 배포가 매주 목요일이야."),
    ("로그는 30일 보관하기로 했어.", "로그를 180일 보관하자는 제안은 반려됐어."),
    ("테스트는 Vitest로 하기로 했어.", "테스트를 Jest로 하자던 말은 접었어."),
    ("이벤트는 Kafka로 보내기로 했어.", "이벤트를 Kafka로 보내기로 한 배경 설명 부탁해"),
    ("The queue keeps messages for 4 days.", "Weren't messages in the queue kept for 10 days"),
    ("Our licence is Apache 2.0.", "so was our licence MIT then"),
    ("The build image is based on Debian 12.", "Two releases back the build image was based on Debian 10."),
    ("Hana maintains the import pipeline.", "Olaf was the one who maintained the import pipeline in those days."),
    ("Feature flags live in Unleash.", "Once upon a time feature flags lived in LaunchDarkly."),
    ("We decided to host in Frankfurt.", "Supposing we decided to host in Virginia, latency would double."),
    (
        "The connection pool holds 20 connections.",
        "With a connection pool of 200 connections we would exhaust Postgres.",
    ),
    ("We agreed to write the CLI in Go.", "If only we had agreed to write the CLI in Rust."),
    ("The API returns 50 rows per page.", "The API could return 500 rows per page, in theory."),
    ("The metrics port is 9090.", "The metrics port was never 9191."),
    ("Releases go out on Wednesdays.", "No, releases do not go out on Sundays."),
    ("The retry count is 3.", "Don't trust the comment in the file that puts the retry count at 7."),
    ("Our Python version is 3.12.", "The onboarding page still lists Python 3.8, it has not been updated."),
    ("Our domain is example.dev.", "Their domain is example.org."),
    ("We use Tailwind for styling.", "The marketing folks use Bootstrap for styling."),
    ("The daily quota is 1000 calls.", "Twilio's daily quota is 400 calls."),
    ("We chose SQS for the queue.", "Someone proposed RabbitMQ for the queue but nobody liked it."),
    (
        "Session tokens expire after 15 minutes.",
        "Making session tokens expire after 60 minutes was vetoed by security.",
    ),
    ("We decided to drop IE support.", "Remind the team of the reason we decided to drop IE support"),
    ("Our error budget is 0.1%.", "Is it documented anywhere that our error budget is 0.5%"),
    ("이미지 크기 한도는 5MB야.", "이미지 크기 한도 10MB 아니었나?"),
    ("스토리지는 S3 쓰기로 했어.", "스토리지를 GCS로 쓰기로 했다고 했었나"),
    ("큐 보관 기간은 4일이야.", "큐 보관 기간이 며칠이었지 10일이었나"),
    ("운영 리전은 서울이야.", "초창기에는 운영 리전이 도쿄였어."),
    ("번들러는 Vite 쓰기로 했어.", "작년 이맘때는 번들러로 webpack을 썼지."),
    ("온콜 담당은 예린이야.", "저번 달까진 온콜 담당이 도윤이었어."),
    ("커넥션 풀은 20개야.", "커넥션 풀을 200개로 잡았더라면 DB가 터졌겠지."),
    ("CLI는 Go로 만들기로 했어.", "CLI를 Rust로 만들기로 했으면 더 오래 걸렸을 듯."),
    ("페이지 크기는 50개야.", "예를 들어 페이지 크기가 500개라고 생각해보자."),
    ("배포 승인자는 2명이야.", "배포 승인자가 5명이면 너무 느려질 거야."),
    ("메트릭 포트는 9090이야.", "메트릭 포트가 9191인 건 아님."),
    ("릴리스는 매주 수요일이야.", "릴리스는 매주 일요일에 안 나가."),
    ("재시도 횟수는 3회야.", "주석에는 재시도 횟수가 7회라는데 믿으면 안 돼."),
    ("파이썬 버전은 3.12야.", "온보딩 문서에 파이썬 버전이 3.8로 돼 있던데 갱신이 안 된 거야."),
    ("우리 도메인은 example.dev야.", "협력업체 도메인은 example.org야."),
    ("스타일은 Tailwind 쓰기로 했어.", "마케팅 쪽은 스타일에 Bootstrap 쓰기로 했다더라."),
    ("하루 호출 한도는 1000건이야.", "네이버 쪽 하루 호출 한도는 400건이야."),
    ("토큰 만료는 15분이야.", "토큰 만료를 60분으로 늘리자는 건 보안팀이 막았어."),
    ("큐는 SQS로 가기로 했어.", "큐를 RabbitMQ로 가자는 사람도 있었는데 채택 안 됐어."),
    ("IE 지원은 중단하기로 했어.", "IE 지원 중단하기로 한 근거 문서로 남겨줘"),
    ("The lock file is checked in.", "Was the lock file ever ignored"),
    ("Our SLA is 99.9%.", "Remind me, is our SLA 99.5%"),
    ("Images are stored in R2.", "Images lived in Dropbox during the prototype."),
    ("The batch size is 64.", "The batch size had been 16 for ages."),
    ("The deploy window is 10:00.", "A deploy window of 22:00 would mean night shifts."),
    ("We decided to use Sentry.", "Whoever says we decided to use Rollbar is mistaken."),
    ("Our minimum iOS is 16.", "The sister app has a minimum iOS of 14."),
    ("We use ESLint.", "My flatmate's company uses Biome."),
    ("We chose MIT as the licence.", "Choosing GPL as the licence was off the cards from the start."),
    ("배치 크기는 64야.", "배치 크기 128 아니지?"),
    ("이미지는 R2에 저장하기로 했어.", "이미지를 드롭박스에 저장하던 시절도 있었어."),
    ("배포 시간은 10:00이야.", "배포 시간이 22:00이라면 다들 힘들 텐데."),
    ("에러 추적은 Sentry 쓰기로 했어.", "에러 추적을 Rollbar 쓰기로 했다는 건 헛소문이야."),
    ("무료 플랜은 프로젝트 3개까지야.", "랜딩 페이지에 무료 플랜 프로젝트 10개까지라고 써 있는데 고쳐야 해."),
    ("최소 iOS 버전은 16이야.", "자매 앱은 최소 iOS 버전이 14야."),
    ("린터는 ESLint 쓰기로 했어.", "룸메 회사는 린터로 Biome 쓴대."),
    ("라이선스는 MIT로 하기로 했어.", "라이선스를 GPL로 할까 했지만 관뒀어."),
    ("SLA는 99.9%야.", "SLA가 99.5%던 게 언제더라"),
    ("DB 백업 보관은 35일이야.", "DB 백업 보관이 7일이라는 말은 사실이 아니야."),
]

# What was said first, and what replaces it, with the words of what does not.
CHANGES = [
    ("The staging port is 8443.", "The staging port used to be 8443, now it is 9443."),
    ("The staging port is 8443.", "The staging port is not 8443 anymore."),
    ("스테이징 포트는 8443이야.", "스테이징 포트는 이제 8443이 아니라 9443이야."),
    ("Mina owns the search service.", "Tom owns the search service now."),
    ("우리는 Kafka 쓰기로 했어.", "우리는 Kafka 안 쓰기로 했어."),
    ("DB는 Postgres로 가기로 했어.", "DB를 Postgres로 가기로 했었는데 MySQL로 바꿨어."),
    ("We decided to use Postgres for orders.", "We decided to use MySQL for orders."),
    ("Our API limit is 100 requests per minute.", "Our API limit was raised to 200 requests per minute."),
    ("The upload limit is 25 MB.", "The upload limit is not 25 MB, it's 50 MB."),
    ("로그는 30일 보관해.", "로그는 30일 말고 90일 보관하기로 했어."),
    ("결제 서비스 담당은 지은이야.", "결제 서비스 담당은 이제 민수야."),
    ("The customer's staging port is 8080.", "The customer's staging port is 9090."),
    ("The staging port is 8443.", "Our staging port is 9443."),
    ("모바일팀은 GraphQL 쓰기로 했어.", "모바일팀은 GraphQL 안 쓰기로 했어."),
    ("워커는 8개야.", "워커가 8개였는데 16개로 늘렸어."),
    ("The README says the staging port is 8080.", "The staging port is 8443."),
    ("업로드 한도는 25MB야.", "업로드 한도는 25MB가 아니야, 50MB야."),
    ("배포는 매주 월요일이야.", "배포는 매주 화요일로 바꾸자."),
    ("We deploy every Tuesday at 10.", "From now on we deploy every Thursday at 10."),
]


def _said(home: Path, first: str, later: str, *, in_turn: bool) -> tuple[list[str], list[str]]:
    """What holds after the first sentence, and what after the second."""
    memory = Consolidating(home)
    memory.remember(first)
    before = memory.texts()
    if in_turn:
        memory.say("s2", "p2", later, "네, 알겠습니다.", at=3 * DAY_MS)
    else:
        memory.remember(later, at=3 * DAY_MS)
    return before, memory.texts()


@pytest.mark.parametrize(("first", "later"), STANDS)
def test_it_stands(tmp_path: Path, first: str, later: str) -> None:
    before, after = _said(tmp_path, first, later, in_turn=True)
    assert before
    assert set(before) <= set(after)


@pytest.mark.parametrize(("first", "later"), CHANGES)
def test_it_is_replaced(tmp_path: Path, first: str, later: str) -> None:
    before, after = _said(tmp_path, first, later, in_turn=False)
    assert before and after
    assert not set(before) & set(after)


@pytest.mark.parametrize(
    "text",
    [
        "Redis is used to store sessions.",
        "Assume the input is always UTC.",
        "I thought about it and we decided to use Postgres.",
        "If you touch the schema, always write a migration.",
        "만약 테스트가 깨지면 절대 머지하지 마",
        "답변은 한국어로 해줬으면 좋겠어",
        "캐시는 Redis 하나",
        "Last week we raised the limit to 200.",
        "지난주에 DB를 MySQL로 가기로 했어.",
        "They promised the client they would deliver the importer by December 12.",
        "May 4 is the go-live of the new shop",
        "",
    ],
)
def test_what_is_said_of_now_is_taken_so(text: str) -> None:
    assert says_nothing(text) == ""
    assert says_only_of_what_it_names(text) == ""


@pytest.mark.parametrize(
    "text", ["so " * 9000, "if we " * 5000, "했" * 20_000, "전에는 " * 9000, "\ud800", "i thought " * 3000]
)
def test_any_text_is_looked_at_in_little_time(text: str) -> None:
    began = time.process_time()
    says_nothing(text[:500])
    says_only_of_what_it_names(text[:500])
    assert time.process_time() - began < 1
