"""Builds the search index anew from the store of record: chunks are derived, events and memories are not."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.indexing.consolidation import full_text, is_searched
from memlayer.indexing.ingest import Ingest
from memlayer.model import Chunk, Memory
from memlayer.ports import Progress, Store

BATCH = 100


def is_stale(store: Store) -> bool:
    """True when there are memories and no chunks: the index was dropped, or a crash came before it was made."""
    stats = store.stats()
    return stats.memories > 0 and stats.chunks == 0


def rebuild(store: Store, ingest: Ingest, progress: Progress) -> int:
    """Drop all chunks and make them from memories and their events; returns the number of memories indexed.

    Vectors come from the cache where the text is the same. Interrupted, it is begun anew: see is_stale, and ingest
    makes the chunks of every turn it touches.
    """
    memories = [memory for memory in store.memories(limit=10_000_000) if is_searched(memory)]
    store.clear_chunks()
    for start in range(0, len(memories), BATCH):
        batch = memories[start : start + BATCH]
        chunks = chunks_for(store, ingest, batch)
        with ingest.lock:
            ingest.index(batch, chunks)
        progress(min(start + BATCH, len(memories)), len(memories))
    return len(memories)


def chunks_for(store: Store, ingest: Ingest, memories: Sequence[Memory]) -> list[Chunk]:
    """The chunks of those memories that are searched, without vectors; a turn's are made of its events."""
    ids = sorted({source for memory in memories for source in memory.source_ids})
    events = {event.id: event for event in store.events(ids=ids, limit=len(ids) + 1)} if ids else {}
    chunks = []
    for memory in memories:
        if is_searched(memory):
            sources = [events[source] for source in memory.source_ids if source in events]
            text = full_text(sources) if memory.category == "conversation" and sources else memory.text
            chunks += ingest.chunks_of(memory, text)
    return chunks
