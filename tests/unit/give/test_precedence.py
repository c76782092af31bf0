"""Entries about one thing: newer values, statements and deeds stand before what they answer."""

from pathlib import Path

import pytest

from memlayer.give.candidate import Reason
from memlayer.give.precedence import DatedText, answers, goes_before, is_newer_value, ordered
from memlayer.give.recall import Recalled
from memlayer.records.sessions import Session
from tests.support.tables import tables
from tests.support.turns_in_memory import TurnsInMemory

TABLES = tables("give/precedence")

OTHER = ("fix the footer", "Fixed the footer.")


def given(found: Recalled) -> list[str]:
    """The texts of the block's entries, in their order."""
    return [line.split(": ", 1)[1] for line in found.block.split("\n") if line.startswith("- [mem:")]


@pytest.mark.parametrize(("older", "newer"), TABLES["newer_value"])
def test_newer_value(older: str, newer: str) -> None:
    assert is_newer_value(DatedText(newer, 2), DatedText(older, 1))
    assert not is_newer_value(DatedText(older, 1), DatedText(newer, 2))


@pytest.mark.parametrize(("older", "newer"), TABLES["values_of_two_things"])
def test_values_of_two_things(older: str, newer: str) -> None:
    assert not is_newer_value(DatedText(newer, 2), DatedText(older, 1))


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        (
            "User: redis는 6380 포트로 띄우자\nAssistant: 바꿨습니다.",
            "User: redis 포트가 뭐였지?\nAssistant: 6380 입니다.",
        ),
        ("We deploy on Thursdays from now on.", "User: which day do we deploy?\nAssistant: You deploy on Thursday."),
    ],
)
def test_statement_that_answers_a_question(statement: str, question: str) -> None:
    assert answers(DatedText(statement, 1), DatedText(question, 2))
    assert ordered([question, statement], lambda text: DatedText(text, 0)) == [statement, question]


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        (
            "User: redis는 6380 포트로 띄우자\nAssistant: 바꿨습니다.",
            "User: mysql 포트가 뭐였지?\nAssistant: 3307 입니다.",
        ),
        ("We deploy on Thursdays from now on.", "User: which day do we meet?\nAssistant: You meet on Thursday."),
        ("We deploy on Thursdays.", "User: can you deploy it?\nAssistant: Deployed on Thursday."),
    ],
)
def test_statement_of_another_thing_or_an_order(statement: str, question: str) -> None:
    assert not goes_before(DatedText(statement, 1), DatedText(question, 2))


@pytest.mark.parametrize(
    ("turns", "asked", "first", "last"),
    [
        (
            [
                ("redis는 6380 포트로 띄우자", "docker-compose.yml 의 redis 포트를 6380 으로 바꿨습니다."),
                ("redis 포트가 뭐였지?", "6380 입니다."),
            ],
            "redis 포트가 뭐였지?", "redis는 6380", "redis 포트가 뭐였지",
        ),
    ],
)  # fmt: skip
def test_block(home: Path, turns: list[tuple[str, str]], asked: str, first: str, last: str) -> None:
    memory = TurnsInMemory.by_the_shipped_model(home, [*turns, OTHER], a_session=1)
    entries = given(memory.ask(asked))
    assert [entries[0].startswith(first), entries[-1].startswith(last)] == [True, True]


@pytest.mark.parametrize(
    ("turns", "asked", "newer", "older"),
    [
        (
            [
                ("배포는 목요일에 하자", "배포 요일을 목요일로 문서에 적었습니다."),
                ("배포 화요일로 바꾸자 목요일엔 회의가 많아", "docs/release.md 를 화요일로 고쳤습니다."),
            ],
            "배포 요일이 언제였지?", "배포 화요일로", "배포는 목요일에",
        ),
        (
            [
                ("Set the payment timeout to 10s", "Set the payments timeout to 10s in config/payments.yaml."),
                ("Change of plan for payments: timeout 10s is too short, Toss told us 30 seconds", "Changed it."),
            ],
            "what was the payment timeout?", "Change of plan", "Set the payment",
        ),
    ],
)  # fmt: skip
def test_a_block_has_the_newer_value_alone(
    home: Path, turns: list[tuple[str, str]], asked: str, newer: str, older: str
) -> None:
    memory = TurnsInMemory.by_the_shipped_model(home, [*turns, OTHER], a_session=1)
    entries = given(memory.ask(asked))
    assert [text for text in entries if text.startswith((newer, older))] == [entries[0]]
    assert entries[0].startswith(newer)


def test_an_older_value_is_left_out_where_the_context_has_the_newer(home: Path) -> None:
    memory = TurnsInMemory(home)
    older = memory.turn("s1", "p1", "redis 포트는 6379로 하자", "redis 포트를 6379 로 적었습니다.")
    newer = memory.turn("s2", "p1", "redis 포트는 6380으로 바꾸자", "redis 포트를 6380 으로 바꿨습니다.", at=1000)
    found = memory.ask("redis 포트가 뭐였지?", session=Session(id="s3", shown=[newer.id]))
    assert found.block == ""
    assert {one.reason for one in found.candidates if one.chunk.memory_id == older.id} == {Reason.OLDER}


def test_a_plan_that_was_carried_out_is_no_plan_for_today(home: Path) -> None:
    plan = ("오늘은 정산 배치에 재시도 제한을 붙일 거야", "네, 시작하겠습니다.")
    memory = TurnsInMemory.by_the_shipped_model(home, [plan, OTHER], a_session=1)
    assert "오늘은 정산" in memory.ask("오늘 뭐 하기로 했지? 정산 배치였나?").block
    memory.turn("s8", "p8", "시작해줘", "정산 배치에 재시도 제한을 붙였습니다.", at=9000)
    assert "오늘은 정산" not in memory.ask("오늘 뭐 하기로 했지? 정산 배치였나?").block


def test_an_answer_with_a_cause_is_found_by_its_error(home: Path) -> None:
    cause = "Root cause: legacy carts created before March have no currency field. Fixed in cart/serializers.py."
    asked = "The checkout endpoint keeps throwing KeyError: 'currency'. can you look?"
    memory = TurnsInMemory.by_the_shipped_model(home, [(asked, cause), OTHER], a_session=1)
    assert "legacy carts" in memory.ask("KeyError currency again in checkout, have we seen this before?").block


@pytest.mark.parametrize(
    ("cause", "change", "asked"),
    [
        (
            ("웹훅이 두 번 오는 원인을 찾아줘", "10초 안에 200을 못 받으면 다시 보냅니다. 포트는 9417입니다."),
            ("포트는 9418로 바꾸자", "포트를 9418로 바꿨습니다."), "웹훅이 두 번 온 원인이 뭐였지?",
        ),
        (
            ("Why does the webhook come twice?", "It is sent again without a 200 within 10 seconds. The port is 9417."),
            ("Change the port to 9418", "The port is 9418 now."), "what was the reason why the webhook came twice?",
        ),
    ],
)  # fmt: skip
def test_turn_with_an_older_value_of_another_matter_is_given(
    home: Path, cause: tuple[str, str], change: tuple[str, str], asked: str
) -> None:
    memory = TurnsInMemory.by_the_shipped_model(home, [cause, change, OTHER], a_session=1)
    assert "200" in memory.ask(asked).block
