"""A search of tool events: every word counts, also short Korean ones, in any composition."""

import unicodedata
from pathlib import Path

import pytest

from memlayer.give import search
from memlayer.model import Event
from tests.support.turns_in_memory import T0_MS, TurnsInMemory

OUTPUT = "Bash failed: pytest tests/pay -k retry\nFAILED tests/pay/test_retry.py::test_a 결제 재시도 실패"


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    told = TurnsInMemory(home)
    turn = told.turn("s1", "p1", "결제 재시도 고쳐줘", "지수 백오프로 바꿨습니다.")
    done = Event("t1", "tool", "s1", turn.project_id, "p1", OUTPUT, T0_MS + 2)
    told.store.add_events([done])
    return told


@pytest.mark.parametrize(
    ("query", "is_found"),
    [("실패", True), ("결제 실패", True), ("재시도 -k", True), ("test_retry.py", True), ("pytest 성공", False),
     ("zz pytest", False), ("-k", False), ("제", False), ("in", False), ("", False)],
)  # fmt: skip
def test_tool_event_found_by_all_words(memory: TurnsInMemory, query: str, is_found: bool) -> None:
    for form in ("NFC", "NFD"):
        found = search.find(memory.store, unicodedata.normalize(form, query), None, 5)
        assert [event.id for _, event in found] == ["t1"] * is_found, form
