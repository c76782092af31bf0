"""Opens the store when the daemon begins, and again and again while it does not open: no disk is full for ever."""

from __future__ import annotations

import time
from concurrent.futures import Future

from memlayer import compose
from memlayer.daemon import letting_go, upkeep
from memlayer.daemon.state import State

AGAIN_S = 15.0


def begin(state: State) -> None:
    """Have the writer open the store, first of all."""
    state.opened_s = time.monotonic()
    state.services = state.jobs.submit("open", lambda: upkeep.open_store(state, letting_go.resume))


def look(state: State) -> None:
    """Have the store opened once more when it did not open, every AGAIN_S. Costs nothing when it did."""
    services = state.services
    if not services.done() or services.exception() is None or time.monotonic() - state.opened_s < AGAIN_S:
        return
    state.opened_s = time.monotonic()
    state.jobs.submit("open again", lambda: again(state))


def again(state: State) -> None:
    """Open the store; until that is known to have worked the last failure is what everybody is told. Raises what
    opening it raises."""
    outcome: Future[compose.Services] = Future()
    try:
        outcome.set_result(upkeep.open_store(state, letting_go.resume))
    except BaseException as bad:  # what is told of it is the newest failure, a panic in Rust too
        outcome.set_exception(bad)
        raise
    finally:
        state.services = outcome
    if state.embedder() is None:  # a model is not ready before it fits the store
        state.loader.submit("model", lambda: upkeep.load_model(state))
