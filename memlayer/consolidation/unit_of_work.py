"""Changes to core memories that go into the store at once.

Later statements must see them before they are in the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from memlayer.indexing.indexer import Indexer, is_searched
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store, Vector


@dataclass
class Draft:
    """One batch of changes.

    A second write, or one after a crash, changes nothing.
    """

    store: Store
    indexer: Indexer
    memories: dict[str, Memory] = field(default_factory=dict)  # as they will be
    vectors: dict[str, Vector] = field(default_factory=dict)

    def put(self, *memories: Memory) -> None:
        """Insert or replace by id."""
        self.memories.update((memory.id, memory) for memory in memories)

    def get(self, ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids as they will be."""
        wanted = list(dict.fromkeys(ids))
        missing = [row for row in wanted if row not in self.memories]
        found = (
            {row.id: row for row in self.store.memories(MemoryQuery(ids=missing, limit=len(missing)))}
            if missing
            else {}
        )
        return [row for row in (self.memories.get(key) or found.get(key) for key in wanted) if row is not None]

    def commit(self) -> None:
        """Write the batch into store and search index. Raises StoreError.

        Superseded memories leave the index. In this order: after a crash between the two, the maker of this draft
        makes it again.
        """
        changed = list(self.memories.values())
        if not changed:
            return
        self.store.put_memories(changed)
        searched = [memory for memory in changed if is_searched(memory)]
        gone = [memory.id for memory in changed if memory.category != "daily" and not is_searched(memory)]
        if searched:
            self.indexer.index(searched)
        if gone:
            self.store.drop_chunks(gone)
        self.memories.clear()
