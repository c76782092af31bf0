"""Errors that a project has met before, with what helped then.

In memory stand signatures and ids alone. Texts are read from the store when they are given, so what was forgotten is
gone here as well.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Collection
from dataclasses import dataclass, field

from memlayer.kinds import KINDS, Category
from memlayer.model import Memory, turn_memory_id
from memlayer.moments.error_lines import signatures
from memlayer.moments.failing_calls import Failure, call_of, failures
from memlayer.moments.moment import FAILED_CALL, Line, Moment
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import cut, flatten

MAX_EVENTS = 20_000  # tool calls of a project, the newest
MAX_NOTES = 2000
COMMAND_CHARS = 150
MARK = "error:"  # and a hash of the signature, in Session.shown


@dataclass(frozen=True)
class Known:
    """A project's errors.

    By signature: the failures, and the ids of the notes that explain it.
    """

    failures: dict[str, list[Failure]]
    notes: dict[str, list[str]]


@dataclass(frozen=True)
class Cure:
    """What worked after an error. sessions: earlier ones that met it."""

    line: str
    command: str
    sessions: int
    failure: Failure


@dataclass
class KnownErrors:
    """The errors of the projects in use. Thread-safe."""

    store: Store
    _known: dict[str, Known] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self, project_id: str) -> Known:
        """Read a project's calls and notes anew. Raises StoreError."""
        events = self.store.events(project_id=project_id, kind="tool", limit=MAX_EVENTS)
        rows = self.store.memories(
            MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_NOTES)
        )
        notes: dict[str, list[str]] = {}
        for row in rows:
            for signature in signatures(row.error):
                notes.setdefault(signature, []).append(row.id)
        known = Known(failures(map(call_of, events)), notes)
        with self._lock:
            self._known[project_id] = known
        return known

    def refresh(self, project_id: str) -> None:
        """Forget a project's errors until they are loaded or asked for."""
        with self._lock:
            self._known.pop(project_id, None)

    def moment(self, error: str, project_id: str, session_id: str, shown: Collection[str]) -> Moment | None:
        """Return the moment of a failed call, or None. Raises StoreError.

        shown: of the session; an error is told once in it.
        """
        marks = signatures(error)
        if not marks or any(mark_of(signature) in shown for signature in marks):
            return None
        line = self._explained(marks, project_id, shown) or self._cured(marks, project_id, session_id)
        return Moment(FAILED_CALL, (line,), tuple(map(mark_of, marks))) if line is not None else None

    def cures(self, error: str, project_id: str, session_id: str = "") -> list[Cure]:
        """Return the cures of other sessions, newest first. Raises StoreError."""
        known, cures = self._of(project_id), []
        for signature, line in signatures(error).items():
            earlier = [row for row in known.failures.get(signature, ()) if row.session_id != session_id]
            sessions = len({row.session_id for row in earlier})
            for failure in reversed(earlier):
                command = self._command(failure)
                if command:
                    cures.append(Cure(line, command, sessions, failure))
        return cures

    def met(self, error: str, project_id: str) -> int:
        """Return how many sessions met this error. Raises StoreError."""
        known = self._of(project_id).failures
        return len({row.session_id for signature in signatures(error) for row in known.get(signature, ())})

    def explanations(self, error: str, project_id: str) -> list[Memory]:
        """Return the notes in force that explain this error. Raises StoreError."""
        known = self._of(project_id)
        ids = [id_ for signature in signatures(error) for id_ in known.notes.get(signature, ())]
        rows = self.store.memories(MemoryQuery(ids=ids, is_current=True, limit=len(ids))) if ids else []
        return sorted(rows, key=lambda row: -row.at_ms)

    def _of(self, project_id: str) -> Known:
        with self._lock:
            known = self._known.get(project_id)
        return known if known is not None else self.load(project_id)

    def _command(self, failure: Failure) -> str:
        if not failure.worked_id:
            return ""
        return next((call_of(event).target for event in self.store.events(ids=[failure.worked_id], limit=1)), "")

    def _explained(self, marks: Collection[str], project_id: str, shown: Collection[str]) -> Line | None:
        known = self._of(project_id)
        ids = [id_ for signature in marks for id_ in known.notes.get(signature, ()) if id_ not in shown]
        rows = self.store.memories(MemoryQuery(ids=ids, is_current=True, limit=len(ids))) if ids else []
        if not rows:
            return None
        note = max(rows, key=lambda row: row.at_ms)
        text = "(%s) %s" % (KINDS[note.known_kind].label, note.text)
        return Line(note.id, note.at_ms, text, "a note explains this error")

    def _cured(self, marks: dict[str, str], project_id: str, session_id: str) -> Line | None:
        known = self._of(project_id)
        for signature in marks:
            earlier = [row for row in known.failures.get(signature, ()) if row.session_id != session_id]
            sessions = len({row.session_id for row in earlier})
            for failure in reversed(earlier):
                command = self._command(failure)
                if command:
                    return _line(failure, command, sessions)
        return None


def _line(failure: Failure, command: str, sessions: int) -> Line:
    many = "an earlier session" if sessions == 1 else "%d earlier sessions" % sessions
    text = "The same error came in %s; then this worked: %s" % (many, cut(flatten(command), COMMAND_CHARS))
    memory_id = turn_memory_id(failure.session_id, failure.prompt_id)
    return Line(memory_id, failure.at_ms, text, "this error was met in %s, and a call worked afterwards" % many)


def mark_of(signature: str) -> str:
    """Return the mark of an error in a session's shown ids."""
    return MARK + hashlib.sha256(signature.encode("utf-8", "replace")).hexdigest()[:16]
