"""Builds the search index anew from the store of record: chunks are derived, events and memories are not."""

from __future__ import annotations

from memlayer.ports import Progress, Store
from memlayer.service.consolidation import full_text
from memlayer.service.ingest import Ingest

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
    memories = store.memories(limit=10_000_000)
    store.clear_chunks()
    for start in range(0, len(memories), BATCH):
        batch = memories[start : start + BATCH]
        ids = sorted({source for memory in batch for source in memory.source_ids})
        events = {event.id: event for event in store.events(ids=ids, limit=len(ids) + 1)}
        chunks = []
        for memory in batch:
            sources = [events[source] for source in memory.source_ids if source in events]
            text = full_text(sources) if memory.category == "conversation" and sources else memory.text
            chunks += ingest.chunks_of(memory, text)
        with ingest.lock:
            ingest.index(batch, chunks)
        progress(min(start + BATCH, len(memories)), len(memories))
    return len(memories)
