"""Errors that a project has met, and the calls that worked then."""

from __future__ import annotations

from dataclasses import dataclass

from memlayer.kinds import Category
from memlayer.model import Event, Memory
from memlayer.moments.error_lines import signatures
from memlayer.moments.failing_calls import Failure, failures, kept_call
from memlayer.ports import MemoryQuery, Store

MAX_EVENTS = 20_000  # tool calls of a project, the newest
MAX_NOTES = 2000


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
    query = MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_NOTES)
    notes: dict[str, list[Memory]] = {}
    for row in store.memories(query):
        for signature in signatures(row.error):
            notes.setdefault(signature, []).append(row)
    return KnownErrors(failures(map(kept_call, events)), notes)
