"""Core memories made by older rules are settled anew; what a person made or touched stays."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from memlayer.consolidation import consolidator
from memlayer.consolidation.rules.extraction import Extraction, Statement
from memlayer.kinds import Author, Ended, Kind
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery
from tests.support.consolidating_in_memory import DAY_MS, Consolidating

JUNK = "Removed lane spacing from session rendering"
KEPT = "결제 모듈은 포트원으로 바꾸기로 했어."


OLDER = pytest.MonkeyPatch()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    yield
    OLDER.undo()


def kept_before(prompt: str, answers: Sequence[str], at_ms: int) -> Extraction:
    """Extract as an earlier version: every sentence that it is told to keep."""
    told = [text for text in (JUNK, KEPT) if text in prompt]
    return Extraction("", tuple(Statement(Kind.FACT, text, text, "user") for text in told))


def _old_store(home: Path) -> Consolidating:
    OLDER.setattr(consolidator, "RULES", 1)
    OLDER.setattr(consolidator, "extract", kept_before)
    memory = Consolidating(home)
    memory.say("s1", "p1", f"{JUNK}. {KEPT}", "네.")
    assert set(memory.texts()) == {JUNK, KEPT}
    return memory


def _upgrade(memory: Consolidating) -> None:
    OLDER.undo()
    while memory.consolidator.settle_turns(10):
        pass


def _junk(memory: Consolidating) -> Memory:
    return next(one for one in memory.core(is_current=None) if one.text == JUNK)


def test_junk_is_retired_and_decision_stays(tmp_path: Path) -> None:
    memory = _old_store(tmp_path)
    _upgrade(memory)
    assert memory.texts() == [KEPT]
    assert _junk(memory).ended_because is Ended.READ_ANEW
    assert _junk(memory).id not in memory.searched()
    assert memory.consolidator.restore(_junk(memory)).text == JUNK


def test_settling_twice_changes_nothing(tmp_path: Path) -> None:
    memory = _old_store(tmp_path)
    _upgrade(memory)
    whole = memory.whole()
    turns = memory.store.memories(MemoryQuery(category="conversation"))
    memory.store.put_memories([replace(one, rules=1) for one in turns])  # died before it was noted
    _upgrade(memory)
    assert memory.whole()[1] == whole[1]
    assert memory.texts() == [KEPT]


@pytest.mark.parametrize("touch", ["pin", "edit", "restore", "remember"])
def test_touched_memory_stays(tmp_path: Path, touch: str) -> None:
    memory = _old_store(tmp_path)
    if touch == "pin":
        memory.consolidator.pin(_junk(memory), True)
    elif touch == "edit":
        memory.consolidator.edit(_junk(memory), JUNK + " for good")
    elif touch == "restore":
        memory.consolidator.retire(_junk(memory))
        memory.consolidator.restore(_junk(memory))
    else:
        memory.remember(JUNK, at=DAY_MS)
    _upgrade(memory)
    assert any(text.startswith(JUNK) for text in memory.texts())


def test_person_memory_holds_again(tmp_path: Path) -> None:
    memory = _old_store(tmp_path)
    said = memory.remember("배포는 화요일 오전에 한다")
    memory.store.put_memories([replace(said, superseded_by=_junk(memory).id, ended_because=Ended.REPLACED, ended_ms=1)])
    _upgrade(memory)
    assert "배포는 화요일 오전에 한다" in memory.texts()
    assert said.id in memory.searched()


def test_merged_memory_needs_all_turns(tmp_path: Path) -> None:
    memory = _old_store(tmp_path)
    memory.say("s2", "p2", f"again: {JUNK}", "네.", at=DAY_MS)
    [junk] = [one for one in memory.core() if one.text == JUNK]
    assert len(junk.source_ids) > 2
    _upgrade(memory)
    assert memory.texts() == [KEPT]


def test_reworded_statement_gets_new_text(tmp_path: Path) -> None:
    memory = Consolidating(tmp_path)
    memory.say("s1", "p1", KEPT, "네.")
    [made] = memory.core()
    memory.store.put_memories([replace(made, text="topic of before: " + KEPT)])
    turns = memory.store.memories(MemoryQuery(category="conversation"))
    memory.store.put_memories([replace(one, rules=1) for one in turns])
    _upgrade(memory)
    assert [(one.id, one.text) for one in memory.core()] == [(made.id, KEPT)]


def test_rule_of_a_paste_becomes_a_question(tmp_path: Path) -> None:
    words = "앞으로 배포는 항상 수요일에 해줘"
    made = Statement(Kind.PREFERENCE, words, words, "user", is_rule=True)
    OLDER.setattr(consolidator, "RULES", 1)
    OLDER.setattr(consolidator, "extract", lambda prompt, answers, at_ms: Extraction("", (made,)))
    memory = Consolidating(tmp_path)
    memory.say("s1", "p1", "minji: " + words, "네.")
    [rule] = memory.core()
    assert rule.by is Author.PERSON and rule.id in memory.searched()
    _upgrade(memory)
    [rule] = memory.core()
    assert rule.by is Author.UNCLEAR and rule.id not in memory.searched()
