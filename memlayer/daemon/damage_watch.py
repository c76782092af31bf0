"""Notices while it runs that the store cannot be read any more: files that vanished, or were cut short."""

from __future__ import annotations

import logging
import time

from memlayer.daemon import upkeep
from memlayer.daemon.state import State
from memlayer.service import rebuild

log = logging.getLogger(__name__)
APART_S = 30.0  # a full disk makes things fail as well, again and again


def look(state: State) -> None:
    """Have the store looked at when something has failed since. Costs nothing when nothing has."""
    if not state.services.done() or state.services.exception() is not None:
        return
    if state.services.result().store.is_suspect and time.monotonic() - state.rechecked_s > APART_S:
        state.rechecked_s = time.monotonic()
        state.jobs.submit("look at the store", lambda: recheck(state))


def recheck(state: State) -> None:
    """Open the store anew, behind everything that uses it, and repair what is found damaged. Raises StoreError."""
    store = state.services.result().store
    if store.recheck():
        log.error("the store is damaged: %s", "; ".join(note.says for note in store.damage()))
        state.jobs.submit("repair", lambda: upkeep.repair(state))
    elif rebuild.is_stale(store):
        state.jobs.submit("reindex", lambda: upkeep.reindex(state))
