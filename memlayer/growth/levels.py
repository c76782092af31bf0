"""Levels L0 to L4 of a memory, from counted facts.

The criteria are those of claude-memory-layer's graduation. A level holds as long as its last use is young enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from memlayer.model import PROVEN

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
