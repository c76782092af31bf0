"""Upkeep of the store: vectors, index, repair, and settling everything on request."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import asdict

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived, intake
from memlayer.edge.capture import spool
from memlayer.indexing import repair as repairing
from memlayer.ports import Store

log = logging.getLogger(__name__)
Progress = Callable[[str, int, int], None]  # (phase, done, total)
RECHECK_APART_S = 30.0  # a full disk makes things fail as well, again and again


def embed_missing(state: State, progress: Progress | None = None) -> int:
    """Embed chunks without a vector of the current model.

    Returns how many.
    """
    services = state.services.result()
    go_second()

    def report(done: int, total: int) -> None:
        state.rebuilding = "embedding %d of %d" % (done, total)
        if progress is not None:
            progress("embed", done, total)

    try:
        return services.indexer.embed_missing(state.settings.embedding.batch_size, report)
    finally:
        state.rebuilding = ""
        memory.give_back()


def reindex(state: State, progress: Progress | None = None) -> int:
    """Build the search index anew from memories and events.

    Returns the number of memories.
    """
    services = state.services.result()

    def report(done: int, total: int) -> None:
        state.rebuilding = "indexing %d of %d" % (done, total)
        if progress is not None:
            progress("index", done, total)

    try:
        return repairing.rebuild(services.store, services.indexer, report)
    finally:
        state.rebuilding = ""
        memory.give_back()


def repair(state: State, progress: Progress | None = None, *, is_requested: bool = False) -> dict[str, object]:
    """Repair the damage of the store.

    Major damage stays on record until a person requests this.
    """
    services = state.services.result()
    damage = services.store.damage()
    report = (lambda done, total: progress("repair", done, total)) if progress else (lambda done, total: None)
    intake.drain(state)
    done = repairing.repair(services.store, services.ingest, state.sessions, report)
    derived.renew(state, state.projects.scopes())
    intake.save_small(state)
    if is_requested or (not done.missing and all(note.is_minor for note in damage)):
        services.store.clear_damage()
    log.info("repaired: %s", done)
    return {
        **asdict(done),
        "memories": done.memories + sum(note.brought_back for note in damage),
        "in_doubt": [citation for note in damage for citation in note.in_doubt],
        "damage": ["table %s: %s" % (note.table, note.says) for note in damage],
        "aside": damage[0].aside if damage else "",
    }


def look(state: State) -> None:
    """Have the store checked when something failed.

    Files vanished, or were cut short. Otherwise free.
    """
    if not state.is_open:
        return
    if state.services.result().store.is_suspect and time.monotonic() - state.rechecked_s > RECHECK_APART_S:
        state.rechecked_s = time.monotonic()
        state.jobs.submit("look at the store", lambda: _recheck(state))


def _recheck(state: State) -> None:
    """Open the store anew and have damage repaired.

    Runs behind everything that uses the store. Raises StoreError.
    """
    store = state.services.result().store
    if store.recheck():
        submit_repair(state, store)
    else:
        reindex_if_stale(state, store)


def submit_repair(state: State, store: Store) -> None:
    """Log the damage of a store and have it repaired."""
    log.error("the store is damaged: %s", "; ".join(note.says for note in store.damage()))
    state.jobs.submit("repair", lambda: repair(state))


def reindex_if_stale(state: State, store: Store) -> None:
    """Have the index built anew if it lacks memories."""
    if repairing.is_stale(store):
        state.jobs.submit("reindex", lambda: reindex(state))


def flush(state: State, progress: Progress | None = None) -> dict[str, int]:
    """Settle everything now."""
    services = state.services.result()
    taken = intake.take_in(state, progress)
    consolidated = intake.consolidate_now(state, progress)
    derived.publish(state)
    derived.sync_all(state)
    embedder = state.embedder()
    embedded = embed_missing(state, progress)
    if progress is not None:
        progress("upkeep", 0, 1)
    services.store.upkeep()
    intake.save_small(state)
    memory.give_back()
    memory.unmap_code()
    state.jobs.failing.clear()  # all that jobs do by themselves has just been done
    return {
        "taken": taken,
        "consolidated": consolidated,
        "waiting": len(spool.waiting(state.home)),
        "embedded": embedded,
        "unembedded": services.store.count_unembedded(embedder.fingerprint) if embedder is not None else -1,
    }


def waiting_age_s(home: str) -> float:
    """Return the age of the oldest spool file in seconds.

    0 when none waits.
    """
    waiting = spool.waiting(home)
    try:
        return max(0.0, time.time() - os.stat(waiting[0]).st_mtime) if waiting else 0.0
    except OSError:
        return 0.0
