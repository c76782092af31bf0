"""Which turns say what no longer holds: a statement drawn from them was superseded, reworded or taken back since.

The turn itself stays as it was said, and a search still finds it. Recall asks here what to say in its place.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from memlayer.consolidation import lineage
from memlayer.model import Memory
from memlayer.ports import Store
from memlayer.text.terms import index_terms

MAX_KNOWN = 100_000
LEAST = 2  # terms in common that say anything
REPEATED = 0.6  # the share of a statement's terms from which a text says it

Turn = tuple[str, str]  # session id, prompt id


@dataclass(frozen=True)
class Replacement:
    """said: the terms of the statement that holds no more. head: what holds now; None when it was taken back."""

    said: frozenset[str]
    head: Memory | None

    def is_said_by(self, text: str) -> bool:
        """Whether the text repeats the statement."""
        return len(self.said.intersection(index_terms(text).split())) >= REPEATED * len(self.said)

    def is_stale(self, text: str) -> bool:
        """True for a text that repeats the statement, and not rather what holds now. A text that was cut off may hold
        only the statement's beginning."""
        terms = frozenset(index_terms(text).split())
        shared = len(terms & self.said)
        if shared < LEAST or shared < REPEATED * min(len(self.said), len(terms)):
            return False
        now = frozenset(index_terms(self.head.text).split()) if self.head is not None else frozenset()
        return not now - self.said or len(terms & now) / len(now) < shared / len(self.said)


def replacement_of(old: Memory, head: Memory) -> Replacement:
    """What became of a superseded statement. head: the end of its chain, which may itself hold no more."""
    return Replacement(frozenset(index_terms(old.text).split()), None if head.superseded_by else head)


class Replaced:
    """The superseded statements of a store by the turn they were drawn from. Thread-safe; the writer renews it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._by_project: dict[str, dict[Turn, list[Replacement]]] = {}
        self.renew([""])

    def renew(self, project_ids: Iterable[str]) -> None:
        """Read anew what was superseded in these projects; "" reads all of them. Raises StoreError."""
        for project_id in project_ids:
            found: dict[str, dict[Turn, list[Replacement]]] = {project_id: {}} if project_id else {}
            every = self._store.memories(project_id=project_id, category="core", limit=MAX_KNOWN)
            by_id = {memory.id: memory for memory in every}
            for old in every:
                if old.superseded_by and old.prompt_id:
                    head = lineage.head_of(old, by_id.get)
                    of_turn = found.setdefault(old.project_id, {}).setdefault((old.session_id, old.prompt_id), [])
                    of_turn.append(replacement_of(old, head))
            with self._lock:
                self._by_project.update(found)

    def of(self, project_id: str, turn: Turn, text: str) -> Replacement | None:
        """What became of a statement of that turn that `text` repeats; None when everything it says still holds."""
        with self._lock:
            known = self._by_project.get(project_id, {}).get(turn, ())
        if not known:
            return None
        said = [one for one in known if one.is_said_by(text)]
        return next((one for one in said if one.head is not None), said[0] if said else None)
