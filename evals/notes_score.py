"""Scores of what sessions were given, against what they would have needed.

A file of starts has {starts: {session: [{fact, turn, by}]}, needs: {n: {turns}}}: facts that would have helped a
session at its start, each said in an earlier turn, and prompts that needed something of earlier turns. A fact counts as
given where a line comes from its turn; that is stricter than reading.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.notes_play import SUMMARY, Line, Lived
from evals.notes_recorded import Asked


@dataclass(frozen=True)
class Fact:
    """Something that a session would have needed. turn: that says it."""

    text: str
    turn: int
    by: str


@dataclass(frozen=True)
class Starts:
    """The facts of each session by name, and the turns that prompts needed."""

    facts: Mapping[str, Sequence[Fact]]
    needs: Mapping[int, frozenset[int]]


def load_starts(path: Path) -> Starts:
    """Load starts; raises OSError, KeyError or ValueError."""
    data = json.loads(path.read_text("utf-8"))
    facts = {
        name: [Fact(row["fact"], int(row["turn"]), row["by"]) for row in rows] for name, rows in data["starts"].items()
    }
    return Starts(facts, {int(n): frozenset(map(int, row["turns"])) for n, row in data["needs"].items()})


@dataclass(frozen=True)
class Met:
    """A fact, and where it was when its session began."""

    fact: Fact
    is_noted: bool
    is_given: bool  # by the start or the first prompt's notes, in a line that is no summary
    is_at_start: bool  # by the start alone
    is_summarised: bool  # in a summary alone


def facts_of(lived: Lived, starts: Starts) -> list[Met]:
    """Return the facts that a session would have needed."""
    first = (*lived.start_lines, *(lived.block_lines[0] if lived.block_lines else ()))
    stated, summed = _turns(first, is_summary=False), _turns(first, is_summary=True)
    at_start = _turns(lived.start_lines, is_summary=False)
    return [
        Met(
            fact,
            fact.turn in lived.noted,
            fact.turn in stated,
            fact.turn in at_start,
            fact.turn in summed and fact.turn not in stated,
        )
        for fact in starts.facts.get(lived.turns[0].session, ())
    ]


def needs_of(lived: Lived, starts: Starts) -> list[tuple[int, bool, bool]]:
    """Return (prompt, whether noted, whether given by then) of each need."""
    rows = []
    for place, turn in enumerate(lived.turns):
        wanted = starts.needs.get(turn.n)
        if wanted:
            lines = [*lived.start_lines, *(line for block in lived.block_lines[: place + 1] for line in block)]
            given = _turns(lines, is_summary=False)
            rows.append((turn.n, bool(wanted & lived.noted), bool(wanted & given)))
    return rows


def score(sessions: Sequence[Lived], starts: Starts, asked: Sequence[Asked]) -> dict[str, float]:
    """Return the figures of these sessions; shares are percent."""
    facts = [met for lived in sessions for met in facts_of(lived, starts)]
    needs = [need for lived in sessions for need in needs_of(lived, starts)]
    noted = [met for met in facts if met.is_noted]
    chars = [len(lived.start) for lived in sessions]
    first = [len(lived.blocks[0]) for lived in sessions if lived.blocks]
    both = [len(lived.start) + len(lived.blocks[0]) for lived in sessions if lived.blocks]
    later = [bool(block) for lived in sessions for block in lived.blocks[1:]]
    places = {lived.place for lived in sessions}
    tokens = [_tokens_of(place, asked) for place in sorted(places)]
    read = [row for row in tokens if row != (0, 0)]
    return {
        "sessions": len(sessions),
        "facts needed": len(facts),
        "of them in the notebook": len(noted),
        "given": sum(met.is_given for met in facts),
        "given by the start": sum(met.is_at_start for met in facts),
        "given of those in the notebook": sum(met.is_given for met in noted),
        "share of those in the notebook, %": _percent(sum(met.is_given for met in noted), len(noted)),
        "in a summary alone": sum(met.is_summarised for met in facts),
        "needs of prompts": len(needs),
        "of them in the notebook (needs)": sum(is_noted for _, is_noted, _ in needs),
        "needs met": sum(is_met for _, _, is_met in needs),
        "notes in force, mean": _mean([lived.noted_lines for lived in sessions]),
        "notes in force, max": max((lived.noted_lines for lived in sessions), default=0),
        "characters of a start, p50": _quantile(chars, 0.5),
        "characters of a start, p95": _quantile(chars, 0.95),
        "characters of a start, max": max(chars, default=0),
        "characters of a first prompt's notes, mean": _mean(first),
        "characters of a first prompt's notes, max": max(first, default=0),
        "characters of both, mean": _mean(both),
        "characters of both, max": max(both, default=0),
        "later prompts with notes, %": _percent(sum(later), len(later)),
        "sessions read": len(read),
        "tokens in, p50": _quantile([tokens_in for tokens_in, _ in read], 0.5),
        "tokens in, p95": _quantile([tokens_in for tokens_in, _ in read], 0.95),
        "tokens out, p50": _quantile([tokens_out for _, tokens_out in read], 0.5),
        "tokens out, p95": _quantile([tokens_out for _, tokens_out in read], 0.95),
    }


def kinds(sessions: Iterable[Lived]) -> dict[str, tuple[int, int, int]]:
    """Return kind of line -> how many at starts, first and later prompts."""
    at_starts: Counter[str] = Counter()
    at_first: Counter[str] = Counter()
    later: Counter[str] = Counter()
    for lived in sessions:
        at_starts.update(line.kind for line in lived.start_lines)
        for place, lines in enumerate(lived.block_lines):
            (later if place else at_first).update(line.kind for line in lines)
    every = at_starts + at_first + later
    return {kind: (at_starts[kind], at_first[kind], later[kind]) for kind, _ in every.most_common()}


def row_of(lived: Lived, starts: Starts, asked: Sequence[Asked]) -> dict[str, Any]:
    """Return a session as a row for reading."""
    tokens_in, tokens_out = _tokens_of(lived.place, asked)
    return {
        "session": lived.place,
        "name": lived.turns[0].session,
        "turn": lived.turns[0].n,
        "prompt": lived.turns[0].prompt,
        "start": lived.start,
        "first": lived.blocks[0] if lived.blocks else "",
        "start_lines": [[line.kind, source_of(line)] for line in lived.start_lines],
        "first_lines": [[line.kind, source_of(line)] for line in (lived.block_lines or ((),))[0]],
        "later": {turn.n: block for turn, block in zip(lived.turns[1:], lived.blocks[1:], strict=True) if block},
        "facts": [
            {
                "fact": met.fact.text, "turn": met.fact.turn, "by": met.fact.by, "noted": met.is_noted,
                "given": met.is_given, "summary": met.is_summarised,
            }
            for met in facts_of(lived, starts)
        ],
        "needs": [{"n": n, "noted": noted, "met": met} for n, noted, met in needs_of(lived, starts)],
        "notes_in_force": lived.noted_lines,
        "tokens_in": tokens_in,
        "tokens_out": tokens_out,
    }  # fmt: skip


def source_of(line: Line) -> int:
    """Return the newest turn that a line comes from, -1 for none."""
    return max(line.turns, default=-1)


def _turns(lines: Iterable[Line], *, is_summary: bool) -> frozenset[int]:
    return frozenset(turn for line in lines if (line.kind == SUMMARY) is is_summary for turn in line.turns)


def _tokens_of(place: int, asked: Sequence[Asked]) -> tuple[int, int]:
    rows = [row for row in asked if row.session == place]
    return sum(row.tokens_in for row in rows), sum(row.tokens_out for row in rows)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _mean(values: Sequence[int]) -> float:
    return sum(values) / max(1, len(values))


def _quantile(values: Sequence[int], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0
