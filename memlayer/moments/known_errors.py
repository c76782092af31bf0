"""Errors that a project has met, and the calls that worked then."""

from __future__ import annotations

from dataclasses import dataclass

from memlayer.kinds import Category
from memlayer.model import Memory
from memlayer.moments.error_lines import signatures
from memlayer.moments.failing_calls import Failure, call_of, failures
from memlayer.ports import MemoryQuery, Store

MAX_EVENTS = 20_000  # tool calls of a project, the newest
MAX_NOTES = 2000


@dataclass(frozen=True)
class Cure:
    """A call that worked after an error. sessions: that met it."""

    line: str
    command: str
    sessions: int
    failure: Failure


@dataclass(frozen=True)
class KnownErrors:
    """A project's errors: failures and notes in force, by signature."""

    store: Store
    failures: dict[str, list[Failure]]
    notes: dict[str, list[Memory]]

    def cures(self, error: str, session_id: str = "") -> list[Cure]:
        """Return the cures of other sessions, newest first. Raises StoreError."""
        cures = []
        for signature, line in signatures(error).items():
            earlier = [row for row in self.failures.get(signature, ()) if row.session_id != session_id]
            sessions = len({row.session_id for row in earlier})
            for failure in reversed(earlier):
                command = self._command(failure)
                if command:
                    cures.append(Cure(line, command, sessions, failure))
        return cures

    def met(self, error: str) -> int:
        """Return how many sessions met this error."""
        return len({row.session_id for signature in signatures(error) for row in self.failures.get(signature, ())})

    def explanations(self, error: str) -> list[Memory]:
        """Return the notes that explain this error, newest first."""
        rows = {row.id: row for signature in signatures(error) for row in self.notes.get(signature, ())}
        return sorted(rows.values(), key=lambda row: -row.at_ms)

    def _command(self, failure: Failure) -> str:
        if not failure.worked_id:
            return ""
        return next((call_of(event).target for event in self.store.events(ids=[failure.worked_id], limit=1)), "")


def of_project(store: Store, project_id: str) -> KnownErrors:
    """Read a project's errors from its calls and notes. Raises StoreError."""
    events = store.events(project_id=project_id, kind="tool", limit=MAX_EVENTS)
    query = MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_NOTES)
    notes: dict[str, list[Memory]] = {}
    for row in store.memories(query):
        for signature in signatures(row.error):
            notes.setdefault(signature, []).append(row)
    return KnownErrors(store, failures(map(call_of, events)), notes)
