"""Notices that the store does not open, or cannot be read any more: files that vanished, or were cut short."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback

from memlayer.daemon.resources.jobs import frames_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import upkeep
from memlayer.indexing import repair

log = logging.getLogger(__name__)
APART_S = 30.0  # a full disk makes things fail as well, again and again
SLOW_OPENING_S = 20.0  # a second or two is usual; ten when every processor has eight other things to do


def look_at_opening(state: State) -> None:
    """Say once in the log where every thread stands while the store takes too long to open."""
    took_s = time.time() - state.started_ms / 1000
    if state.slow_opening_told or state.services.done() or took_s < SLOW_OPENING_S:
        return
    state.slow_opening_told = True
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        where = frames_of(traceback.extract_stack(frame))
        log.error("the store is still opening; thread %s at %s", names.get(ident, "of native code"), where)


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
    elif repair.is_stale(store):
        state.jobs.submit("reindex", lambda: upkeep.reindex(state))
