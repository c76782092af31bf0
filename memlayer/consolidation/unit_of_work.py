"""Changes to core memories that go into the store at once.

Later statements must see them before they are in the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from memlayer.indexing.ingest import Ingest
from memlayer.indexing.turn_memories import full_text, is_searched
from memlayer.model import Memory
from memlayer.ports import Store, Vector


@dataclass
class Draft:
    """One batch of changes.

    A second write, or one after a crash, changes nothing.
    """

    store: Store
    ingest: Ingest
    memories: dict[str, Memory] = field(default_factory=dict)  # as they will be
    vectors: dict[str, Vector] = field(default_factory=dict)

    def put(self, *memories: Memory) -> None:
        """Insert or replace by id."""
        self.memories.update((memory.id, memory) for memory in memories)

    def get(self, ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids as they will be."""
        wanted = list(dict.fromkeys(ids))
        missing = [row for row in wanted if row not in self.memories]
        found = {row.id: row for row in self.store.memories(ids=missing, limit=len(missing))} if missing else {}
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
        chunks = [chunk for memory in searched for chunk in self.ingest.chunks_of(memory, self._whole(memory))]
        gone = [memory.id for memory in changed if memory.category != "daily" and not is_searched(memory)]
        if searched:
            self.ingest.index(searched, chunks)
        if gone:
            self.store.drop_chunks(gone)
        self.memories.clear()

    def _whole(self, memory: Memory) -> str:
        """The text for the index: of a turn all that was said.

        A turn's memory holds only the head.
        """
        if memory.category != "conversation":
            return memory.text
        events = self.store.events(ids=memory.source_ids, limit=len(memory.source_ids) + 1)
        spoken = sorted(events, key=lambda row: (row.kind != "user", row.at_ms))
        return full_text(spoken) or memory.text
