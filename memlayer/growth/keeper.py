"""The levels of a project's core memories, written where they changed."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from memlayer.growth.facts import facts_of
from memlayer.growth.levels import grow
from memlayer.kinds import Category
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store

MAX_ROWS = 100_000
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LevelKeeper:
    """Writer of levels; in the daemon's writer. Twice changes nothing."""

    store: Store

    def renew(self, now_ms: int, project_id: str = "") -> set[str]:
        """Compute levels, up and down; return projects changed. Raises StoreError."""
        query = MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_ROWS)
        changed = self.changes(self.store.memories(query), now_ms)
        if changed:
            self.store.put_memories(changed)
            log.info("levels changed: %d", len(changed))
        return {memory.project_id for memory in changed}

    def changes(self, memories: list[Memory], now_ms: int) -> list[Memory]:
        """Return the memories whose level is another one now. Raises StoreError."""
        facts = facts_of(self.store, memories)
        grown = [(memory, grow(facts[memory.id], now_ms).level) for memory in memories]
        return [replace(memory, level=int(level)) for memory, level in grown if memory.level != level]
