"""Vectors for chunks without one, in parts and after problems."""

import logging
import time
from concurrent.futures import Future

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import Progress, State
from memlayer.errors import EmbedderError
from memlayer.keep.keep import NO_CHANGE, Change

log = logging.getLogger(__name__)
EMBED_S = 2.0  # of the writer at a time: a provider may take minutes for a large store, and turns want to get in
EMBED_AGAIN_S = 30.0
BATCH_SIZE = 16  # texts embedded in one go


def submit_embedding(state: State) -> Future[int]:
    """Have chunks without a vector embedded; return how many are left."""
    return state.jobs.submit("embed", lambda: _embed_part(state))


def embed_left(state: State, change: Change = NO_CHANGE) -> None:
    """Have the chunks embedded that were too many for a batch."""
    if state.services.result().keep.indexer.is_behind:
        submit_embedding(state)


def embed_all(state: State, progress: Progress) -> int:
    """Embed all chunks, other jobs in between; return their number."""
    total = missing(state)
    while left := submit_embedding(state).result():
        progress("embed", max(0, total - left), total)
    return total - missing(state)


def _embed_part(state: State) -> int:
    """Embed chunks for EMBED_S, and come again for more. The writer's job."""
    indexer, slot = state.services.result().keep.indexer, state.embedder
    go_second()
    ends = time.monotonic() + EMBED_S
    state.times.done("embed")
    state.jobs.progress, indexer.postponed, indexer.is_behind = "", "", False
    try:
        while indexer.embed_some(BATCH_SIZE):
            if time.monotonic() > ends:
                left = missing(state)
                slot.to_embed = max(slot.to_embed, left)
                state.jobs.progress = "embedding %d of %d" % (slot.to_embed - left, slot.to_embed)
                submit_embedding(state)
                return left
        slot.behind_why, slot.to_embed = "", 0
    except EmbedderError as bad:
        _leave_for_later(state, bad)
    finally:
        memory.give_back()
    return 0


def missing(state: State) -> int:
    """Return the number of chunks without a vector; 0 without a model."""
    embedder = state.embedder()
    return state.services.result().store.count_unembedded(embedder.fingerprint) if embedder is not None else 0


def _leave_for_later(state: State, bad: EmbedderError) -> None:
    """Note that chunks stay without vectors; raise a local model's error."""
    embedder = state.embedder()
    if embedder is None or not embedder.place:
        raise bad
    if state.embedder.behind_why != str(bad):  # once, not every half minute until tomorrow
        log.warning("chunks stay without vectors: %s", bad)
    state.embedder.behind_why = str(bad)


def look(state: State) -> None:
    """Have chunks embedded that a provider's problem left without vectors."""
    embedder = state.embedder()
    if embedder is None:
        return
    problem = state.services.result().keep.indexer.postponed or embedder.problem
    state.embedder.behind_why = state.embedder.behind_why or (problem if embedder.place else "")
    if state.embedder.behind_why and state.times.since("embed") > EMBED_AGAIN_S:
        submit_embedding(state)
