"""What a session was shown does not come again; what else the same memory says does."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.service import shown
from memlayer.service.candidate import SHOWN
from memlayer.service.sessions import Session
from tests.turns_in_memory import T0_MS, TurnsInMemory
from tests.unit.test_recall_replaced import drawn

BETWEEN = [
    "%d번 항목은 앞에서 말한 대로 그대로 두었고 다시 볼 것은 없습니다. Nothing else was touched in part %d. "
    % (number, number)
    for number in range(1, 10)
]
ANSWERS = [
    ("캐시 만료는 45초로 했습니다. ", "정산 배치는 3시에 돕니다. ",
     "캐시 만료 몇 초였지?", "정산 배치는 몇 시에 돌아?"),
    ("The cache expires after 45 seconds. ", "The settlement batch runs at 3 in the night. ",
     "when does the cache expire?", "at what time does the settlement batch run?"),
]  # fmt: skip


def live(**known: list[str]) -> Session:
    return Session(id="s9", since_ms=T0_MS + 500_000, context_since_ms=T0_MS + 500_000, **known)


@pytest.mark.parametrize(("first", "second", "asks_first", "asks_second"), ANSWERS)
def test_of_a_long_answer_the_part_that_was_not_shown_still_comes(
    home: Path, first: str, second: str, asks_first: str, asks_second: str
) -> None:
    memory, session = TurnsInMemory(home), live()
    told = first + "".join(BETWEEN) + second
    turn = memory.turn("s1", "q1", "오늘 정한 거 정리해줘", told)
    for asked, due, later in ((asks_first, first, second), (asks_second, second, "no more")):
        found = memory.ask(asked, session=session)
        assert due.strip() in found.block and later.strip() not in found.block
        session.shown = shown.marked(session.shown, found.entries)
        again = memory.ask(asked, session=session)
        assert again.block == "" and [one.reason for one in again.candidates] == [SHOWN]
    assert turn.id not in session.shown
    assert shown.without(session.shown, {turn.id}) == [] != session.shown == shown.without(session.shown, {"other"})


def test_a_short_memory_is_shown_once(home: Path) -> None:
    memory, session = TurnsInMemory(home), live()
    turn = memory.turn("s1", "q1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다. 정산 배치는 3시에 돕니다.")
    session.shown = shown.marked([], memory.ask("캐시 만료 몇 초였지?", session=session).entries)
    assert session.shown == [turn.id]
    assert memory.ask("정산 배치는 몇 시에 돌아?", session=session).block == ""


def test_a_statement_does_not_come_after_the_turn_that_says_it(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다. 더 길면 재고가 틀립니다.")
    drawn(memory, turn, "캐시 만료는 45초로 했습니다.")
    session = live(shown=[turn.id])
    found = memory.ask("캐시 만료 몇 초였지?", session=session)
    assert found.block == ""
    assert "the turn that says it was shown in this session" in [one.reason for one in found.candidates]
    assert memory.ask("캐시 만료 몇 초였지?", session=live(inherited=[turn.id])).block == ""


def test_nor_does_the_sentence_of_a_long_turn_that_was_shown(home: Path) -> None:
    memory, session = TurnsInMemory(home), live()
    turn = memory.turn("s1", "q1", "정리해줘", "캐시 만료는 45초로 했습니다. " + "".join(BETWEEN))
    drawn(memory, turn, "캐시 만료는 45초로 했습니다.")
    first = memory.ask("캐시 만료 몇 초였지?", session=session)
    session.shown = shown.marked([], first.entries)
    assert first.block.count("45초") == 1
    assert memory.ask("캐시 만료 몇 초였지?", session=session).block == ""
