"""The evaluation set: turns of projects, and probes about them.

It is under evals/data/dialogues.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parent.parent / "evals" / "data" / "dialogues"
MINUTE_MS = 60_000
DAY_MS = 86_400_000
TURN_EVERY_MS = 7 * MINUTE_MS
ANSWERED_AFTER_MS = 2 * MINUTE_MS

CATEGORIES = (
    "korean", "english", "mixed", "cross_ko_en", "cross_en_ko", "identifier", "changed_fact", "follow_up",
    "repeated_question", "pasted_log", "long_prompt", "command", "small_talk", "off_topic", "never_discussed",
    "other_project",
)  # fmt: skip
LANGUAGES = ("ko", "en", "mixed")


@dataclass(frozen=True)
class Turn:
    """One prompt and its answer.

    The answer is "" when the host died first. id: `<project>/<name>`. at_ms: of the prompt, in the set's own calendar.
    Here and below `session` is a session's id in the set.
    """

    id: str
    session: str
    prompt: str
    answer: str
    at_ms: int


@dataclass(frozen=True)
class Probe:
    """One question to ask.

    any_of: one of these strings must stand in the block; all_of: each of them. silence: nothing may come back.
    forbid: strings not allowed there, see dialogue_judge. source, forbid_source: ids of the turns that hold the two.
    context: (prompt, answer) of the turns before it in the same live session.
    """

    id: str
    project: str
    split: str
    category: str
    language: str
    prompt: str
    silence: bool
    any_of: tuple[str, ...]
    all_of: tuple[str, ...]
    forbid: tuple[str, ...]
    source: str
    forbid_source: str
    context: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Project:
    """One file of the set."""

    name: str
    split: str
    turns: tuple[Turn, ...]
    probes: tuple[Probe, ...]


def load(folder: Path = FOLDER) -> list[Project]:
    """Load every project, by name.

    Raises KeyError, TypeError or ValueError on a file that is not well-formed.
    """
    return [_project(yaml.safe_load(path.read_text("utf-8"))) for path in sorted(folder.glob("*.yaml"))]


def chosen(projects: Iterable[Project], split: str, categories: Iterable[str], ids: Iterable[str] = ()) -> list[Probe]:
    """Return the probes of a split, of these categories and ids.

    "all": both splits; no category or id named: any.
    """
    kinds, names = set(categories), set(ids)
    return [
        probe
        for project in projects
        for probe in project.probes
        if split in ("all", probe.split) and (not kinds or probe.category in kinds) and (not names or probe.id in names)
    ]


def last_ms(projects: Iterable[Project]) -> int:
    """When the last turn of the set was, in its own calendar."""
    return max(turn.at_ms for project in projects for turn in project.turns)


def shift_ms(projects: Iterable[Project], now_ms: int) -> int:
    """Return the shift of each at_ms to the present.

    With it the last turn was yesterday, at the same time of day.
    """
    return (now_ms - DAY_MS - last_ms(projects)) // DAY_MS * DAY_MS


def _project(data: dict[str, Any]) -> Project:
    name = _text(data, "project")
    turns = []
    for session in data["sessions"]:
        started_ms = _at_ms(session["at"])
        for place, turn in enumerate(session["turns"]):
            _only(turn, "id", "prompt", "answer")
            turns.append(
                Turn(
                    id="%s/%s" % (name, turn.get("id") or "%s.%d" % (session["id"], place + 1)),
                    session=session["id"],
                    prompt=_text(turn, "prompt"),
                    answer=_text(turn, "answer"),
                    at_ms=started_ms + place * TURN_EVERY_MS,
                )
            )
    probes = tuple(_probe(name, data["split"], one) for one in data["probes"])
    return Project(name, _text(data, "split"), tuple(turns), probes)


def _probe(project: str, split: str, data: dict[str, Any]) -> Probe:
    _only(
        data, "id", "category", "language", "prompt", "silence", "expect", "forbid", "from", "forbid_from", "context"
    )  # fmt: skip
    expect = data.get("expect", {})
    _only(expect, "any_of", "all_of")
    return Probe(
        id=_text(data, "id"),
        project=project,
        split=split,
        category=_text(data, "category"),
        language=_text(data, "language"),
        prompt=_text(data, "prompt"),
        silence=data.get("silence", False) is True,
        any_of=_texts(expect.get("any_of", [])),
        all_of=_texts(expect.get("all_of", [])),
        forbid=_texts(data.get("forbid", [])),
        source=_turn_id(project, data.get("from", "")),
        forbid_source=_turn_id(project, data.get("forbid_from", "")),
        context=tuple((_text(one, "prompt"), _text(one, "answer")) for one in data.get("context", [])),
    )


def _turn_id(project: str, name: str) -> str:
    return name if "/" in name or not name else "%s/%s" % (project, name)


def _at_ms(moment: object) -> int:
    return int(time.mktime(time.strptime(str(moment), "%Y-%m-%d %H:%M")) * 1000)


def _only(data: dict[str, Any], *names: str) -> None:
    unknown = set(data) - set(names)
    if unknown:
        raise ValueError("unknown %s in %r" % (sorted(map(str, unknown)), str(data)[:100]))


def _text(data: dict[str, Any], name: str) -> str:
    if not isinstance(data[name], str):
        raise TypeError("%s is no text: %r" % (name, data[name]))
    return str(data[name])


def _texts(values: list[object]) -> tuple[str, ...]:
    for value in values:
        if not isinstance(value, str):
            raise TypeError("not a text: %r" % (value,))
    return tuple(str(value) for value in values)
