"""Consolidation of turns by rules or by a language model.

Rules run in the writer, a few turns at a time; a slow language model runs beside it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks.derived import memories_changed

log = logging.getLogger(__name__)
Progress = Callable[[str, int, int], None]  # (phase, done, total)
# A session that starts may wait for the writer; but each batch costs some writes of LanceDB, however small it is.
TURNS_AT_ONCE = 20
UPKEEP_EVERY = 8  # batches; each leaves fragments that slow the next one down
PUBLISH_EVERY_S = 10.0
TURNS_READ_AT_ONCE = 2  # the answers of a model are stored soon: they were paid for


def begin(state: State) -> None:
    """Have waiting turns consolidated in jobs of their own.

    While the model loads, opening does it afterwards.
    """
    if state.embedder.settled.is_set():
        submit(state)


def submit(state: State) -> Future[int]:
    """Have waiting turns consolidated soon; the future carries their number.

    An import comes first: a person waits for it, and it asks for this when it is done.
    """
    if state.importing.locked():
        later: Future[int] = Future()
        later.set_result(0)
        return later
    if is_slow(state):
        return state.reader.submit("consolidate", lambda: _read_all(state))
    return state.jobs.submit("consolidate", lambda: _some(state))


def is_slow(state: State) -> bool:
    """Return whether a language model reads the turns."""
    return state.settings.consolidation.provider != "rules"


def consolidate_now(state: State, progress: Progress | None = None, most: int = 0) -> int:
    """Consolidate every waiting turn, in the writer; return how many.

    A language model is not waited for here. most: of more turns than that (an import brings thousands) the rest follows
    in jobs of its own; 0: no such bound.
    """
    if is_slow(state) or not state.embedder.settled.is_set():
        begin(state)
        return 0
    total = 0
    while done := _batch(state):
        total += done
        if progress is not None:
            progress("consolidate", total, total)
        if most and total >= most:
            begin(state)
            break
    return total


def _some(state: State) -> int:
    """Consolidate some turns by rules, and come again for more.

    Returns how many. The writer's job.
    """
    done = _batch(state)
    if done == TURNS_AT_ONCE:
        submit(state)
    return done


def _batch(state: State) -> int:
    """Consolidate at most TURNS_AT_ONCE turns in this thread, the writer.

    Returns how many.
    """
    services = state.services.result()
    memory.go_second()
    done = services.consolidator.settle_turns(TURNS_AT_ONCE)
    state.batches += 1
    if state.batches % UPKEEP_EVERY == 0:
        services.store.upkeep()
    # Files and working sets cost far more than eight more turns: while turns wait they are written now and then.
    if done < TURNS_AT_ONCE or time.monotonic() > state.published_s + PUBLISH_EVERY_S:
        memories_changed(state, services.consolidator.changed_projects())
        state.published_s = time.monotonic()
    return done


def _read_all(state: State) -> int:
    """Have a model read every waiting turn.

    The writer keeps its answers. Returns how many. The reader's job.
    """
    services = state.services.result()
    memory.go_second()
    total = 0
    while not state.leaving.is_set():
        found = services.consolidator.read_turns(TURNS_READ_AT_ONCE)

        def keep() -> int:
            kept = services.consolidator.keep_turns(found)  # noqa: B023 - run before the next round
            memories_changed(state, services.consolidator.changed_projects())
            return kept

        kept: int = state.jobs.submit("keep answers of the model", keep).result() if found else 0
        if not kept:
            break
        total += kept
    return total
