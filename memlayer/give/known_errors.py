"""Errors that a project has met, and the calls that worked then.

Nothing may have changed between a failed call and one that worked but the call itself: behind an edit it is the edit
that helped.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memlayer.edge.capture.tool_use import EDITS
from memlayer.model import Event, Memory
from memlayer.ports import Store, notes_in_force
from memlayer.turns.error_lines import signatures
from memlayer.turns.outcome import call_of

MAX_EVENTS = 20_000  # tool calls of a project, the newest
MAX_NOTES = 2000
LOOKED_AHEAD = 6  # calls after a failure
# Of the words of the failed command, and of the other one, so many are shared.
SHARED_WORDS, SHARED_OF_OTHER = 0.6, 0.4
_TOOK = re.compile(r"\ntook [\d.]+ m?s$")
# Behind these a command's exit code is another one's.
_HIDES_OUTCOME = re.compile(r"\|\|?|;|&\s*$")
_REDIRECTED = re.compile(r"\s*\d?>&?\s*\S+")
_FOLDER = re.compile(r"^cd\s+(?:\"[^\"]*\"|'[^']*'|\S+)\s*&&\s*")


class KeptCall(NamedTuple):
    """A tool call that was kept. error: "" unless it failed."""

    event: Event
    tool: str
    target: str
    is_failed: bool
    error: str


class Failure(NamedTuple):
    """A failed call, and the call that worked afterwards, or None."""

    event: Event
    worked: KeptCall | None


@dataclass(frozen=True)
class Cure:
    """A call that worked after an error. sessions: that met it."""

    line: str
    command: str
    sessions: int
    failed: Event


@dataclass(frozen=True)
class KnownErrors:
    """A project's errors: failures and notes in force, by signature."""

    failures: dict[str, list[Failure]]
    notes: dict[str, list[Memory]]

    def cures(self, error: str, session_id: str = "") -> list[Cure]:
        """Return the cures of other sessions, newest first."""
        cures = []
        for signature, line in signatures(error).items():
            earlier = [row for row in self.failures.get(signature, ()) if row.event.session_id != session_id]
            sessions = len({row.event.session_id for row in earlier})
            cures += [Cure(line, row.worked.target, sessions, row.event) for row in reversed(earlier) if row.worked]
        return cures

    def met(self, error: str) -> int:
        """Return how many sessions met this error."""
        return len(
            {row.event.session_id for signature in signatures(error) for row in self.failures.get(signature, ())}
        )

    def explanations(self, error: str) -> list[Memory]:
        """Return the notes that explain this error, newest first."""
        rows = {row.id: row for signature in signatures(error) for row in self.notes.get(signature, ())}
        return sorted(rows.values(), key=lambda row: -row.at_ms)


def of_project(store: Store, project_id: str) -> KnownErrors:
    """Read a project's errors from its calls and notes. Raises StoreError."""
    events = store.events(project_id=project_id, kind="tool", limit=MAX_EVENTS)
    notes: dict[str, list[Memory]] = {}
    for row in notes_in_force(store, project_id, MAX_NOTES):
        for signature in signatures(row.error):
            notes.setdefault(signature, []).append(row)
    return KnownErrors(failures(map(kept_call, events)), notes)


def kept_call(event: Event) -> KeptCall:
    """Return the call of a tool event (edge.capture.tool_use)."""
    call = call_of(event.text, event.detail)
    error = _TOOK.sub("", "\n" + event.text.partition("\n")[2]).strip() if call.is_failed else ""
    return KeptCall(event, call.tool, call.target, call.is_failed, error)


def related(failed: str, other: str) -> bool:
    """True if a command does the failed one's deed in another way.

    As many steps, most of its words, and an exit code of its own.
    """
    steps, other_steps = _steps(failed), _steps(other)
    if len(steps) != len(other_steps) or _HIDES_OUTCOME.search(" && ".join(other_steps)):
        return False
    words, others = _words(failed), _words(other)
    shared = len(words & others)
    return bool(shared) and shared >= SHARED_WORDS * len(words) and shared >= SHARED_OF_OTHER * len(others)


def _steps(command: str) -> list[str]:
    """The commands joined by `&&`, without the folder and redirections."""
    return [step.strip() for step in _REDIRECTED.sub("", _FOLDER.sub("", command.strip())).split("&&")]


def _words(command: str) -> frozenset[str]:
    """The words of a command without folders before it and redirections."""
    text = _REDIRECTED.sub("", _FOLDER.sub("", command.strip()))
    try:
        parts = shlex.split(text)
    except ValueError:
        parts = text.split()
    return frozenset(word for part in parts for word in re.split(r"[=:]", part) if word)


def is_same(command: str, other: str) -> bool:
    """True for the same command from the same folder."""
    return _REDIRECTED.sub("", command).split() == _REDIRECTED.sub("", other).split()


def worked_after(calls: Sequence[KeptCall], place: int) -> KeptCall | None:
    """Return the call of a session that worked after a failed one."""
    failed = calls[place]
    for other in calls[place + 1 : place + 1 + LOOKED_AHEAD]:
        if other.tool in EDITS and not other.is_failed:
            return _edited_elsewhere(failed, other)
        if other.is_failed or other.tool != failed.tool or other.tool != "Bash":
            continue
        if related(failed.target, other.target) and not is_same(failed.target, other.target):
            return other
    return None


def _edited_elsewhere(failed: KeptCall, edit: KeptCall) -> KeptCall | None:
    """A file that was not found, and its right path."""
    if failed.tool not in ("Read", "Bash") and posixpath.basename(failed.target) == posixpath.basename(edit.target):
        return edit if failed.target != edit.target else None
    return None


def failures(calls: Iterable[KeptCall]) -> dict[str, list[Failure]]:
    """Return signature -> the failures of each session, oldest first.

    calls: of a project, oldest first. A cure counts where the error did not come back in its session.
    """
    by_session: dict[str, list[KeptCall]] = {}
    for call in calls:
        by_session.setdefault(call.event.session_id, []).append(call)
    known: dict[str, list[Failure]] = {}
    for of_session in by_session.values():
        for signature, failure in _failures_of(of_session).items():
            known.setdefault(signature, []).append(failure)
    for rows in known.values():
        rows.sort(key=lambda row: row.event.at_ms)
    return known


def _failures_of(calls: Sequence[KeptCall]) -> dict[str, Failure]:
    """Each signature's last failure in a session."""
    last: dict[str, Failure] = {}
    for place, call in enumerate(calls):
        if not call.is_failed or not call.error:
            continue
        marks = signatures(call.error)
        worked = worked_after(calls, place) if marks else None
        for signature in marks:
            last[signature] = Failure(call.event, worked)
    return last
