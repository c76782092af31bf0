"""A person's later words end older ones, and leave others alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from memlayer.consolidation.conflict.later import Changes
from memlayer.text.sentences import sentences


def alike(terms: Iterable[str]) -> Mapping[str, float]:
    return dict.fromkeys(terms, 2.0)


def ended(older: str, newer: str, answer: str = "") -> list[str]:
    """The sentences of the older prompt that hold no more."""
    changes = Changes(alike)
    changes.add(newer, 2, answer)
    said = (older[span.start : span.end] for span in sentences(older))
    return [text for text in said if changes.ended(text, "User: " + older, 1)]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("let's use FCM topics, one per school.", "topic 버리고 token multicast 로 바꾸자"),
        ("we keep sessions in memcached for now", "sessions are in redis now, we ditched memcached"),
        ("The nightly export starts at 01:15.", "The nightly export moved to 04:40, the warehouse is locked before."),
        ("빌드 서버 주소는 build.haneul.co.kr 이야", "빌드 서버가 ci.haneul.co.kr 로 옮겨졌어"),
        ("알림은 슬랙 #ops 로 보내", "알림은 이제 #ops 말고 #infra-alerts 로 보내자"),
        ("릴리즈는 11월 28일에 하기로 했어", "릴리즈 12월 5일로 미뤄졌어"),
        ("코드 이상하면 수빈님한테 물어봐", "영양사 연락은 이제 수빈님 말고 민재님이야, 수빈님은 금요일까지만 나와"),
        ("결제 문의는 정우님한테 하면 돼", "결제 담당은 정우님 대신 서연님이 맡기로 했어"),
        ("CSV 컬럼으로 내보내자", "CSV 로는 안되겠다. parquet 으로 바꾸자"),
        ("도커 이미지는 alpine 기반으로 간다", "alpine 은 접고 debian-slim 으로 바꿨어"),
        ("The mobile team deploys on Wednesdays", "The mobile team's deploys moved to Fridays"),
    ],
)
def test_a_named_end_or_another_value_of_the_thing(older: str, newer: str) -> None:
    assert ended(older, newer) == [older]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("don't merge the payment branch until QA has signed off", "QA signed off, we can merge it now"),
        ("법무 검토 끝나기 전에는 절대 켜면 안 됨", "법무 검토 통과됐어, 이제 켜도 돼"),
        ("디자인 시안 나올 때까지 홈 화면은 건드리지 마", "홈 화면 디자인 시안 나왔어, 이제 작업해도 됨"),
        ("we still need to translate the mails, later", "the mails are translated now, Lena finished them"),
        ("알림 권한 문구 영어 번역도 해야 되는데 그건 나중에", "권한 문구 영어 번역은 Daniel 이 끝냈대."),
    ],
)  # fmt: skip
def test_a_bound_that_came_and_work_that_is_done(older: str, newer: str) -> None:
    assert ended(older, newer) == [older]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("the gateway listens on port 7001", "the admin port changed to 9001"),
        ("The nightly export starts at 01:15.", "The backup moved to 04:40."),
        ("the upload limit is 20 MB", "the download limit is raised to 50 MB"),
        ("알림은 슬랙 #ops 로 보내", "리포트는 메일 말고 노션에 올리자"),
        ("릴리즈는 11월 28일에 하기로 했어", "워크숍이 12월 5일로 밀렸어"),
        ("페이지 크기는 20개로 하자", "재시도는 5번으로 늘리자"),
        ("staging 은 stg.haneul.co.kr 이야", "production 이 www.haneul.co.kr 로 옮겨졌어"),
        ("don't merge the payment branch until QA has signed off", "the login branch is merged now"),
        ("디자인 시안 나올 때까지 홈 화면은 건드리지 마", "설정 화면 버그는 고쳤어"),
        ("use tabs in the proto files", "changed the color of the tabs in the header"),
        ("the gateway listens on port 7001", "should the gateway port be changed to 7443?"),
        ("릴리즈는 11월 28일에 하기로 했어", "릴리즈를 12월 5일로 미룰까 고민 중"),
    ],
)
def test_another_thing_and_what_is_undecided_end_nothing(older: str, newer: str) -> None:
    assert ended(older, newer) == []


def test_what_stands_beside_it_holds() -> None:
    older = "03:30 에 cron 으로 sync 돌려. retry 는 3번까지만 해, 더 하면 call 제한 까먹으니까."
    assert ended(older, "sync 는 05:10 으로 옮기자") == [older.split(". ")[0] + "."]


def test_an_answer_tells_what_its_prompt_changed() -> None:
    older, reported = "`ops/crontab`: `30 3 * * * sync`", "`ops/crontab` 을 `10 5 * * * sync` 로 바꿨습니다."
    assert ended(older, "sync 는 05:10 으로 옮기자", reported) == [older]
    assert ended(older, "thanks", reported) == []


def test_a_pasted_text_changes_nothing() -> None:
    pasted = "look at this review:\n\n> The gateway port changed to 7443.\n\n- port is 7443 now\n- retry moved"
    assert ended("the gateway listens on port 7001", pasted) == []


def test_a_matter_that_is_spoken_of_again() -> None:
    changes = Changes(alike)
    changes.add("JSONB 로는 통계 join 이 지저분해. allergens 컬럼은 없애고 테이블로 바꾸자", 5)
    assert changes.changed("JSONB 컬럼 allergens, 코드 숫자 배열", 1) == 5
    assert changes.changed("배포는 목요일에만 한다", 1) == changes.changed("JSONB 컬럼 allergens", 9) == 0
