"""Continuity of work from session to session, and its log.

The score is claude-memory-layer's, with Jaccard's measure.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from memlayer.edge.home import paths
from memlayer.topics.profile import Profile

FADES_MS = 48 * 3_600_000
SEAMLESS, SHIFT = 0.7, 0.4
FIRST_EVER = 0.5
TOP_TERMS = 40
MAX_LINES = 500  # of the log. The oldest go


class Transition(StrEnum):
    """How a session follows the one before it."""

    SEAMLESS = "seamless"
    TOPIC_SHIFT = "topic_shift"
    BREAK = "break"


@dataclass(frozen=True)
class ContinuityStep:
    """A line of the log: a step between sessions, without text."""

    project_id: str
    from_session: str
    to_session: str
    at_ms: int
    score: float
    transition: Transition


class Portions(NamedTuple):
    """Weights of a score's parts; their sum counts as 1."""

    topics: float = 0.3
    time: float = 0.3
    files: float = 0.2
    names: float = 0.2


USUAL = Portions()


def score(before: Profile | None, after: Profile, portions: Portions = USUAL) -> float:
    """Return the share of a session that goes on, in [0, 1]."""
    if before is None:
        return FIRST_EVER
    nearness = max(0.0, 1.0 - max(0, after.first_ms - before.last_ms) / FADES_MS)
    weighted = (
        portions.topics * _shared(_top(before), _top(after))
        + portions.time * nearness
        + portions.files * _shared(before.files, after.files)
        + portions.names * _shared(before.names, after.names)
    )
    return min(1.0, weighted / sum(portions))


def transition_of(value: float, *, is_first: bool = False) -> Transition:
    """Return the name of a score; the first session ever begins anew."""
    if is_first or value < SHIFT:
        return Transition.BREAK
    return Transition.SEAMLESS if value >= SEAMLESS else Transition.TOPIC_SHIFT


def steps(project_id: str, profiles: Sequence[Profile], portions: Portions = USUAL) -> list[ContinuityStep]:
    """Return the step to each session. profiles: oldest first."""
    made = []
    for before, after in zip([None, *profiles], profiles, strict=False):
        value = round(score(before, after, portions), 3)
        name = before.session_id if before is not None else ""
        transition = transition_of(value, is_first=before is None)
        made.append(ContinuityStep(project_id, name, after.session_id, after.first_ms, value, transition))
    return made


def _top(profile: Profile) -> frozenset[str]:
    return frozenset(term for term, _ in profile.terms.most_common(TOP_TERMS))


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard's measure; two empty sets share nothing."""
    return len(left & right) / len(left | right) if left and right else 0.0


def read_log(home: str) -> list[ContinuityStep]:
    """Return the steps on record, oldest first; unreadable lines are left out."""
    logged = []
    try:
        with open(paths.continuity(home), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    for line in lines:
        with contextlib.suppress(ValueError):
            logged.append(msgspec.json.decode(line, type=ContinuityStep))
    return logged


def write_log(home: str, new: Sequence[ContinuityStep]) -> None:
    """Add steps, each session's once and its last one. Raises OSError."""
    known = {(step.project_id, step.to_session): step for step in read_log(home)}
    known.update({(step.project_id, step.to_session): step for step in new})
    kept = sorted(known.values(), key=lambda step: step.at_ms)[-MAX_LINES:]
    paths.write_whole(paths.continuity(home), msgspec.json.Encoder().encode_lines(kept))
