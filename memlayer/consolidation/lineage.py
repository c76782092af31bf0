"""The lineage of a memory: its successors, earlier wordings and turn.

A memory that another one replaced keeps its own id. An earlier wording of the same memory (edited, or said again in
other words) is a row beside it, whose key is the memory's key and four more characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memlayer.edge.capture.spool import event_id
from memlayer.kinds import Category, Ended
from memlayer.model import Memory, citation_of, replace
from memlayer.ports import MemoryQuery, Store

MAX_VERSIONS = 1000
MAX_TURNS = 10_000


def head(store: Store, memory: Memory) -> Memory:
    """The memory that holds in place of this one, or itself."""
    return head_of(memory, lambda memory_id: next(iter(store.memories(MemoryQuery(ids=[memory_id]))), None))


def head_of(memory: Memory, by_id: Callable[[str], Memory | None]) -> Memory:
    """The same for memories at hand."""
    seen = {memory.id}
    while memory.superseded_by and memory.superseded_by not in seen:
        newer = by_id(memory.superseded_by)
        if newer is None:
            break
        memory = newer
        seen.add(memory.id)
    return memory


def before(store: Store, memory: Memory) -> list[Memory]:
    """Return the memories that this one replaced, directly or not, newest first."""
    by_id: dict[str, Memory] = {}
    wanted = [memory.id]
    while wanted and len(by_id) < MAX_VERSIONS:
        older = store.memories(MemoryQuery(superseded_by=wanted, limit=MAX_VERSIONS))
        older = [row for row in older if row.id not in by_id]
        by_id.update((row.id, row) for row in older)
        wanted = [row.id for row in older]
    return sorted(by_id.values(), key=lambda row: (row.ended_ms, row.at_ms), reverse=True)


def own_turn(store: Store, memory: Memory) -> Memory | None:
    """The turn that a memory was drawn from, the newest of several.

    Itself for a turn. A memory remembered by hand has the last turn before it in its session, if it names one.
    """
    if memory.category == Category.CONVERSATION:
        return memory
    turns = (
        store.memories(MemoryQuery(source_ids=memory.source_ids, category=Category.CONVERSATION))
        if memory.source_ids
        else []
    )
    of_prompt = [row for row in turns if (row.session_id, row.prompt_id) == (memory.session_id, memory.prompt_id)]
    if not turns and memory.session_id:
        turns = store.memories(
            MemoryQuery(session_id=memory.session_id, category=Category.CONVERSATION, limit=MAX_TURNS)
        )
        turns = [row for row in turns if row.at_ms <= memory.at_ms] or turns[-1:]
    return max(of_prompt or turns, key=lambda row: row.at_ms, default=None)


def turns_around(store: Store, turn: Memory, each_side: int) -> list[Memory]:
    """A turn with its neighbours in its session, oldest first."""
    if not turn.session_id:
        return []
    turns = store.memories(MemoryQuery(session_id=turn.session_id, category=Category.CONVERSATION, limit=MAX_TURNS))[
        ::-1
    ]
    place = next((at for at, row in enumerate(turns) if row.id == turn.id), None)
    return turns[max(0, place - each_side) : place + each_side + 1] if place is not None else []


def earlier_wording(memory: Memory, text: str, until_ms: int) -> Memory:
    """The row that keeps an earlier wording of `memory`.

    until_ms: when that ended. The same wording that ended at the same moment is the same row.
    """
    key = event_id(memory.id, text, "wording", str(until_ms))
    return replace(
        memory,
        id=key,
        key="%s_%s" % (memory.key, key[:4]),
        citation=citation_of(key),
        text=text,
        pinned=False,
    ).ended(Ended.REWORDED, until_ms, memory.id)


def is_wording_of(older: Memory, newer: Memory) -> bool:
    """True for an earlier wording of `newer`, no memory of its own."""
    return older.ended_because is Ended.REWORDED and older.superseded_by == newer.id


def folded_under(store: Store, ids: Sequence[str]) -> list[Memory]:
    """Return statements that ending notes had said, too, in force again."""
    rows = store.memories(MemoryQuery(superseded_by=ids, limit=MAX_VERSIONS)) if ids else []
    return [row.again() for row in rows if row.ended_because is Ended.FOLDED]
