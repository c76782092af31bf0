"""The notes of a first prompt are read and weighed before it, and anew after a change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from memlayer.consolidation.extractor import SESSION_READER
from memlayer.indexing.term_stats import TermStats
from memlayer.kinds import Category, Kind
from memlayer.model import Memory
from memlayer.ports import ANY_MEMORY, Holding, MemoryQuery
from memlayer.recall import project_notes
from memlayer.recall.candidate import AT_START, Reason, in_context, whole_chunk
from memlayer.recall.project_notes import (
    LATER_LINES,
    MAX_LINES,
    START_AND_FIRST_CHARS,
    ProjectNotes,
    first_block,
    later_budget,
)
from memlayer.recall.query import reduce_prompt
from memlayer.records.sessions import Session
from memlayer.text.context_block import Budget, entry_lines
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import make_memory

TEXTS = ("결제는 포트원으로 한다.", "Deploys are on Tuesday.", "push_sessions는 pre-push hook에서만 부른다.")


class CountedStats(TermStats):
    """Statistics that count the terms weighed."""

    weighed = 0

    def weights(self, terms: Iterable[str], project: Holding | None = None) -> dict[str, float]:
        found = super().weights(terms, project)
        self.weighed += len(found)
        return found


class BusyStore(MemoryStore):
    """A store in which a note is written while the notes are read, once."""

    notes: ProjectNotes | None = None

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        rows = super().memories(query)
        if self.notes is not None:
            notes, self.notes = self.notes, None
            self.put_memories([note(9, "캐시는 45초 뒤에 버린다.")])
            notes.refresh("p1")
        return rows


def note(number: int, text: str) -> Memory:
    return replace(make_memory(number, text), category=Category.CORE, kind=Kind.DECISION, settled=SESSION_READER)


def stored(store: MemoryStore) -> MemoryStore:
    store.put_memories([note(number, text) for number, text in enumerate(TEXTS)])
    return store


def test_loaded_notes_are_not_weighed_again() -> None:
    stats = CountedStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    notes.of("p1")
    stats.weighed = 0
    query = reduce_prompt("결제는 뭐로 하지?")
    chosen = notes.choose(query, "p1", None)
    assert "포트원" in chosen[0].snippet or "포트원" in chosen[0].chunk.text
    assert stats.weighed == len(set(query.terms))


def test_notes_changed_while_they_are_read_are_read_again() -> None:
    store = BusyStore()
    notes = ProjectNotes(stored(store), TermStats())
    store.notes = notes
    assert len(notes.of("p1")) == len(TEXTS)
    assert len(notes.of("p1")) == len(TEXTS) + 1


def test_notes_are_weighed_anew_in_a_grown_corpus() -> None:
    stats = TermStats()
    notes = ProjectNotes(stored(MemoryStore()), stats)
    before = notes.of("p1")
    for number in range(project_notes.MIN_GROWTH):
        stats.add("c%d" % number, ["결제"])
    assert notes.of("p1") is before
    stats.add("last", ["결제"])
    after = notes.of("p1")
    assert {row.memory.id for row in after} == {row.memory.id for row in before}
    assert [row.weight for row in after] != [row.weight for row in before]


def test_note_says_that_its_files_changed() -> None:
    store = stored(MemoryStore())
    [moved, *_] = ProjectNotes(store, TermStats()).of("p1")
    notes = ProjectNotes(store, TermStats(), lambda project_id: {moved.memory.id: "its file changed since"})
    chosen = {row.chunk.memory_id: row.snippet for row in notes.choose(reduce_prompt("결제 포트원 배포"), "p1", None)}
    assert chosen[moved.memory.id].startswith("(decision; its file changed since) ")
    assert sum("changed since" in text for text in chosen.values()) == 1


def test_later_prompt_has_two_lines_at_most() -> None:
    assert later_budget(Budget()).max_entries == LATER_LINES == 2
    assert later_budget(Budget(max_entries=1)).max_entries == 1


@pytest.mark.parametrize("place", [0, 1])
def test_note_of_the_start_is_given_to_no_prompt_again(place: int) -> None:
    notes = ProjectNotes(stored(MemoryStore()), TermStats())
    row = next(row.memory for row in notes.of("p1") if row.memory.text == TEXTS[place])
    session = Session("s2", shown=[AT_START + row.citation])
    query = reduce_prompt(TEXTS[place])
    assert row.id in {one.chunk.memory_id for one in notes.choose(query, "p1", None)}
    assert row.id not in {one.chunk.memory_id for one in notes.choose(query, "p1", session)}
    assert in_context(whole_chunk(row), session) is Reason.SHOWN  # at a later prompt, too


@pytest.mark.parametrize("start_chars", [0, 900, 1200, 9000])
def test_start_and_first_prompt_take_two_thousand_characters(start_chars: int) -> None:
    store = MemoryStore()
    store.put_memories([note(number, ("결제 규칙 %d번은 " % number) + "포트원 정산 " * 30) for number in range(9)])
    session = Session("s2", start_chars=start_chars)
    chosen = ProjectNotes(store, TermStats()).choose(reduce_prompt("결제 규칙 정산 포트원"), "p1", session)
    kept, block = first_block(chosen, [], Budget(), session)
    assert kept and len(block) <= 1000
    assert len(block) + start_chars <= START_AND_FIRST_CHARS or start_chars == 9000  # a person's own, larger start


@pytest.mark.parametrize("start_chars", [0, 1200])
def test_lines_of_a_first_prompt_share_its_room(start_chars: int) -> None:
    store = MemoryStore()
    texts = ["결제 규칙 %d번은 " % number + "포트원 정산 " * 30 for number in range(5)]
    store.put_memories([note(number, text) for number, text in enumerate([*texts, "결제는 포트원으로."])])
    session = Session("s2", start_chars=start_chars, explained_ms=1)
    chosen = ProjectNotes(store, TermStats()).choose(reduce_prompt("결제 규칙 정산 포트원"), "p1", session)
    kept, block = first_block(chosen, [], Budget(), session)
    assert len(kept) == MAX_LINES and any(line.endswith("결제는 포트원으로.") for line in entry_lines(block))
    cut = {len(line) for line in entry_lines(block) if line.endswith("…")}
    assert len(cut) and max(cut) - min(cut) <= 20
    assert START_AND_FIRST_CHARS - 150 <= len(block) + max(start_chars, 1000) <= START_AND_FIRST_CHARS
