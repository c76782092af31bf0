"""Vectors for chunks without one, in parts and after problems."""

from __future__ import annotations

import logging
import time
from concurrent.futures import Future

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import Progress, State
from memlayer.errors import EmbedderError

log = logging.getLogger(__name__)
EMBED_S = 2.0  # of the writer at a time: a provider may take minutes for a large store, and turns want to get in
EMBED_AGAIN_S = 30.0


def submit_embedding(state: State) -> Future[int]:
    """Have chunks without a vector embedded; return how many are left."""
    return state.jobs.submit("embed", lambda: _embed_part(state))


def embed_all(state: State, progress: Progress) -> int:
    """Embed all chunks, other jobs in between; return their number."""
    total = missing(state)
    while left := submit_embedding(state).result():
        progress("embed", max(0, total - left), total)
    return total - missing(state)


def _embed_part(state: State) -> int:
    """Embed chunks for EMBED_S, and come again for more. The writer's job."""
    services = state.services.result()
    go_second()
    ends = time.monotonic() + EMBED_S
    state.embedded_s, state.rebuilding = time.monotonic(), ""
    services.indexer.postponed = ""
    try:
        while services.indexer.embed_some(state.settings.embedding.batch_size):
            if time.monotonic() > ends:
                left = missing(state)
                state.to_embed = max(state.to_embed, left)
                state.rebuilding = "embedding %d of %d" % (state.to_embed - left, state.to_embed)
                submit_embedding(state)
                return left
        state.unembedded_why, state.to_embed = "", 0
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
    if state.unembedded_why != str(bad):  # once, not every half minute until tomorrow
        log.warning("chunks stay without vectors: %s", bad)
    state.unembedded_why = str(bad)


def look(state: State) -> None:
    """Have chunks embedded that a provider's problem left without vectors."""
    embedder = state.embedder()
    if embedder is None:
        return
    problem = state.services.result().indexer.postponed or embedder.problem
    state.unembedded_why = state.unembedded_why or (problem if embedder.place else "")
    if state.unembedded_why and time.monotonic() - state.embedded_s > EMBED_AGAIN_S:
        submit_embedding(state)
