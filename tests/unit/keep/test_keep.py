"""The one way of a memory into the store: what it checks, compares, writes and tells."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.consolidation.statement import statement_of
from memlayer.errors import StoreError
from memlayer.keep.keep import NO_CHANGE, Change, Keep
from memlayer.kinds import Author, Category, Ended, Kind
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery, memories_by_id
from memlayer.topics.grouping import topic_memories
from memlayer.turns.salience import new_memory
from tests.support.memory_store import MemoryStore
from tests.support.turns_in_memory import T0_MS, keep_over

SAID = ("배포는 매주 화요일 오전에 한다.", "The staging port is 8443.", "로그는 S3 bucket에 30일 둔다.")


@pytest.fixture
def keep(tmp_path: Path) -> Keep:
    return keep_over(MemoryStore(), tmp_path)


def said(text: str, *, at: int = 0, project: str = "p1", source: str = "e1") -> Memory:
    sources = [source] if source else []
    return statement_of(project, text, Kind.FACT, by=Author.PERSON, at_ms=T0_MS + at, source_ids=sources)


def stored(keep: Keep, row: Memory) -> Memory:
    return memories_by_id(keep.store, [row.id])[row.id]


def indexed(keep: Keep) -> set[str]:
    found: set[str] = set()
    keep.store.scan_terms(lambda chunk, _: found.add(chunk.partition(":")[0]))
    return found


def spied(keep: Keep, patch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the writes that follow, where they write anything."""
    writes: list[str] = []

    def spy(name: str, real: Callable[..., object]) -> Callable[..., object]:
        return lambda rows, *more: (rows and writes.append(name), real(rows, *more))[1]

    for name in ("put_chunks", "drop_chunks", "put_memories"):
        patch.setattr(keep.store, name, spy(name, getattr(keep.store, name)))
    return writes


def test_chunks_come_before_memories_and_the_same_is_written_once(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    rows, writes = [said(text) for text in SAID], spied(keep, monkeypatch)
    assert keep.write(rows) == rows and writes == ["put_chunks", "drop_chunks", "put_memories"]
    assert keep.write(rows) == [] and len(writes) == 3
    assert keep.take_change() == Change(frozenset({"p1"}), frozenset({"p1"})) and keep.take_change() == NO_CHANGE


def test_a_level_is_no_reason_to_index_again(keep: Keep, monkeypatch: pytest.MonkeyPatch) -> None:
    keep.write([row := said(SAID[0])])
    writes = spied(keep, monkeypatch)
    keep.write([replace(row, level=2, rules=7)])
    assert writes == ["put_memories"] and stored(keep, row).level == 2


@pytest.mark.parametrize("text", SAID)
def test_nothing_forgotten_comes_back(keep: Keep, text: str) -> None:
    keep.tombstones.add([], statements=[("p1", text, T0_MS + 10)])
    later = said(text, at=11)
    rows = [said(text), said(text, project="p2"), later]
    assert keep.write(rows) == rows[1:] and indexed(keep) == {row.id for row in rows[1:]}
    assert keep.write([replace(later, pinned=True)]) and stored(keep, later).pinned  # what is there may change
    by_hand = said(text, source="")
    assert keep.write([by_hand]) == [by_hand]  # somebody's word of now


def test_what_stands_for_a_session_is_made_of_the_turns_that_are_left(keep: Keep) -> None:
    keep.tombstones.add(["sum", "top", "turn"])
    keep.tombstones.record_retention(Category.CONVERSATION, T0_MS + 1, 1)
    made = new_memory("sum", "daily", Kind.SESSION_SUMMARY, SAID[0], T0_MS, project_id="p1", source_ids=("e2",))
    turn = new_memory("turn", Category.CONVERSATION, Kind.TURN, SAID[2], T0_MS, project_id="p1", source_ids=("e2",))
    assert keep.write([made, turn, topic("top", SAID[1])]) == [made, turn]


def test_a_draft_that_fails_writes_nothing(keep: Keep) -> None:
    with pytest.raises(ZeroDivisionError), keep.draft() as draft:
        draft.put(said(SAID[0]))
        1 / 0  # noqa: B018
    assert keep.store.memories() == [] and keep.take_change() == NO_CHANGE


def test_a_draft_knows_its_own_rows(keep: Keep) -> None:
    older, new = said(SAID[0]), said("배포는 목요일에 한다.", at=5)
    keep.write([older])
    with keep.draft() as draft:
        draft.put(new)
        draft.replace([older, new], new)
        assert [row.superseded_by for row in draft.get([older.id, new.id])] == [new.id, ""]
    assert indexed(keep) == {new.id} and stored(keep, older).ended_because is Ended.REPLACED


def test_other_words_leave_a_history_and_a_fold_opens_again(keep: Keep) -> None:
    note, folded = said(SAID[0]), said(SAID[1])
    keep.write([note, folded.ended(Ended.FOLDED, T0_MS, note.id)])
    with keep.draft() as draft:
        draft.reword(note, replace(note, text=SAID[2]), T0_MS + 9)
    [older] = keep.store.memories(MemoryQuery(superseded_by=[note.id], is_current=False, kind=Kind.FACT, limit=1))
    assert (older.text, older.ended_because) in {(SAID[0], Ended.REWORDED), (SAID[1], Ended.FOLDED)}
    with keep.draft() as draft:
        draft.retire(stored(keep, note), Ended.LET_GO, T0_MS + 10)
    assert not stored(keep, note).holds and stored(keep, folded).holds and indexed(keep) == {folded.id}


def topic(name: str, text: str) -> Memory:
    return new_memory(name, "daily", Kind.TOPIC, text, T0_MS, project_id="p1", source_ids=("e1",))


def test_a_source_that_is_read_again_ends_its_own_memories_alone(keep: Keep) -> None:
    first, second = topic("a", SAID[0]), topic("b", SAID[1])
    renewed = lambda *rows: keep.renew(rows, topic_memories(keep.store, "p1", is_current=None), Ended.REGROUPED, 9)  # noqa: E731
    assert renewed(first, second) == [first, second] and renewed(first, second) == []
    assert [row.ended_because for row in renewed(first)] == [Ended.REGROUPED] and indexed(keep) == {"a"}
    assert renewed(first, second) == [second]  # its own end is undone
    # A person's end and pin stay, the end until the source says something else.
    keep.write([second.ended(Ended.LET_GO, 10), replace(first, pinned=True)])
    assert renewed(first, second) == [] and indexed(keep) == {"a"}
    assert [row.holds for row in renewed(first, replace(second, text=SAID[2]))] == [True]
    assert stored(keep, first).pinned


@pytest.mark.parametrize("method", ["put_chunks", "drop_chunks", "put_memories"])
def test_a_memory_that_is_renewed_is_never_out_of_the_index(
    keep: Keep, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def fail(*arguments: object) -> None:
        raise StoreError("the power is gone")

    keep.write([row := said(SAID[0])])
    with monkeypatch.context() as patched, pytest.raises(StoreError):
        patched.setattr(keep.store, method, fail)
        keep.write([replace(row, text=SAID[2])])
    assert indexed(keep) == {row.id} and stored(keep, row).text == SAID[0]


def test_what_is_lent_goes_without_a_tombstone(keep: Keep) -> None:
    rows = [said(SAID[0]), said(SAID[1], project="p2")]
    keep.write(rows)
    keep.take_change()
    keep.erase_lent(rows[1:])
    assert keep.store.memories() == rows[:1] and keep.take_change().project_ids == {"p2"}
    assert keep.write(rows) == rows[1:]
