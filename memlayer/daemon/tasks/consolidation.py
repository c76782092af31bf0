"""Has turns consolidated: by rules in the writer, a few at a time; by a language model beside it, which takes long."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State

log = logging.getLogger(__name__)

# A session that starts may wait for the writer; but each batch costs some writes of LanceDB, however small it is.
TURNS_AT_ONCE = 20
UPKEEP_EVERY = 8  # batches; each leaves fragments that slow the next one down
MADE_AGAIN_S = 10.0
TURNS_READ_AT_ONCE = 2  # what a model has read is kept soon: it was paid for

AfterEach = Callable[[State, set[str]], None]  # told of the projects whose memories have changed


def submit(state: State, after: AfterEach) -> Future[int]:
    """Have the turns that wait consolidated soon; the future carries how many. An import comes first: a person waits
    for it, and it asks for this when it is done."""
    if state.importing.locked():
        later: Future[int] = Future()
        later.set_result(0)
        return later
    if is_slow(state):
        return state.reader.submit("consolidate", lambda: read_all(state, after))
    return state.jobs.submit("consolidate", lambda: some(state, after))


def is_slow(state: State) -> bool:
    """True if turns are read by a language model."""
    return state.settings.consolidation.provider != "rules"


def some(state: State, after: AfterEach) -> int:
    """The writer's job: consolidate some turns by rules, and come again if more wait; returns how many."""
    done = batch(state, after)
    if done == TURNS_AT_ONCE:
        submit(state, after)
    return done


def batch(state: State, after: AfterEach) -> int:
    """Consolidate at most TURNS_AT_ONCE turns in this thread, the writer; returns how many."""
    services = state.services.result()
    memory.go_second()
    done = services.consolidator.settle_turns(TURNS_AT_ONCE)
    state.batches += 1
    if state.batches % UPKEEP_EVERY == 0:
        services.store.upkeep()
    # What is made of memories costs far more than eight more of them: while turns wait it is made now and then.
    if done < TURNS_AT_ONCE or time.monotonic() > state.made_again + MADE_AGAIN_S:
        after(state, services.consolidator.changed_projects())
        state.made_again = time.monotonic()
    return done


def read_all(state: State, after: AfterEach) -> int:
    """The reader's job: have a model read every turn that waits; the writer keeps what it finds. Returns how many."""
    services = state.services.result()
    memory.go_second()
    total = 0
    while not state.leaving.is_set():
        found = services.consolidator.read_turns(TURNS_READ_AT_ONCE)

        def keep() -> int:
            kept = services.consolidator.keep_turns(found)  # noqa: B023 - run before the next round
            after(state, services.consolidator.changed_projects())
            return kept

        kept: int = state.jobs.submit("keep what was read", keep).result() if found else 0
        if not kept:
            break
        total += kept
    return total
