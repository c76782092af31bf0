"""Errors that a project has met, and the calls that worked then.

Nothing may have changed between a failed call and one that worked but the call itself: behind an edit it is the edit
that helped.
"""

import posixpath
import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memlayer.edge.capture.tool_use import EDITS
from memlayer.model import Event, Memory
from memlayer.turns.error_lines import signatures
from memlayer.turns.outcome import call_of, only_looks

LOOKED_AHEAD = 6  # calls after a failure
MCP = "mcp__"
# Of the words of the failed command, and of the other one, so many are shared.
SHARED_WORDS, SHARED_OF_OTHER = 0.6, 0.4
MOST_OF_PROGRAM = 3  # words of another program, with its own: `uv run pytest`
_TOOK = re.compile(r"\ntook [\d.]+ m?s$")
# Behind these a command's exit code is another one's.
_HIDES_OUTCOME = re.compile(r"\|\|?|;|&\s*$")
_REDIRECTED = re.compile(r"\s*\d?>&?\s*\S+")
_INSTALLS = re.compile(
    r"\b(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|apt|apt-get|apk|brew|cargo|go|gem|bundle|composer|dotnet|conda|playwright)\b"
    r"(?: +-\S+)* +(?:install|i|ci|add|sync|get|restore|update|upgrade|fetch)\b"
)
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
        for signature, line in self.named_by(error).items():
            earlier = [row for row in self.failures.get(signature, ()) if row.event.session_id != session_id]
            sessions = len({row.event.session_id for row in earlier})
            cures += [Cure(line, row.worked.target, sessions, row.event) for row in reversed(earlier) if row.worked]
        return cures

    def named_by(self, error: str) -> dict[str, str]:
        """Return signature -> line; for a part, all signatures with it."""
        marks, known = signatures(error), {**self.failures, **self.notes}
        if marks.keys() & known:
            return marks
        return {whole: line for part, line in marks.items() for whole in known if f" {part}" in f" {whole}"}

    def met(self, error: str) -> int:
        """Return how many sessions met this error."""
        rows = (row for signature in self.named_by(error) for row in self.failures.get(signature, ()))
        return len({row.event.session_id for row in rows})

    def explanations(self, marks: Iterable[str]) -> list[Memory]:
        """Return the notes that explain these signatures, newest first."""
        rows = {row.id: row for signature in marks for row in self.notes.get(signature, ())}
        return sorted(rows.values(), key=lambda row: -row.at_ms)


def known_errors(calls: Iterable[KeptCall], notes: Iterable[Memory]) -> KnownErrors:
    """Return a project's errors, by its calls (oldest first) and notes."""
    explaining: dict[str, list[Memory]] = {}
    for row in notes:
        for signature in signatures(row.error):
            explaining.setdefault(signature, []).append(row)
    return KnownErrors(failures(calls), explaining)


def kept_call(event: Event) -> KeptCall:
    """Return the call of a tool event (edge.capture.tool_use)."""
    call = call_of(event.text, event.detail)
    error = _TOOK.sub("", "\n" + event.text.partition("\n")[2]).strip() if call.is_failed else ""
    return KeptCall(event, call.tool, call.target, call.is_failed, error)


def related(failed: str, other: str) -> bool:
    """True if a command does the failed one's deed in another way.

    As many steps, most of its words, and an exit code of its own. Or the same by another program: `npm test`, `pnpm
    test`; `pytest`, `uv run pytest`.
    """
    steps, other_steps = steps_of(failed), steps_of(other)
    if len(steps) != len(other_steps) or _HIDES_OUTCOME.search(" && ".join(other_steps)):
        return False
    words, others = words_of(failed), words_of(other)
    shared = len(words & others)
    if bool(shared) and shared >= SHARED_WORDS * len(words) and shared >= SHARED_OF_OTHER * len(others):
        return True
    left = words - {steps[0].split()[0]} or words if steps and steps[0] else words
    return len(steps) == 1 and bool(left) and left <= others and len(others - left) <= MOST_OF_PROGRAM


def steps_of(command: str) -> list[str]:
    """Return the commands joined by `&&`, without the folder and redirections."""
    return [step.strip() for step in _REDIRECTED.sub("", _FOLDER.sub("", command.strip())).split("&&")]


def words_of(command: str) -> frozenset[str]:
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
        if other.is_failed or other.tool != failed.tool or not (other.tool == "Bash" or other.tool.startswith(MCP)):
            continue
        if related(failed.target, other.target) and not is_same(failed.target, other.target):
            return other
    return None


def _prepared(calls: Sequence[KeptCall], place: int) -> KeptCall | None:
    """Return the install or sole command that made a failed one work."""
    failed, between = calls[place], list[KeptCall]()
    for other in calls[place + 1 : place + 1 + LOOKED_AHEAD]:
        if other.tool in EDITS and not other.is_failed:
            return None
        if other.tool != "Bash" or failed.tool != "Bash" or other.is_failed or only_looks(other.target):
            continue
        installs = [call for call in between if _INSTALLS.search(call.target)]
        is_again = is_same(failed.target, other.target)
        if is_again or (installs and related(failed.target, other.target)):
            return installs[-1] if installs else between[0] if len(between) == 1 else None
        between.append(other)
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
        worked = (_prepared(calls, place) or worked_after(calls, place)) if marks else None
        for signature in marks:
            last[signature] = Failure(call.event, worked)
    return last
