"""An invented week, its needs, and what lines given in it are worth.

A week is a file of JSON: {about, sessions: [{session, at, turns: [{prompt, answer, minutes, calls}]}], needs: [{at,
fact, parts}], outdated: [{since, told, unless}]}. at, since: `session.number of the prompt`, from 1. A need is met by
what its session was given up to that prompt: whole where each part stands in it, by any of its patterns. A line is
outdated from `since` on where a `told` stands in it, no `unless`, and no mark of ours that says until when it held.
"""

import datetime
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memlayer.text.context_block import entry_lines

WHOLE, PARTLY, NOT = "whole", "partly", "not"
USEFUL, OTHER, OUTDATED = "useful", "other", "outdated"
_MARKED = re.compile(r"\((?:until|since changed)")

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """A prompt of the week. at_ms: Unix time; minutes: its work."""

    n: int
    session: str
    place: str
    at_ms: int
    prompt: str
    answer: str
    minutes: int
    calls: tuple[JsonObject, ...]


@dataclass(frozen=True)
class Need:
    """A fact that a prompt needs. parts: patterns, any of each."""

    place: str
    fact: str
    parts: tuple[re.Pattern[str], ...]

    def met(self, given: str) -> str:
        """Return how much of the fact stands in a text."""
        found = sum(bool(part.search(given)) for part in self.parts)
        return WHOLE if found == len(self.parts) else PARTLY if found else NOT


@dataclass(frozen=True)
class Outdated:
    """What must not be told from a prompt on."""

    since: str
    told: re.Pattern[str]
    unless: re.Pattern[str]


@dataclass(frozen=True)
class Week:
    """A week in order."""

    sessions: tuple[tuple[Turn, ...], ...]
    needs: tuple[Need, ...]
    outdated: tuple[Outdated, ...]

    @property
    def places(self) -> list[str]:
        return [turn.place for session in self.sessions for turn in session]


@dataclass(frozen=True)
class Given:
    """What a session was given. blocks: with each prompt."""

    turns: Sequence[Turn]
    start: str
    blocks: Sequence[str]


def load_week(path: Path) -> Week:
    """Load a week. Raises OSError, KeyError or ValueError."""
    data = json.loads(path.read_text("utf-8"))
    sessions, number = [], 0
    for row in data["sessions"]:
        at_ms, turns = int(datetime.datetime.fromisoformat(row["at"]).timestamp() * 1000), []
        for place, one in enumerate(row["turns"], 1):
            name, calls = "%s.%d" % (row["session"], place), tuple(one.get("calls", ()))
            turns.append(Turn(number, row["session"], name, at_ms, one["prompt"], one["answer"], one["minutes"], calls))
            at_ms, number = at_ms + (one["minutes"] + 1) * 60_000, number + 1
        sessions.append(tuple(turns))
    needs = tuple(Need(one["at"], one["fact"], tuple(map(_any, one["parts"]))) for one in data["needs"])
    outdated = tuple(Outdated(one["since"], _any(one["told"]), _any(one["unless"])) for one in data["outdated"])
    week = Week(tuple(sessions), needs, outdated)
    unknown = {row.place for row in needs} | {row.since for row in outdated}
    unknown -= set(week.places)
    if unknown:
        raise ValueError("no such prompts: %s" % ", ".join(sorted(unknown)))
    return week


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join("(?:%s)" % one for one in patterns), re.IGNORECASE)


def needs_met(week: Week, lived: Sequence[Given]) -> list[tuple[Need, str]]:
    """Return each need and how it was met."""
    told: dict[str, str] = {}
    for one in lived:
        text = one.start
        for turn, block in zip(one.turns, one.blocks, strict=True):
            text += "\n" + block
            told[turn.place] = text
    return [(need, need.met(told[need.place])) for need in week.needs]


def judged_lines(week: Week, one: Given) -> list[tuple[str, str, str]]:
    """Return (place, what it is worth, line) of all that a session was given; a start's place is 0."""
    order = {place: at for at, place in enumerate(week.places)}
    rows, first = [], order[one.turns[0].place]
    for number, block in enumerate([one.start, *one.blocks]):
        from_place = first + max(0, number - 1)
        due = [row for row in week.needs if from_place <= order[row.place] < first + len(one.turns)]
        for line in entry_lines(block):
            is_old = any(
                order[row.since] < from_place and row.told.search(line) and not row.unless.search(line)
                for row in week.outdated
            )
            is_useful = any(part.search(line) for row in due for part in row.parts)
            worth = OUTDATED if is_old and not _MARKED.search(line) else USEFUL if is_useful else OTHER
            rows.append(("%s.%d" % (one.turns[0].session, number), worth, line))
    return rows


def figures(week: Week, lived: Sequence[Given]) -> dict[str, int]:
    """Return the figures of a week."""
    met = Counter(how for _, how in needs_met(week, lived))
    rows = [row for one in lived for row in judged_lines(week, one)]
    lines = Counter((place.endswith(".0"), worth) for place, worth, _ in rows)
    blocks = [block for one in lived for block in one.blocks]
    return {
        "needs": len(week.needs),
        **{"needs " + how: met[how] for how in (WHOLE, PARTLY, NOT)},
        **{"lines at prompts, " + worth: lines[False, worth] for worth in (USEFUL, OTHER, OUTDATED)},
        **{"lines at starts, " + worth: lines[True, worth] for worth in (USEFUL, OTHER, OUTDATED)},
        "prompts with a block": sum(bool(block) for block in blocks),
        "characters of blocks": sum(map(len, blocks)),
        "characters of starts, mean": sum(len(one.start) for one in lived) // len(lived),
    }
