"""A set of real sessions, its labels and its scores.

The scores are of the notes that its prompts were given. A set is a file of JSON lines {n, session, at, prompt, answer},
one turn a line, in order; it stays outside the repository. Its labels are {n: {need, turns: {m: value}}}: need 0
nothing from earlier sessions is needed, 1 it would help, 2 the prompt depends on it; value of an earlier turn m: 2
useful, 1 same matter, 0 noise (turns without a value count as noise).
"""

import datetime
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROUNDS = 1000  # of the bootstrap
LOW, HIGH = 0.05, 0.95
TURN_MS = 120_000


@dataclass(frozen=True)
class Turn:
    """One prompt and how its answer ended. at_ms: Unix time in milliseconds."""

    n: int
    session: str
    at_ms: int
    prompt: str
    answer: str


@dataclass(frozen=True)
class Label:
    """The judgement of one prompt.

    turns: earlier turn -> 0, 1 or 2.
    """

    need: int
    turns: Mapping[int, int]

    @property
    def is_due(self) -> bool:
        return self.need == 2 and 2 in self.turns.values()


@dataclass(frozen=True)
class Given:
    """The notes of one prompt.

    entries: for each entry the turns that it comes from.
    """

    turn: Turn
    entries: tuple[frozenset[int], ...]
    chars: int
    took_ms: float


def load_turns(path: Path) -> list[Turn]:
    """Load the turns of a set.

    Raises OSError, KeyError or ValueError on a file that is none. A set has one time a session: its turns are set
    TURN_MS apart, so that their order is known.
    """
    turns = [_turn(json.loads(line)) for line in path.read_text("utf-8").splitlines() if line.strip()]
    heard: Counter[str] = Counter()
    apart = []
    for one in turns:
        apart.append(replace(one, at_ms=one.at_ms + TURN_MS * heard[one.session]))
        heard[one.session] += 1
    return apart


def load_labels(path: Path) -> dict[int, Label]:
    """Load prompt -> label.

    Raises OSError, KeyError or ValueError on a file that is none.
    """
    data = json.loads(path.read_text("utf-8"))
    return {
        int(n): Label(int(one["need"]), {int(m): int(value) for m, value in one["turns"].items()})
        for n, one in data.items()
    }


def score(given: Sequence[Given], labels: Mapping[int, Label]) -> dict[str, float]:
    """Return the figures of a run, mostly in percent.

    All but `characters` and `entries` (a prompt, over all prompts).
    """
    judged = [one for one in given if one.turn.n in labels]
    values = [_value(entry, labels[one.turn.n]) for one in judged for entry in one.entries]
    due = [one for one in judged if labels[one.turn.n].is_due]
    idle = [one for one in judged if labels[one.turn.n].need == 0]
    return {
        "useful": _percent(values.count(2), len(values)),
        "same matter": _percent(values.count(1), len(values)),
        "noise": _percent(values.count(0), len(values)),
        "met": _percent(sum(_is_met(one, labels) for one in due), len(due)),
        "silent": _percent(sum(not one.entries for one in idle), len(idle)),
        "given": _percent(sum(bool(one.entries) for one in given), len(given)),
        "entries": sum(len(one.entries) for one in given) / max(1, len(given)),
        "characters": sum(one.chars for one in given) / max(1, len(given)),
    }


def spread(given: Sequence[Given], labels: Mapping[int, Label]) -> dict[str, tuple[float, float]]:
    """Return figure -> its 5th and 95th percentile.

    Over whole sessions drawn with replacement (Efron 1979).
    """
    by_session: dict[str, list[Given]] = {}
    for one in given:
        by_session.setdefault(one.turn.session, []).append(one)
    names, chance = list(by_session), random.Random(7)
    runs = [
        score([one for name in chance.choices(names, k=len(names)) for one in by_session[name]], labels)
        for _ in range(ROUNDS)
    ]
    return {name: _interval([run[name] for run in runs]) for name in runs[0]}


def _value(entry: frozenset[int], label: Label) -> int:
    return max((label.turns.get(turn, 0) for turn in entry), default=0)


def _is_met(one: Given, labels: Mapping[int, Label]) -> bool:
    return any(_value(entry, labels[one.turn.n]) == 2 for entry in one.entries)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _interval(values: list[float]) -> tuple[float, float]:
    values.sort()
    at: Callable[[float], float] = lambda share: values[min(len(values) - 1, int(share * len(values)))]  # noqa: E731
    return at(LOW), at(HIGH)


def _turn(row: Mapping[str, Any]) -> Turn:
    at = datetime.datetime.fromisoformat(row["at"].replace("Z", "+00:00"))
    return Turn(int(row["n"]), row["session"], int(at.timestamp() * 1000), row["prompt"], row["answer"])
