"""Rebuild the index, and repair what is missing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

from memlayer.indexing.ingest import Ingest
from memlayer.indexing.turn_memories import full_text, is_searched
from memlayer.model import Chunk, Memory, turn_memory_id
from memlayer.ports import Progress, Store
from memlayer.records.sessions import Sessions
from memlayer.transcripts import catch_up

REBUILD_BATCH = 100


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
    for start in range(0, len(memories), REBUILD_BATCH):
        batch = memories[start : start + REBUILD_BATCH]
        chunks = chunks_for(store, ingest, batch)
        with ingest.lock:
            ingest.index(batch, chunks)
        progress(min(start + REBUILD_BATCH, len(memories)), len(memories))
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


log = logging.getLogger(__name__)
BATCH = 100


@dataclass(frozen=True)
class Repaired:
    """How many events came back, how many turns were remembered anew, how many memories were indexed anew; how many
    events of remembered turns are gone."""

    events: int
    memories: int
    indexed: int
    missing: int


def repair(store: Store, ingest: Ingest, sessions: Sessions, progress: Progress) -> Repaired:
    """Make again what can be made; what is there stays as it is. Doing it twice changes nothing. Raises StoreError."""
    events = _from_transcripts(store, ingest, sessions)
    memories = _remember_turns(store, ingest, progress)
    indexed = _index_memories(store, ingest, progress)
    return Repaired(events, memories, indexed, _missing(store))


def _missing(store: Store) -> int:
    """Retention and forgetting take a turn with its events, so what only the turn knows of was lost."""
    turns = store.memories(category="conversation", limit=10_000_000)
    known = {event.id for event in store.events(limit=10_000_000)}
    return len({source for turn in turns for source in turn.source_ids} - known)


def _from_transcripts(store: Store, ingest: Ingest, sessions: Sessions) -> int:
    """Events that only the host's transcripts still hold."""
    found = 0
    for session in sessions.all():
        session.caught_up_bytes = 0
        try:
            missed, offset = catch_up.missed(session, store)
        except OSError as bad:
            log.warning("transcript not readable: %s", bad.strerror)
            continue
        with ingest.lock:
            ingest.take(missed)
        session.caught_up_bytes = offset
        sessions.changed(session)
        found += len(missed)
    return found


def _remember_turns(store: Store, ingest: Ingest, progress: Progress) -> int:
    known = {memory.id for memory in store.memories(limit=10_000_000)}
    spoken = {(event.session_id, event.prompt_id) for event in store.events(limit=10_000_000) if event.prompt_id}
    turns = sorted(turn for turn in spoken if turn_memory_id(*turn) not in known)
    for start in range(0, len(turns), BATCH):
        with ingest.lock:
            ingest.remember(set(turns[start : start + BATCH]))
        progress(min(start + BATCH, len(turns)), len(turns))
    ingest.on_remember(store.events(kind="remember", limit=10_000_000))
    return len({memory.id for memory in store.memories(limit=10_000_000)} - known)


def _index_memories(store: Store, ingest: Ingest, progress: Progress) -> int:
    indexed: set[str] = set()
    store.scan_terms(lambda chunk, _: indexed.add(chunk.partition(":")[0]))  # see model.chunk_id
    missing = [
        memory for memory in store.memories(limit=10_000_000) if memory.id not in indexed and is_searched(memory)
    ]
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        ids = sorted({source for memory in batch for source in memory.source_ids})
        events = {event.id: event for event in store.events(ids=ids, limit=len(ids) + 1)}
        chunks = []
        for memory in batch:
            sources = [events[source] for source in memory.source_ids if source in events]
            text = full_text(sources) if memory.category == "conversation" and sources else memory.text
            chunks += ingest.chunks_of(memory, text)
        with ingest.lock:
            ingest.index(batch, chunks)
        progress(min(start + BATCH, len(missing)), len(missing))
    return len(missing)
