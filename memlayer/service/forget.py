"""Forgetting: out of every table, the caches, the sessions, the spool and the working sets; and it stays forgotten."""

from __future__ import annotations

import os
from dataclasses import dataclass

from memlayer.core.model import Memory
from memlayer.core.turn import unlabelled
from memlayer.ports import Removed, Selection, Store
from memlayer.service.ingest import VectorCache
from memlayer.service.sessions import Sessions
from memlayer.service.tombstones import Tombstones
from memlayer.wire import spool, working_set


@dataclass(frozen=True)
class Forget:
    """Removes memories with everything they came from. The daemon's writer calls it."""

    home: str
    store: Store
    cache: VectorCache
    tombstones: Tombstones
    sessions: Sessions

    def select(self, selection: Selection) -> list[Memory]:
        """What a selection means now."""
        return self.store.memories(
            ids=list(selection.memory_ids) or None, session_id=selection.session_id, project_id=selection.project_id,
            before_ms=selection.before_ms, limit=1_000_000,
        )  # fmt: skip

    def forget(self, selection: Selection) -> Removed:
        """Forget what `selection` selects; an empty selection selects nothing. Raises StoreError or OSError."""
        if selection == Selection():
            return Removed()
        projects = {memory.project_id for memory in self.select(selection)}
        for path in spool.waiting(self.home):
            event, _ = spool.load(path)
            if event is not None and selection.session_id and event["session_id"] == selection.session_id:
                self.tombstones.add([str(event["id"])])
                os.unlink(path)
        removed = self.store.forget(selection)
        self.tombstones.add(removed.event_ids)
        self.cache.forget([unlabelled(text) for text in removed.chunk_texts])
        for project_id in projects:
            working_set.write_working_set(self.home, project_id, "")  # composed anew after the next event
        if selection.session_id and not selection.memory_ids:
            self.sessions.forget(selection.session_id)
        return removed
