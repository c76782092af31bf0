"""The levels of core memories, by facts counted in the store."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.edge.capture.payload import RUN
from memlayer.growth.levels import Facts, grow
from memlayer.kinds import Author
from memlayer.model import CITED, OPENED, SHOWN, Event, Memory, Usage, replace
from memlayer.ports import Store, UsageQuery, notes_in_force
from memlayer.records.usages import MANY
from memlayer.turns import evidence
from memlayer.turns.remembered import BY_MODEL

# An access counts by what it proves: a note that was only shown may have been idle.
CONFIDENCE = {SHOWN: 0.5, OPENED: 0.9, CITED: 1.0}
SAID_AGAIN = 1.0
BY_HAND = "remember"
PART = 5_000  # ids of events in one question to the store
MAX_ROWS = 100_000
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SayingSessions:
    """The sessions that said a memory, by their first time.

    by_hand: a person asked to remember it. runs: prompts that nobody typed.
    """

    at_ms: Mapping[str, int] = field(default_factory=dict)
    by_hand: bool = False
    runs: Collection[str] = ()


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
    by_event: dict[str, Event] = {}
    for start in range(0, len(wanted), PART):
        part = wanted[start : start + PART]
        for event in store.events(ids=part, limit=len(part)):
            by_event[event.id] = replace(event, text="")
    return {memory.id: _said(by_event[row] for row in memory.source_ids if row in by_event) for memory in memories}


def _said(sources: Iterable[Event]) -> SayingSessions:
    at_ms: dict[str, int] = {}
    by_hand, runs = False, set[str]()
    for event in sources:
        at_ms[event.session_id] = min(event.at_ms, at_ms.get(event.session_id, event.at_ms))
        by_hand = by_hand or (event.kind == BY_HAND and event.detail != BY_MODEL)
        runs |= {event.prompt_id} if event.detail == RUN else set()
    return SayingSessions(at_ms, by_hand, runs)


def _is_evident(memory: Memory, occasions: SayingSessions) -> bool:
    """Return whether a person's words or a command's output prove a memory."""
    if memory.is_persons or occasions.by_hand:
        return True
    rows = evidence.from_json(memory.evidence)
    is_typed = any(row.speaker == evidence.PERSON and row.prompt_id not in occasions.runs for row in rows)
    is_run = any(row.speaker == evidence.TOOL for row in rows)
    return is_run or (is_typed and memory.by is not Author.UNCLEAR)


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
        has_evidence=_is_evident(memory, occasions),
    )
