"""Deletion on request, by age, or left unfinished by a crash."""

import logging
import time
from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from shlex import quote

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
from memlayer.kinds import Ended
from memlayer.model import Memory, Scope, replace
from memlayer.ports import Removed, Selection
from memlayer.text.context_block import bare_id
from memlayer.text.whole_words import holding
from memlayer.wire import curation as ops

log = logging.getLogger(__name__)
APART_S = 10.0  # between two looks whether deletion by age is due
UNFINISHED = "not everything is gone: %s: %s; ask again, or the daemon finishes it when it starts next"
MOST_RANKED = 2000  # chunks of each search
FLOOR, MOST_NEAR = 0.4, 10  # relevance from which memories are near in meaning


def forget(state: State, arguments: ops.Forget, progress: Progress) -> ops.Forgotten:
    """Forget a selection of memories, or only show it (`dry_run`).

    Words select the memories that hold each of them whole (text.whole_words). Unknown ids are an error
    unless `tolerant` and `dry_run`. For the answer see its type.
    """
    services = services_of(state)
    # An event outside the store has no id by which it could stay forgotten.
    take = intake.drain if arguments.dry_run else intake.take_in
    state.jobs.submit("take in", lambda: take(state)).result()
    project_id = project_of(state, arguments.project_dir)
    if arguments.project_dir and not project_id:
        return ops.Forgotten()
    is_narrowed = bool(arguments.ids or arguments.query)
    within = Selection((), session_named(state, arguments.session_id), project_id, arguments.before_ms)
    if not is_narrowed and within == Selection():
        raise UserError("Give an ID, --session, --project, --query or --before")
    ids, unknown = _named(services, arguments)
    selection, near = replace(within, memory_ids=ids), list[Memory]()
    if arguments.query and (ids or not arguments.ids):
        selection, near = _worded(state, services, arguments.query, selection)
    rows = partial(row_of, state, kind=ops.ForgottenMemory)
    if is_narrowed and not (selection.memory_ids and services.forget.select(selection)):
        return ops.Forgotten(unknown=unknown, near=list(map(rows, near)))
    keep_sources = arguments.keep_sources
    removed, left = Removed(), list[str]()
    if arguments.dry_run:
        plan = services.forget.plan(selection, keep_sources=keep_sources)
    else:
        job = lambda: erase(state, selection, keep_sources=keep_sources)  # noqa: E731
        plan, removed, left = state.jobs.submit("forget %d" % id(arguments), job).result()
    order = {id_: place for place, id_ in enumerate(selection.memory_ids)}
    memories = sorted(plan.memories, key=lambda memory: order.get(memory.id, len(order)))
    return ops.Forgotten(
        memories=[rows(memory, along=memory.id not in plan.named_ids) for memory in memories],
        events=len(plan.rows.event_ids),
        removed=removed,
        left=left,
        unknown=unknown,
        in_transcript=plan.in_transcript,
    )


def _named(services: Services, arguments: ops.Forget) -> tuple[tuple[str, ...], list[str]]:
    """Return the named and the unknown ids. Raises UserError for unknown ids."""
    by_name = {name: named(services.store, name) for name in map(bare_id, arguments.ids)}
    unknown = [name for name, memories in by_name.items() if not memories]
    if unknown and not (arguments.tolerant and arguments.dry_run):
        names, by_words = ", ".join(map(repr, unknown)), quote(" ".join(unknown))
        raise UserError(
            f"No id: {names}. Nothing is forgotten. `memlayer forget --query {by_words}` shows what has these words"
        )
    return tuple(memory.id for memories in by_name.values() for memory in memories), unknown


def _worded(state: State, services: Services, query: str, within: Selection) -> tuple[Selection, list[Memory]]:
    """Return the memories with all words of a query, best match first.

    Where none does, those near the words in meaning come as well.
    """
    scope = Scope((within.project_id,) if within.project_id else None)
    hits = services.recall.retriever.search(typed_query(query), scope, MOST_RANKED, state.rules.recall.weights)
    places = {chunk.memory_id: place for place, (chunk, _) in enumerate(hits)}
    memories = sorted(services.forget.select(within), key=lambda memory: places.get(memory.id, len(places)))
    held = holding(query, services.forget.texts(memories))
    close = [] if held else [chunk.memory_id for chunk, score in hits if score.relevance >= FLOOR][:MOST_NEAR]
    # Earlier wordings go in any case.
    along = {row.id for row in memories if row.superseded_by in held and row.ended_because == Ended.REWORDED}
    named_ids = tuple(id_ for id_ in held if id_ not in along)
    return replace(within, memory_ids=named_ids), [memory for memory in memories if memory.id in close]


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
    if not state.times.is_due("gc", APART_S):
        return
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


def renew(state: State, services: Services, project_ids: Collection[str]) -> list[str]:
    """Renew all that derives from memories; return files left alone."""
    services.recall.live.clear()
    state.rule_notices.clear()
    left = []
    derived.publish_of(state, project_ids)
    for project_id in project_ids:
        services.files.sync(project_id, force=True)
        left += services.files.left_alone(project_id)
    services.forget.erasure.finished()
    return left
