"""Statements of turns that a conversation left, or went back to.

A statement that rests on such turns alone ends, and the one that it had replaced holds again. Words that the person
asked to keep, or edited since, are no part of a conversation and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memlayer.consolidation.conflicts import Conflicts, Draft
from memlayer.consolidation.lineage import earlier_wording, head_of
from memlayer.kinds import NOT_HELD, PERSONS, Category, Ended, Kind
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery, Store, events_by_id
from memlayer.turns.remembered import BY_MODEL

MAX_ROWS = 100_000


@dataclass(frozen=True)
class _Session:
    """A session's statements, and the turns that each rests on.

    None among the turns: somebody said it elsewhere, too.
    """

    rows: tuple[Memory, ...]
    turns: dict[str, list[Memory | None]]

    def is_left(self, row: Memory) -> bool:
        turns = self.turns[row.id]
        return bool(turns) and all(turn is not None and turn.known_kind is Kind.REWOUND for turn in turns)

    def holds(self, row: Memory) -> bool:
        return any(turn is None or turn.known_kind not in NOT_HELD for turn in self.turns[row.id])


def follow(store: Store, conflicts: Conflicts, draft: Draft, session_id: str, now_ms: int) -> list[Memory]:
    """Bring statements in step with their turns' marks, in a draft.

    Twice is once. Return the session's turns.
    """
    turns = store.memories(MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=MAX_ROWS))
    session = _session(store, session_id, turns)
    left = {row.id: row for row in session.rows if session.is_left(row)}
    older = store.memories(MemoryQuery(superseded_by=list(left), limit=MAX_ROWS)) if left else []
    before: dict[str, str] = {}
    for row in older:
        by = head_of(left[row.superseded_by], left.get)
        if row.id not in left and row.ended_because in (Ended.REPLACED, Ended.FOLDED) and by.holds:
            before.setdefault(by.id, row.id)
            draft.put(row.again())
    draft.put(*(row.ended(Ended.TAKEN_BACK, now_ms, before.get(row.id, "")) for row in left.values() if row.holds))
    prompts = {turn.prompt_id for turn in turns if turn.known_kind is Kind.REWOUND}
    for row in session.rows:
        if row.ended_because is Ended.TAKEN_BACK and session.holds(row):
            conflicts.place_again(draft, row)
    _reword(store, draft, [row for row in session.rows if row.id not in left], prompts, now_ms)
    return turns


def _session(store: Store, session_id: str, turns: Sequence[Memory]) -> _Session:
    """Find the turns of a session's statements."""
    query = MemoryQuery(session_id=session_id, category=Category.CORE, limit=MAX_ROWS)
    rows = [row for row in store.memories(query) if row.kind != Kind.TASK and not row.pinned]
    rows = [row for row in rows if (row.rules or row.by not in PERSONS) and row.ended_because is not Ended.REWORDED]
    of_source: dict[str, Memory | None] = {source: turn for turn in turns for source in turn.source_ids}
    others = events_by_id(store, {source for row in rows for source in row.source_ids} - of_source.keys())
    for event in others.values():  # a model asked to keep them, and no turn names them
        ours = turns if event.detail == BY_MODEL and event.session_id == session_id else ()
        before = [turn for turn in ours if turn.at_ms <= event.at_ms]
        of_source[event.id] = max(before, key=lambda turn: turn.at_ms, default=None)
    return _Session(
        tuple(rows), {row.id: [of_source[name] for name in row.source_ids if name in of_source] for row in rows}
    )


def _reword(store: Store, draft: Draft, rows: Sequence[Memory], prompts: set[str], now_ms: int) -> None:
    """Give statements reworded in left prompts their wording of before."""
    worded = {row.id: row for row in rows if row.holds and row.prompt_id in prompts}
    older = store.memories(MemoryQuery(superseded_by=list(worded), limit=MAX_ROWS)) if worded else []
    for old in sorted(older, key=lambda old: old.ended_ms):
        if old.ended_because is Ended.REWORDED and old.prompt_id not in prompts:
            row = worded[old.superseded_by]
            again = replace(old.again(), id=row.id, key=row.key, citation=row.citation, source_ids=row.source_ids)
            draft.put(earlier_wording(row, row.text, now_ms), again)
