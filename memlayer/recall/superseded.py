"""Turns whose statements were replaced, reworded or taken back since.

The turn itself stays as it was, and a search still finds it. Recall gives the successor in its place.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from memlayer.consolidation import lineage
from memlayer.kinds import Category
from memlayer.model import Memory, TurnId
from memlayer.ports import MemoryQuery, Store
from memlayer.text.terms import index_terms

MAX_KNOWN = 100_000
REPEATED = 0.6  # share of a statement's terms in a text that repeats it


@dataclass(frozen=True)
class Replacement:
    """A stale statement's terms and its successor, None if taken back."""

    said: frozenset[str]
    head: Memory | None

    def is_said_by(self, text: str) -> bool:
        """True for a text that repeats the statement."""
        return len(self.said.intersection(index_terms(text).split())) >= REPEATED * len(self.said)


def replacement_of(old: Memory, head: Memory) -> Replacement:
    """Return a statement's replacement. head: its chain's end, maybe stale."""
    return Replacement(frozenset(index_terms(old.text).split()), head if head.holds else None)


class SupersededStatements:
    """The superseded statements of a store by their turn. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._by_project: dict[str, dict[TurnId, list[Replacement]]] = {}
        self.refresh([""])

    def refresh(self, project_ids: Iterable[str]) -> None:
        """Read these projects' statements again; "" reads all. Raises StoreError."""
        for project_id in project_ids:
            by_project: dict[str, dict[TurnId, list[Replacement]]] = {project_id: {}} if project_id else {}
            every = self._store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, limit=MAX_KNOWN))
            by_id = {memory.id: memory for memory in every}
            for old in every:
                if not old.holds and old.prompt_id:
                    head = lineage.head_of(old, by_id.get)
                    of_turn = by_project.setdefault(old.project_id, {}).setdefault((old.session_id, old.prompt_id), [])
                    of_turn.append(replacement_of(old, head))
            with self._lock:
                self._by_project.update(by_project)

    def of(self, project_id: str, turn: TurnId, text: str) -> Replacement | None:
        """Return the replacement of a stale statement that `text` repeats, or None."""
        with self._lock:
            known = self._by_project.get(project_id, {}).get(turn, ())
        if not known:
            return None
        repeated = [replacement for replacement in known if replacement.is_said_by(text)]
        return next(
            (replacement for replacement in repeated if replacement.head is not None), repeated[0] if repeated else None
        )
