"""How recall reads a prompt: follow-ups, orders, general questions; and how it shows that a fact has changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memlayer.core.context import Budget, day_of
from memlayer.core.query import questions_in
from memlayer.service import successors
from memlayer.service.recall import Recalled, RecallRules
from memlayer.service.sessions import Session
from memlayer.testing import HashEmbedder
from tests.turns_in_memory import T0_MS, TurnsInMemory

LOW = RecallRules(min_score=0.15)  # the double's vectors know no meaning


@pytest.fixture(params=["lexical", "hybrid"])
def memory(home: Path, request: pytest.FixtureRequest) -> TurnsInMemory:
    return TurnsInMemory(home, HashEmbedder() if request.param == "hybrid" else None)


def shown(found: Recalled) -> set[str]:
    return {one.chunk.memory_id for one in found.entries}


def live(session_id: str) -> Session:
    return Session(id=session_id, since_ms=T0_MS + 500, last_ms=T0_MS + 900, context_since_ms=T0_MS + 500)


@pytest.mark.parametrize(
    ("told", "first", "then"),
    [
        (
            ("아이디 생성은 어떻게 할까?", "ULID 로 하기로 했습니다. 이유는 시간 순서로 정렬되기 때문입니다."),
            "ULID 생성 코드는 어느 파일에 있지?",
            "그건 왜 그렇게 했지?",
        ),
        (
            ("How shall we make ids?", "We settled on ULID, because ULID sorts by time."),
            "Where is the ULID code?",
            "why did we choose that?",
        ),
    ],
)
def test_a_follow_up_is_read_with_the_turn_before(home: Path, told: tuple[str, str], first: str, then: str) -> None:
    memory = TurnsInMemory(home)
    kept = memory.turn("s1", "p1", *told)
    memory.turn("s2", "p1", first, "src/ids.py", at=600)
    assert memory.ask(then, LOW).block == ""
    found = memory.ask(then, LOW, live("s2"))
    assert shown(found) == {kept.id}
    assert [first in one.text for one in found.asked] == [True]


KOREAN_PLAN = (
    "정기구독을 붙이려고 해. 고객이 카드를 등록하면 빌링키를 암호화해서 저장하고, 매달 가입일에 자동으로 청구한다. "
    "실패하면 다음날 한 번 더 시도하고 그래도 안 되면 일시정지로 바꾼다. 해지하면 남은 기간은 그대로 쓴다. "
    "수백 건이 몰리는 게 걱정이야. 결제사 호출 한도가 얼마라고 했었지? 모델은 두 개로 나눠서 설계만 먼저 보여줘."
)
ENGLISH_PLAN = (
    "I want a ghost race mode: a player finishes a course, the game stores what they pressed, and the next one races "
    "against a translucent copy. Files carry the level's hash and the version of the game; on a mismatch we refuse. "
    "Which seed does the random generator get? Draw it in the transparent pass with a dithered outline, and sketch "
    "the data types before anything else. The editor needs a button that drops a start and a finish gate."
)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        (KOREAN_PLAN, ("결제사 호출 한도", "호출 한도는 분당 60회입니다. 넘으면 429가 옵니다.")),
        (ENGLISH_PLAN, ("random generator", "The random generator takes the level's hash for its seed.")),
    ],
    ids=["Korean", "English"],
)
def test_the_question_in_a_long_prompt_is_searched_for_by_itself(
    memory: TurnsInMemory, plan: str, told: tuple[str, str]
) -> None:
    kept = memory.turn("s1", "p1", *told)
    for number in range(6):
        memory.turn("s1", "q%d" % number, "메뉴 %d 번 색" % number, "회색으로 바꿨습니다.", at=10 * number + 10)
    found = memory.ask(plan, RecallRules(min_score=0.4))
    assert kept.id in shown(found)
    assert [one.text for one in found.asked if "?" in one.text] == [one.text for one in questions_in(plan)] != []


@pytest.mark.parametrize(
    "prompt", ["결제사 호출 한도가 얼마였지?", "그래서 어떻게 됐지? " * 30, "x" * 500, "", "?" * 400]
)
def test_a_short_prompt_or_one_whose_questions_say_nothing_is_searched_for_once(prompt: str) -> None:
    assert questions_in(prompt) == []


def test_after_a_restart_the_store_tells_what_came_before(home: Path) -> None:
    memory = TurnsInMemory(home)
    kept = memory.turn("s1", "p1", "How shall we make ids?", "We settled on ULID, because ULID sorts by time.")
    memory.turn("s2", "p1", "Where is the ULID code?", "src/ids.py", at=600)
    memory.recent._asked.clear()
    assert shown(memory.ask("why did we choose that?", LOW, live("s2"))) == {kept.id}


@pytest.mark.parametrize(
    ("order", "rule", "answer"),
    [
        ("commit this please", "from now on commit messages are in Korean, commit small", "Understood."),
        ("커밋해줘", "앞으로 커밋 메시지는 한국어로 써줘. 커밋은 작게", "알겠습니다."),
    ],
)
def test_an_order_recalls_standing_orders_and_no_echo(
    memory: TurnsInMemory, order: str, rule: str, answer: str
) -> None:
    memory.turn("s1", "p1", order, "Committed as 4f1c2aa.")
    standing = memory.turn("s1", "p2", rule, answer, at=10)
    assert shown(memory.ask(order, RecallRules(min_score=0.2))) == {standing.id}


def test_a_question_that_anybody_could_answer_needs_a_close_fit(home: Path) -> None:
    memory = TurnsInMemory(home)
    memory.turn("s1", "p1", "파드 메모리를 올려줘", "컨테이너 메모리를 512Mi 로 올렸습니다.")
    assert memory.ask("쿠버네티스에서 파드랑 컨테이너랑 노드 차이가 뭐야?").block == ""
    assert memory.ask("우리 파드랑 컨테이너 메모리 얼마로 올렸지?").entries


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (
            ("장바구니 보관 기간은 며칠로 할까?", "장바구니 보관 기간은 14일로 정했습니다."),
            ("장바구니 보관 기간을 늘려줘", "장바구니 보관 기간을 30일로 늘렸습니다."),
            "장바구니 보관 기간이 며칠이지?",
        ),
        (
            ("Where do order events go?", "Order events go to Postgres, table order_events."),
            ("Move the order events", "Order events moved to ClickHouse, table order_events."),
            "where do order events go now?",
        ),
    ],
)
def test_the_older_of_two_on_one_matter_says_that_there_is_a_newer(
    memory: TurnsInMemory, before: tuple[str, str], after: tuple[str, str], question: str
) -> None:
    older = memory.turn("s1", "p1", *before)
    newer = memory.turn("s2", "p1", *after, at=1_000_000)
    lines = memory.ask(question, RecallRules(min_score=0.2)).block.split("\n")[2:]
    assert len(lines) == 2
    by_citation = {line[7:13]: line for line in lines}
    assert by_citation[newer.citation].startswith("- [mem:%s] %s: User: " % (newer.citation, day_of(newer.at_ms)))
    mark = "(older; newer: [mem:%s]) User: " % newer.citation
    assert by_citation[older.citation].startswith("- [mem:%s] %s: %s" % (older.citation, day_of(older.at_ms), mark))


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (
            ("런칭 날짜 5월 12일로 확정됐어", "런칭 날짜를 5월 12일로 적어 두었습니다."),
            ("런칭 2주 밀렸어. 26일로", "런칭을 26일로 옮겼습니다."),
            "런칭 확정 날짜",
        ),
        (
            ("which broker do we use for jobs", "The broker for jobs is Redis."),
            ("move the jobs", "The jobs are in RabbitMQ from now on."),
            "jobs broker",
        ),
    ],
)
def test_a_newer_one_that_only_just_missed_the_floor_comes_with_the_older_one(
    memory: TurnsInMemory, before: tuple[str, str], after: tuple[str, str], question: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(successors, "NEWER_RELEVANCE", 0.3)
    older = memory.turn("s1", "p1", *before)
    newer = memory.turn("s2", "p1", *after, at=1_000_000)
    relevance = {one.key: one.score.relevance for one in memory.ask(question, RecallRules(min_score=0.0)).candidates}
    assert 0.3 * relevance[older.key] < relevance[newer.key] < relevance[older.key]
    between = RecallRules(min_score=(relevance[older.key] + relevance[newer.key]) / 2)
    found = memory.ask(question, between)
    assert [one.key for one in found.entries] == [newer.key, older.key]
    assert "(older; newer: [mem:%s])" % newer.citation in found.block
    assert len({one.key for one in found.candidates}) == len(found.candidates)
    above = RecallRules(min_score=relevance[older.key] + 0.01)
    assert memory.ask(question, above).block == ""
    monkeypatch.setattr(successors, "NEWER_RELEVANCE", 0.99)
    assert [one.key for one in memory.ask(question, between).entries] == [older.key]


@pytest.mark.parametrize(
    ("before", "after", "beside", "question"),
    [
        (
            ("런칭 날짜 5월 12일로 확정됐어", "런칭 날짜를 5월 12일로 적어 두었습니다."),
            ("런칭 2주 밀렸어. 날짜 26일로", "런칭을 26일로 옮겼습니다."),
            ("회식 확정 날짜 알려줘", "회식은 런칭 뒤에 하기로 했습니다. 장소는 성수동 고깃집, 인원은 열두 명입니다."),
            "런칭 확정 날짜",
        ),
        (
            ("which broker do we use for jobs", "The broker for jobs is Redis."),
            ("move the jobs broker", "The jobs are in RabbitMQ from now on."),
            ("which broker insures jobs at sea", "An insurance broker in Busan insures jobs."),
            "which broker for jobs",
        ),
    ],
)
def test_a_newer_one_that_finds_no_place_takes_that_of_another_matter(
    memory: TurnsInMemory, before: tuple[str, str], after: tuple[str, str], beside: tuple[str, str], question: str
) -> None:
    older = memory.turn("s1", "p1", *before)
    other = memory.turn("s3", "p1", *beside, at=500_000)
    newer = memory.turn("s2", "p1", *after, at=1_000_000)
    rules = RecallRules(min_score=0.1, budget=Budget(max_entries=3))
    assert {one.key for one in memory.ask(question, rules).entries} == {older.key, other.key, newer.key}
    found = memory.ask(question, replace(rules, budget=Budget(max_entries=2)))
    assert {one.key for one in found.entries} == {older.key, newer.key}
    assert "(older; newer: [mem:%s])" % newer.citation in found.block
    assert next(one for one in found.candidates if one.key == other.key).reason == "more than 2 entries"


def test_two_on_different_matters_bear_no_mark(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", "nginx 프록시는 어디로 보내?", "nginx 가 받아 api 서버로 넘깁니다. 포트는 8080.")
    answer = "스테이징 데이터베이스는 VPN 안에서만 열립니다. 읽기 전용 계정은 report, 포트 5433."
    memory.turn("s2", "p1", "psql 로 접속이 안 돼", answer, at=10)
    found = memory.ask("포트", RecallRules(min_score=0.0))
    assert len(found.entries) == 2
    assert "newer:" not in found.block
