"""Deletion on request, by age, or left unfinished by a crash."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from dataclasses import asdict

from memlayer.compose import Services
from memlayer.daemon.ops.requests import (
    OPEN_WAIT_S,
    Progress,
    limit_of,
    named,
    project_of,
    row_of,
    services_of,
    session_named,
)
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived, intake
from memlayer.deletion.forget import ForgetPlan
from memlayer.errors import DaemonError, StoreError, UserError
from memlayer.give.query import typed_query
from memlayer.kinds import Category
from memlayer.model import Scope
from memlayer.ports import Removed, Selection
from memlayer.text.context_block import bare_id
from memlayer.wire import curation as ops

log = logging.getLogger(__name__)
APART_S = 10.0  # between two looks whether deletion by age is due
UNFINISHED = "not everything is gone: %s: %s; ask again, or the daemon finishes it when it starts next"
FLOOR = 0.4  # relevance from which words name a memory


def forget(state: State, arguments: ops.Forget, progress: Progress) -> ops.Forgotten:
    """Forget a selection of memories, or only show it (`dry_run`).

    memories: all that go, each with `along`: whether it goes because of another one. events: how many go. left: memory
    files that could not be cleaned, and why, one line each. unknown: ids of no memory. They are an error unless
    `tolerant` and `dry_run`.
    """
    services = services_of(state)
    # An event outside the store has no id by which it could stay forgotten.
    take = intake.drain if arguments.dry_run else intake.take_in
    state.jobs.submit("take in", lambda: take(state)).result()
    project_id = project_of(state, arguments.project_dir, is_global=arguments.is_global)
    if arguments.project_dir and not project_id:
        return ops.Forgotten()
    is_narrowed = bool(arguments.ids or arguments.query)
    session_id = session_named(state, arguments.session_id)
    chosen, unknown = _chosen(state, services, arguments, project_id)
    if is_narrowed and not chosen:
        return ops.Forgotten(unknown=unknown)
    selection = Selection(chosen, session_id, project_id, arguments.before_ms)
    if selection == Selection() or (arguments.is_global and not is_narrowed):
        raise UserError("Give an ID, --session, --project, --query or --before")
    keep_sources = arguments.keep_sources
    if chosen and not services.forget.select(selection):
        return ops.Forgotten()
    removed, left = Removed(), list[str]()
    if arguments.dry_run:
        plan = services.forget.plan(selection, keep_sources=keep_sources)
    else:
        job = lambda: erase(state, selection, keep_sources=keep_sources)  # noqa: E731
        plan, removed, left = state.jobs.submit("forget %d" % id(arguments), job).result()
    memories: list[ops.ForgottenMemory] = [
        row_of(state, memory, ops.ForgottenMemory, along=memory.id not in plan.named_ids) for memory in plan.memories
    ]
    return ops.Forgotten(
        memories=memories,
        events=len(plan.rows.event_ids),
        removed=removed,
        left=left,
        unknown=unknown,
    )


def _chosen(
    state: State, services: Services, arguments: ops.Forget, project_id: str
) -> tuple[tuple[str, ...], list[str]]:
    """Return selected and unknown ids. Raises UserError for unknown ids."""
    by_name = {name: named(services.store, name) for name in map(bare_id, arguments.ids)}
    chosen = tuple(memory.id for memories in by_name.values() for memory in memories)
    unknown = [name for name, memories in by_name.items() if not memories]
    if unknown and not (arguments.tolerant and arguments.dry_run):
        names = ", ".join(repr(name) for name in unknown)
        raise UserError(f"Nothing is known by {names}. Nothing is forgotten; `memlayer search` shows citations")
    if not arguments.query or (arguments.ids and not chosen):
        return chosen, unknown
    scope = Scope(
        (project_id,) if project_id else None, extra={"category": Category.CORE} if arguments.is_global else {}
    )
    rules = state.rules.recall
    hits = services.retriever.search(typed_query(arguments.query), scope, rules.candidates, rules.weights)
    near = {chunk.memory_id for chunk, score in hits if score.relevance >= FLOOR}
    selected = tuple(near & set(chosen)) if arguments.ids else tuple(near)
    return selected, unknown if selected else []


def gc(state: State, arguments: ops.Gc, progress: Progress) -> ops.Aged:
    """Delete memories that are too old, or only show them (`dry_run`)."""
    services, only = services_of(state), limit_of(state, arguments.limit_dir)
    rules = state.rules.retention
    plan = services.retention.plan(rules, int(time.time() * 1000))
    removed, left = Removed(), list[str]()
    if not arguments.dry_run:
        state.embedder.settled.wait(OPEN_WAIT_S)
        state.jobs.submit("take in", lambda: intake.take_in(state)).result()
        removed, left = state.jobs.submit("gc", lambda: collect(state)).result()
    rows = [
        ops.AgedRows.of(count, project=state.projects.name(count.project_id))
        for count in plan.counts
        if only in ("", count.project_id)
    ]
    return ops.Aged(days=asdict(rules), rows=rows, removed=removed, left=left)


# -- the writer's jobs


def erase(state: State, selection: Selection, *, keep_sources: bool = False) -> tuple[ForgetPlan, Removed, list[str]]:
    """Forget a selection and renew everything derived from memories.

    Returns (the executed plan, counts, memory files that could not be cleaned and why, one line each).
    """
    services = state.services.result()
    try:
        plan = services.forget.plan(selection, keep_sources=keep_sources)
        removed, project_ids = services.forget.forget(plan)
        left = renew(state, services, project_ids)
        intake.submit_summaries(state)  # outcomes of the turns that stay
    except OSError as bad:
        raise DaemonError(UNFINISHED % (bad.strerror, bad.filename)) from bad
    return plan, removed, left


def collect(state: State) -> tuple[Removed, list[str]]:
    """Delete memories that are too old, and tidy up. Returns as erase."""
    services, rules = state.services.result(), state.rules.retention
    now_s = time.time()
    if rules.is_on:
        intake.consolidate_now(state)  # the lasting part of a turn is kept before the turn goes
    try:
        services.retention.done(now_s)  # before it is: a failure is tried again tomorrow
        removed, project_ids = services.retention.delete(rules, int(now_s * 1000))
        left = renew(state, services, project_ids)
    except OSError as bad:
        raise DaemonError(UNFINISHED % (bad.strerror, bad.filename)) from bad
    services.store.upkeep(force=True)
    memory.give_back()
    if removed != Removed():
        log.info("let go: %d events, %d memories", removed.events, removed.memories)
    return removed, left


def begin_gc_if_due(state: State) -> None:
    """Have old memories deleted once a day; looks every APART_S."""
    rules = state.rules.retention
    if not rules.is_on or not state.is_open:
        return
    if not state.embedder.settled.is_set():
        return  # without it no turn is consolidated
    if time.monotonic() - state.gc_s <= APART_S:
        return
    state.gc_s = time.monotonic()
    if state.services.result().retention.is_due(rules, time.time()):
        state.jobs.submit("gc", lambda: collect(state))


def resume(state: State, services: Services) -> None:
    """Finish an interrupted deletion, before anything else uses the store."""
    try:
        project_ids = services.forget.erasure.resume()
        if project_ids:
            state.jobs.submit("finish forgetting", lambda: renew(state, services, project_ids))
        else:
            services.forget.erasure.finished()
    except (OSError, StoreError) as bad:
        log.error("an interrupted forget is not finished: %s", bad)


def renew(state: State, services: Services, project_ids: Iterable[str]) -> list[str]:
    """Renew all that derives from memories; return files left alone."""
    services.live.clear()
    state.rule_notices.clear()
    left = []
    for project_id in project_ids:
        derived.renew(state, (project_id,))
        services.files.sync(project_id, force=True)
        left += services.files.left_alone(project_id)
    services.forget.erasure.finished()
    return left
