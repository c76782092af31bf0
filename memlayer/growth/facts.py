"""The levels of core memories, by facts counted in the store."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.growth.levels import Facts, grow
from memlayer.model import CITED, OPENED, SHOWN, Memory, Usage, replace
from memlayer.ports import Store, UsageQuery, notes_in_force
from memlayer.records.usages import MANY

# An access counts by what it proves: a note that was only shown may have been idle.
CONFIDENCE = {SHOWN: 0.5, OPENED: 0.9, CITED: 1.0}
SAID_AGAIN = 1.0
BY_HAND = "remember"
PART = 5_000  # ids of events in one question to the store
MAX_ROWS = 100_000
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SayingSessions:
    """The sessions that said a memory, by their first time."""

    at_ms: Mapping[str, int] = field(default_factory=dict)
    by_hand: bool = False


def renew(store: Store, now_ms: int, project_id: str = "") -> set[str]:
    """Write the levels that changed; return their projects. Raises StoreError."""
    memories = notes_in_force(store, project_id, MAX_ROWS)
    facts = facts_of(store, memories)
    grown = [(memory, int(grow(facts[memory.id], now_ms).level)) for memory in memories]
    changed = [replace(memory, level=level) for memory, level in grown if memory.level != level]
    if changed:
        store.put_memories(changed)
        log.info("levels changed: %d", len(changed))
    return {memory.project_id for memory in changed}


def facts_of(store: Store, memories: Sequence[Memory]) -> dict[str, Facts]:
    """Count the facts of memories, by id. Raises StoreError."""
    ids = [memory.id for memory in memories]
    uses: dict[str, list[Usage]] = {}
    for start in range(0, len(ids), PART):
        for use in store.usages(UsageQuery(memory_ids=ids[start : start + PART], limit=MANY)):
            uses.setdefault(use.memory_id, []).append(use)
    occasions = sessions_of(store, memories)
    return {memory.id: _facts(memory, uses.get(memory.id, ()), occasions[memory.id]) for memory in memories}


def sessions_of(store: Store, memories: Sequence[Memory]) -> dict[str, SayingSessions]:
    """Return the sessions of memories' source events, by memory id. Raises StoreError."""
    wanted = sorted({source for memory in memories for source in memory.source_ids})
    by_event: dict[str, tuple[str, int, str]] = {}
    for start in range(0, len(wanted), PART):
        part = wanted[start : start + PART]
        for event in store.events(ids=part, limit=len(part)):
            by_event[event.id] = event.session_id, event.at_ms, event.kind
    return {memory.id: _said(by_event[row] for row in memory.source_ids if row in by_event) for memory in memories}


def _said(sources: Iterable[tuple[str, int, str]]) -> SayingSessions:
    at_ms: dict[str, int] = {}
    by_hand = False
    for session_id, said_ms, kind in sources:
        at_ms[session_id] = min(said_ms, at_ms.get(session_id, said_ms))
        by_hand = by_hand or kind == BY_HAND
    return SayingSessions(at_ms, by_hand)


def _facts(memory: Memory, uses: Iterable[Usage], occasions: SayingSessions) -> Facts:
    """Count one access a session, the strongest of its kinds."""
    first = min(occasions.at_ms, key=lambda session: occasions.at_ms[session], default=memory.session_id)
    strongest = {session: SAID_AGAIN for session in occasions.at_ms if session != first}
    moments = [at_ms for session, at_ms in occasions.at_ms.items() if session != first]
    for use in uses:
        strongest[use.session_id] = max(CONFIDENCE.get(use.how, 0.0), strongest.get(use.session_id, 0.0))
        moments.append(use.at_ms)
    return Facts(
        strengths=(1.0,) * len(strongest) if memory.pinned else tuple(sorted(strongest.values(), reverse=True)),
        sessions=len(strongest.keys() - {"", first}),
        last_ms=max(moments, default=0),
        said=max(1, len(occasions.at_ms)),
        has_evidence=bool(memory.evidence) or occasions.by_hand or memory.pinned,
    )
