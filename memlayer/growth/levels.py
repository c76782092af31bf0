"""Levels L0 to L4 of a memory, from counted facts.

The criteria are those of claude-memory-layer's graduation. A level holds as long as its last use is young enough.
"""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from memlayer.edge.capture.payload import RUN
from memlayer.keep.keep import Keep
from memlayer.kinds import Author
from memlayer.model import CITED, OPENED, PROVEN, SHOWN, Event, Memory, Usage, replace
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
DAY_MS = 86_400_000


class Level(IntEnum):
    """How well proven a memory is; stored as its number."""

    RAW = 0
    STRUCTURED = 1
    CANDIDATE = 2
    VERIFIED = PROVEN
    ACTIVE = 4


class Criteria(NamedTuple):
    """The least that a level asks.

    sessions: beside the first. days: since the last access.
    """

    accesses: int
    confidence: float
    sessions: int
    days: int
    needs_evidence: bool = False


CRITERIA: dict[Level, Criteria] = {
    Level.STRUCTURED: Criteria(1, 0.5, 0, 30),
    Level.CANDIDATE: Criteria(3, 0.7, 1, 60, needs_evidence=True),
    Level.VERIFIED: Criteria(5, 0.85, 2, 90, needs_evidence=True),
    Level.ACTIVE: Criteria(10, 0.92, 3, 180, needs_evidence=True),
}


@dataclass(frozen=True)
class Facts:
    """All that a level is computed from.

    strengths: of the accesses, one a session that was shown it, opened, cited or said it again. The strongest first, 1
    for a pinned memory. sessions: of these beside the first one. last_ms: Unix time of the last access, 0 for none.
    said: sessions in which somebody said it. has_evidence: a person said or kept it, or a command showed it.
    """

    strengths: tuple[float, ...] = ()
    sessions: int = 0
    last_ms: int = 0
    said: int = 1
    has_evidence: bool = False

    @property
    def accesses(self) -> int:
        """The number of accesses."""
        return len(self.strengths)

    def confidence(self, accesses: int) -> float:
        """Return the mean of the strongest accesses."""
        best = self.strengths[:accesses]
        return round(sum(best) / len(best), 3) if best else 0.0


class Growth(NamedTuple):
    """A memory's level, and the first criterion that the next lacks."""

    level: Level
    reason: str


def grow(facts: Facts, now_ms: int) -> Growth:
    """Return the highest level whose criteria hold."""
    reasons = {level: _refusal(facts, criteria, now_ms) for level, criteria in CRITERIA.items()}
    level = max((level for level, reason in reasons.items() if not reason), default=Level.RAW)
    higher = next((candidate for candidate in CRITERIA if candidate > level), None)
    return Growth(level, "L%d: %s" % (higher, reasons[higher]) if higher is not None else "")


def _refusal(facts: Facts, criteria: Criteria, now_ms: int) -> str:
    """Return the first criterion that does not hold; "" if all do."""
    days = (now_ms - facts.last_ms) // DAY_MS
    if facts.accesses < criteria.accesses:
        return "used %d of %d times" % (facts.accesses, criteria.accesses)
    confidence = facts.confidence(criteria.accesses)
    if confidence < criteria.confidence:
        return "confidence %.2f of %.2f" % (confidence, criteria.confidence)
    if facts.sessions < criteria.sessions:
        return "used in %d of %d further sessions" % (facts.sessions, criteria.sessions)
    if days > criteria.days:
        return "last used %d days ago, more than %d" % (days, criteria.days)
    if criteria.needs_evidence and not facts.has_evidence:
        return "no words of a person and no output of a command prove it"
    return ""


@dataclass(frozen=True)
class SayingSessions:
    """The sessions that said a memory, by their first time.

    by_hand: a person asked to remember it. runs: prompts that nobody typed.
    """

    at_ms: Mapping[str, int] = field(default_factory=dict)
    by_hand: bool = False
    runs: Collection[str] = ()


def renew(keep: Keep, now_ms: int, project_id: str = "") -> None:
    """Write the levels that changed. Raises StoreError."""
    memories = notes_in_force(keep.store, project_id, MAX_ROWS)
    facts = facts_of(keep.store, memories)
    changed = keep.write(replace(row, level=int(grow(facts[row.id], now_ms).level)) for row in memories)
    log.info("levels changed: %d", len(changed))


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
