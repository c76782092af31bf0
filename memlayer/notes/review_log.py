"""The record of decisions on reviewed memories; ids, no text."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields

from memlayer.edge.home import paths
from memlayer.kinds import Author, Ended
from memlayer.model import GLOBAL, Memory, replace
from memlayer.records import small_files

MAX_DECISIONS = 2000  # beyond them the oldest are dropped, and their questions may come again


@dataclass(frozen=True)
class Before:
    """A memory's state before a decision, without its text."""

    id: str
    at_ms: int
    session_id: str
    ended_because: Ended
    ended_ms: int
    superseded_by: str
    by: Author
    rules: int
    pinned: bool

    @classmethod
    def of(cls, memory: Memory) -> Before:
        """Return the state of a memory."""
        return cls(*(getattr(memory, field.name) for field in fields(cls)))


@dataclass(frozen=True)
class Decision:
    """A person's decision on an item.

    key: the item's. at_ms: Unix time. before: of the memories that it changed, the item's first. wording: id of the row
    that keeps the first one's text, "" where the text stayed. is_whole: False from before its first write to its last,
    and after a kill between them.
    """

    how: str
    key: str
    project_id: str
    at_ms: int
    before: tuple[Before, ...] = ()
    wording: str = ""
    is_whole: bool = True


class ReviewLog:
    """The decisions of a home, the oldest first. Thread-safe.

    Every write is on disk when it returns. Raises OSError.
    """

    def __init__(self, home: str) -> None:
        self._path = paths.reviewed(home)
        self._lock = threading.RLock()

    def all(self) -> list[Decision]:
        """Return every decision; [] for a file that cannot be read."""
        return small_files.read(self._path, list[Decision]) or []

    def closed(self) -> dict[str, int]:
        """Return key of an item -> when it was decided.

        One that was interrupted is open."""
        return {row.key: row.at_ms for row in self.all() if row.is_whole}

    def add(self, decision: Decision) -> None:
        """Append a decision, in the place of its beginning."""
        with self._lock:
            begun = replace(decision, wording="", is_whole=False)
            self._write([*(row for row in self.all() if row != begun), decision][-MAX_DECISIONS:])

    def last(self, project_id: str) -> Decision | None:
        """Return a project's last decision, or that for every project."""
        return next((row for row in reversed(self.all()) if row.project_id in (project_id, GLOBAL)), None)

    def take_back(self, decision: Decision) -> None:
        """Remove a decision."""
        with self._lock:
            self._write([row for row in self.all() if row != decision])

    def _write(self, rows: Sequence[Decision]) -> None:
        small_files.write(self._path, rows)
