"""A start without notes lists the person's statements, no orders and no questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memlayer.give.own_statements import STATEMENTS_CHARS, changes_in, stated, statements
from memlayer.kinds import Category, Kind
from memlayer.model import Memory, replace
from tests.support.store_rows import make_memory

STATED = (
    "한빛페이 payout API 한도는 분당 300건이야.",
    "session pooling 으로 바꾸는건 안됨, 다른 팀도 같이 쓰는 bouncer 라.",
    "gather 는 버리고 원복해, chunk 크기로는 답 없음.",
    "Merged migrations stay as they are; add a new revision instead.",
    "We moved the cart from Redis to Postgres.",
    "The index did nothing, the search is still slow.",
)
ASKED = (
    "주문 조회 cache TTL 지금 몇초야?", "커밋해", "can you look at the comments?", "커밋해줘 SETL-430", "응 진행해",
    "정산 API 에 합계 하나 추가해줘", "what did we decide about the port?", "thanks",
)  # fmt: skip


def turn(number: int, prompt: str) -> Memory:
    text = "User: %s\nAssistant: 네." % prompt
    made = make_memory(number, text)
    return replace(made, category=Category.CONVERSATION, kind=Kind.TURN, prompt_id="p%d" % number, at_ms=1000 * number)


@pytest.mark.parametrize("prompt", STATED)
def test_statements(prompt: str) -> None:
    assert [text for text, _ in statements(prompt)] == [prompt]


@pytest.mark.parametrize("prompt", ASKED)
def test_questions_and_orders_state_nothing(prompt: str) -> None:
    assert statements(prompt) == []


def told(rows: list[Memory], over: Sequence[Memory] = (), rules: Sequence[str] = ()) -> list[str]:
    """The lines of these turns, oldest first, without their days."""
    newest = rows[::-1]
    return [line.partition(": ")[2] for line, _ in stated(newest, over, rules, changes_in(newest))]


def ended(row: Memory, text: str) -> Memory:
    return replace(make_memory(99, text), session_id=row.session_id, prompt_id=row.prompt_id)


def test_newest_first_and_an_older_value_is_left_out() -> None:
    said = ("redis 포트는 6379 입니다.", "배포는 목요일에만 한다.", "redis 포트는 6380으로 바꿨어.")
    rows = [turn(number, prompt) for number, prompt in enumerate(said)]
    assert told(rows) == ["redis 포트는 6380으로 바꿨어.", "배포는 목요일에만 한다."]
    assert told(rows, rules=["배포는 목요일에만 한다."]) == ["redis 포트는 6380으로 바꿨어."]


def test_what_holds_no_more_goes_and_what_was_said_beside_it_stays() -> None:
    row = turn(1, "redis 포트는 6379 입니다. Deploys go out on Thursdays only.")
    assert told([row], over=[ended(row, "redis 포트는 6379 입니다.")]) == ["Deploys go out on Thursdays only."]
    assert told([row], over=[ended(turn(2, ""), "redis 포트는 6379 입니다.")]) != told([row], over=[])[1:]


def test_they_leave_room_for_the_rules() -> None:
    rows = [
        turn(number, "서버 %d번의 포트는 %d 이고, 이것만 외부에 열려 있다." % (number, 9000 + number))
        for number in range(200)
    ]
    assert sum(map(len, told(rows))) <= STATEMENTS_CHARS
