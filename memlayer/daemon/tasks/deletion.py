"""Deletion in the writer, on request or by age.

Includes deletions that a crash left unfinished.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from memlayer.compose import Services
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import consolidation, derived
from memlayer.deletion.forget import ForgetPlan
from memlayer.errors import DaemonError, StoreError
from memlayer.ports import Removed, Selection

log = logging.getLogger(__name__)
APART_S = 10.0
UNFINISHED = "not everything is gone: %s: %s; ask again, or the daemon finishes it when it starts next"


def forget(state: State, selection: Selection, *, keep_sources: bool = False) -> tuple[ForgetPlan, Removed, list[str]]:
    """Forget a selection and renew everything derived from memories.

    Returns (the executed plan, counts, memory files that could not be cleaned and why, one line each).
    """
    services = state.services.result()
    try:
        plan = services.forget.plan(selection, keep_sources=keep_sources)
        removed, project_ids = services.forget.forget(plan)
        left = _renew(state, services, project_ids)
    except OSError as bad:
        raise DaemonError(UNFINISHED % (bad.strerror, bad.filename)) from bad
    return plan, removed, left


def gc(state: State) -> tuple[Removed, list[str]]:
    """Delete memories that are too old, and tidy the store.

    The age is the user's setting. Returns as forget.
    """
    services, rules = state.services.result(), state.rules.retention
    now_s = time.time()
    if rules.is_on:
        consolidation.consolidate_now(state)  # the lasting part of a turn is kept before the turn goes
    try:
        services.retention.done(now_s)  # before it is: a failure is tried again tomorrow
        removed, project_ids = services.retention.delete(rules, int(now_s * 1000))
        left = _renew(state, services, project_ids)
    except OSError as bad:
        raise DaemonError(UNFINISHED % (bad.strerror, bad.filename)) from bad
    services.store.upkeep(force=True)
    memory.give_back()
    if removed != Removed():
        log.info("let go: %d events, %d memories", removed.events, removed.memories)
    return removed, left


def begin_gc_if_due(state: State) -> None:
    """Have old memories deleted once a day.

    Looks every APART_S, and only where a setting deletes any.
    """
    rules = state.rules.retention
    if not rules.is_on or not state.is_open:
        return
    if not state.embedder.settled.is_set():
        return  # without it no turn is consolidated
    if time.monotonic() - state.gc_s <= APART_S:
        return
    state.gc_s = time.monotonic()
    if state.services.result().retention.is_due(rules, time.time()):
        state.jobs.submit("gc", lambda: gc(state))


def resume(state: State, services: Services) -> None:
    """Finish a deletion that a crash interrupted.

    It comes before anything else is done with the store.
    """
    try:
        project_ids = services.forget.erasure.resume()
        if project_ids:
            state.jobs.submit("finish forgetting", lambda: _renew(state, services, project_ids))
        else:
            services.forget.erasure.finished()
    except (OSError, StoreError) as bad:
        log.error("an interrupted forget is not finished: %s", bad)


def _renew(state: State, services: Services, project_ids: Iterable[str]) -> list[str]:
    services.live.clear()
    left = []
    for project_id in project_ids:
        derived.renew(state, (project_id,))
        services.files.sync(project_id, force=True)
        left += services.files.left_alone(project_id)
    services.forget.erasure.finished()
    return left
