"""The story as values.

Sessions, their turns, and the memories that must or must not come back.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SEARCH_FILE, AGENT_FILE, READING_FILE = "search.json", "agent.json", "reading.json"


@dataclass(frozen=True)
class Expected:
    """The expectation of a context block.

    given: whether it is checked at all. words: all must stand in it; none: it must be empty.
    """

    given: bool = False
    words: tuple[str, ...] = ()

    def missing(self, block: str) -> str:
        """Return the fault of `block` in a few words.

        "" when it is as expected.
        """
        if not self.given:
            return ""
        if not self.words:
            return "something was given where nothing belongs" if block else ""
        absent = [word for word in self.words if word not in block]
        return "%s did not come back" % ", ".join(map(repr, absent)) if absent else ""


@dataclass(frozen=True)
class Turn:
    """One prompt and its answer.

    why: the point of the prompt, for the person who watches.
    """

    prompt: str
    answer: str
    why: str
    expected: Expected


@dataclass(frozen=True)
class Session:
    """One run of the host.

    folder: where in the project it is started. never_kept: texts that must not reach the disk.
    """

    id: str
    title: str
    project: str
    folder: str
    begins_with: Expected
    turns: tuple[Turn, ...]
    end: str
    never_kept: tuple[str, ...]


@dataclass(frozen=True)
class Search:
    """A search that the person makes by hand in the end."""

    project: str
    words: str
    expected: Expected


@dataclass(frozen=True)
class Reading:
    """A session that a model reads, its scripted answer, and the session after it.

    refused: words of notes that must not be kept.
    """

    session: Session
    answer: str
    refused: tuple[str, ...]
    next: Session


def load_sessions(folder: Path) -> list[Session]:
    """Return the sessions of the story's folder.

    In the order of their file names.
    """
    files = sorted(path for path in folder.glob("*.json") if path.name not in (SEARCH_FILE, AGENT_FILE, READING_FILE))
    return [_session(json.loads(path.read_text(encoding="utf-8"))) for path in files]


def load_search(folder: Path, name: str = SEARCH_FILE) -> Search:
    """The search of the story's folder, or the prompt for the agent."""
    told = json.loads((folder / name).read_text(encoding="utf-8"))
    return Search(told["project"], told["words"], _expected(told["expect"]))


def load_reading(folder: Path) -> Reading:
    """Return the reading of the story's folder. Raises OSError."""
    told = json.loads((folder / READING_FILE).read_text(encoding="utf-8"))
    answer = json.dumps(told["answer"], ensure_ascii=False)
    return Reading(_session(told["session"]), answer, tuple(told["refused"]), _session(told["next"]))


def _session(told: dict[str, Any]) -> Session:
    turns = tuple(
        Turn(turn["prompt"], turn["answer"], turn.get("why", ""), _expected(turn.get("expect")))
        for turn in told["turns"]
    )
    return Session(
        id=told["session"],
        title=told["title"],
        project=told["project"],
        folder=told.get("folder", ""),
        begins_with=_expected(told.get("begins_with")),
        turns=turns,
        end=told["end"],
        never_kept=tuple(told.get("never_kept", ())),
    )


def _expected(told: list[str] | str | None) -> Expected:
    """A list of words, "nothing", or None for no expectation."""
    if told is None:
        return Expected()
    return Expected(True) if told == "nothing" else Expected(True, tuple(told))
