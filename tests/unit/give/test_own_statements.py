"""A start without notes lists the person's statements, no orders and no questions."""

from __future__ import annotations

import pytest

from memlayer.give.own_statements import STATEMENTS_CHARS, stated, statements
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
    assert list(statements(prompt)) == [prompt]


@pytest.mark.parametrize("prompt", ASKED)
def test_questions_and_orders_state_nothing(prompt: str) -> None:
    assert list(statements(prompt)) == []


def test_newest_first_and_an_older_value_is_left_out() -> None:
    said = ("redis 포트는 6379 입니다.", "배포는 목요일에만 한다.", "redis 포트는 6380으로 바꿨어.")
    rows = [turn(number, prompt) for number, prompt in enumerate(said)][::-1]
    lines = [line for line, _ in stated(rows, set(), [])]
    assert [line.partition(": ")[2] for line in lines] == ["redis 포트는 6380으로 바꿨어.", "배포는 목요일에만 한다."]
    assert stated(rows, {(row.session_id, row.prompt_id) for row in rows}, []) == []
    assert [row.prompt_id for _, row in stated(rows, set(), ["배포는 목요일에만 한다."])] == ["p2"]


def test_statement_in_force_is_told_where_another_of_its_turn_holds_no_more() -> None:
    row = turn(1, "redis 포트는 6379 입니다. Deploys go out on Thursdays only.")
    drawn = replace(make_memory(2, "Deploys go out on Thursdays only."), session_id=row.session_id, prompt_id="p1")
    assert stated([row], {(row.session_id, "p1")}, []) == []
    [(line, _)] = stated([row], {(row.session_id, "p1")}, [], [drawn])
    assert line.endswith(": Deploys go out on Thursdays only.")
    [(line, _)] = stated([row], set(), [], [drawn])
    assert line.count("Thursdays") == 1 and "6379" in line


def test_they_leave_room_for_the_rules() -> None:
    rows = [
        turn(number, "서버 %d번의 포트는 %d 이고, 이것만 외부에 열려 있다." % (number, 9000 + number))
        for number in range(200)
    ]
    assert sum(len(line) for line, _ in stated(rows[::-1], set(), [])) <= STATEMENTS_CHARS
