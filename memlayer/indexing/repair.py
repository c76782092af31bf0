"""Rebuild the index, and repair missing events, memories and chunks."""

import logging
from collections.abc import Mapping, Sequence

from memlayer.consolidation.consolidator import ANSWER
from memlayer.consolidation.redraw import Redraw, is_without_author
from memlayer.indexing.ingest import Ingest
from memlayer.indexing.retracted import wrongly_marked
from memlayer.keep.indexer import Indexer
from memlayer.kinds import Category
from memlayer.model import Memory, turn_memory_id
from memlayer.ports import MemoryQuery, ScanProgress, Store
from memlayer.records.sessions import Sessions
from memlayer.transcripts import catch_up
from memlayer.turns.turn_memory import is_searched
from memlayer.wire.upkeep import Repaired

BATCH = 100
EVERYTHING = 10_000_000
MEMORIES = "memories"  # a table, as damage names it
log = logging.getLogger(__name__)


def is_stale(store: Store) -> bool:
    """True when memories have no chunks: dropped, or cut off."""
    stats = store.stats()
    return stats.memories > 0 and stats.chunks == 0


def rebuild(store: Store, indexer: Indexer, progress: ScanProgress) -> int:
    """Make all chunks anew. Return the number of memories indexed.

    From memories and their events. Vectors come from the cache where the text is the same. Interrupted, it is begun
    anew: see is_stale, and ingest makes the chunks of every turn it touches.
    """
    memories = [memory for memory in store.memories(MemoryQuery(limit=EVERYTHING)) if is_searched(memory)]
    store.clear_chunks()
    return _index(indexer, memories, progress)


def mark_turns(store: Store, ingest: Ingest) -> int:
    """Mark turns that later prompts took back; return how many changed."""
    turns = sorted(wrongly_marked(store))
    for start in range(0, len(turns), BATCH):
        ingest.remember(set(turns[start : start + BATCH]), embed=False)
    return len(turns)


def repair(
    store: Store, ingest: Ingest, sessions: Sessions, progress: ScanProgress, dropped: Mapping[str, int]
) -> Repaired:
    """Make again all that can be made. Idempotent. Raises StoreError.

    dropped: ids of memories that a person has let go -> when.
    """
    events = _from_transcripts(store, ingest, sessions)
    memories, unknown = _remember_turns(store, ingest, progress), 0
    if any(note.table == MEMORIES for note in store.damage()):
        while ingest.consolidator.settle_turns(BATCH):
            pass
        ingest.consolidator.let_go(dropped)
        unknown = sum(map(is_without_author, store.memories(MemoryQuery(category=Category.CORE, limit=EVERYTHING))))
    mark_turns(store, ingest)
    store.prune_usages()
    indexed: set[str] = set()
    store.scan_terms(lambda chunk, _: indexed.add(chunk.partition(":")[0]))  # see model.chunk_id
    lacking = [
        memory
        for memory in store.memories(MemoryQuery(limit=EVERYTHING))
        if memory.id not in indexed and is_searched(memory)
    ]
    indexed_anew = _index(ingest.keep.indexer, lacking, progress)
    return Repaired(events, memories, indexed_anew, _missing(store), unknown_rules=unknown)


def _index(indexer: Indexer, memories: Sequence[Memory], progress: ScanProgress) -> int:
    for start in range(0, len(memories), BATCH):
        indexer.index(memories[start : start + BATCH])
        progress(min(start + BATCH, len(memories)), len(memories))
    return len(memories)


def _missing(store: Store) -> int:
    """Count lost events: those that only turns name."""
    turns = store.memories(MemoryQuery(category=Category.CONVERSATION, limit=EVERYTHING))
    known = {event.id for event in store.events(limit=EVERYTHING)}
    return len({source for turn in turns for source in turn.source_ids} - known)


def _from_transcripts(store: Store, ingest: Ingest, sessions: Sessions) -> int:
    """Take in events that only host transcripts hold; return their number."""
    count = 0
    for session in sessions.all():
        session.caught_up_bytes = session.branch_bytes = 0
        try:
            missed, offset = catch_up.missed(session, store, until_ms=sessions.off_ms(session.id))
        except OSError as bad:
            log.warning("transcript not readable: %s", bad.strerror)
            continue
        count += ingest.take(missed)
        session.caught_up_bytes = offset
        sessions.changed(session)
    return count


def _remember_turns(store: Store, ingest: Ingest, progress: ScanProgress) -> int:
    """Make lacking memories again; return how many."""
    again = Redraw(store, ingest.consolidator.conflicts)
    known = {memory.id for memory in store.memories(MemoryQuery(limit=EVERYTHING))} - again.turns
    spoken = {(event.session_id, event.prompt_id) for event in store.events(limit=EVERYTHING) if event.prompt_id}
    turns = sorted(turn for turn in spoken if again or turn_memory_id(*turn) not in known)  # all: some may be older
    for start in range(0, len(turns), BATCH):
        ingest.remember(set(turns[start : start + BATCH]), embed=not again)
        progress(min(start + BATCH, len(turns)), len(turns))
    asked = store.events(kind="remember", limit=EVERYTHING)
    if again:
        drawn = [turn for turn in _turns(store) if ANSWER in turn.text]
        for start in range(0, len(drawn), BATCH):
            ingest.consolidator.redraw(again, drawn[start : start + BATCH])
        ingest.consolidator.redraw_remembered(again, asked)
    ingest.consolidator.remember(asked)
    return len({memory.id for memory in store.memories(MemoryQuery(limit=EVERYTHING))} - known)


def _turns(store: Store) -> list[Memory]:
    """Return every turn, newest first."""
    turns = store.memories(MemoryQuery(category=Category.CONVERSATION, limit=EVERYTHING))
    return sorted(turns, key=lambda turn: (-turn.at_ms, turn.id))
