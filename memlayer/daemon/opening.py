"""Opens the store when the daemon begins, and again and again while it does not open: no disk is full for ever."""

from __future__ import annotations

import time
from concurrent.futures import Future

from memlayer import compose
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import deletion, upkeep
from memlayer.errors import StoreError

AGAIN_S = 15.0


def begin(state: State) -> None:
    """Have the writer open the store, first of all."""
    state.services = _submit(state, "open")


def look(state: State) -> None:
    """Have the store opened once more when it did not open, every AGAIN_S. Costs nothing when it did.

    Until it is known how that ended everybody is told of the last failure.
    """
    services = state.services
    if not services.done() or services.exception() is None or time.monotonic() - state.opened_s < AGAIN_S:
        return
    if has_broken_runtime(state):
        return  # what was half imported stays so in this process
    _submit(state, "open again").add_done_callback(lambda outcome: _note(state, outcome))


def has_broken_runtime(state: State) -> bool:
    """Whether the store does not open because a package cannot be imported: another process may be luckier, once
    somebody has mended that."""
    failure = state.services.exception() if state.services.done() else None
    return failure is not None and isinstance(failure.__cause__, ImportError)


def _submit(state: State, name: str) -> Future[compose.Services]:
    state.opened_s = time.monotonic()
    return state.jobs.submit(name, lambda: _open(state))


def _open(state: State) -> compose.Services:
    try:
        return upkeep.open_store(state, deletion.resume)
    except ImportError as bad:
        raise StoreError("memlayer's runtime does not work (%s): run `memlayer setup`" % bad) from bad


def _note(state: State, outcome: Future[compose.Services]) -> None:
    state.services = outcome
    if outcome.exception() is None and state.embedder() is None:  # a model is not ready before it fits the store
        state.loader.submit("model", lambda: upkeep.load_model(state))
