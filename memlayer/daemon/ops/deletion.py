"""Answers what the command line asks to have forgotten or let go."""

from __future__ import annotations

import time
from dataclasses import asdict

from memlayer import compose
from memlayer.daemon.ops.arguments import folder_of, list_of, number_of, text_of
from memlayer.daemon.ops.queries import OPEN_WAIT_S, Fields, Operation, Progress, named, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import deletion, upkeep
from memlayer.errors import UserError
from memlayer.model import GLOBAL, Scope
from memlayer.ports import Removed, Selection
from memlayer.recall.query import reduce_prompt
from memlayer.text.citation import bare_id

FLOOR = 0.4  # relevance from which words name a memory
NOTHING: Fields = {
    "memories": [],
    "events": 0,
    "removed": {"events": 0, "memories": 0, "chunks": 0},
    "left": [],
    "unknown": [],
}


def forget(state: State, asked: Fields, progress: Progress) -> Fields:
    """memories: all that go, each with `along`: whether it goes because of another one. events: how many go. left:
    memory files that could not be cleaned, and why, one line each. unknown: ids that nothing is known by; they are an
    error unless `tolerant` asks only to see (`dry_run`)."""
    services = services_of(state)
    # What is not in the store yet is told of by nothing, and has no id by which it could stay forgotten.
    take = upkeep.drain if asked.get("dry_run") else upkeep.take_in
    state.jobs.submit("take in", lambda: take(state)).result()
    folder = folder_of(asked)
    project_id = GLOBAL if asked.get("global") else state.projects.find(folder)[0] if folder else ""
    if folder and not project_id:
        return NOTHING
    chosen: tuple[str, ...] = ()
    wanted = [bare_id(str(one)) for one in list_of(asked, "ids")]
    query = text_of(asked, "query")
    unknown: list[str] = []
    if wanted:
        by_name = {name: named(services.store, name) for name in wanted}
        chosen = tuple(one.id for found in by_name.values() for one in found)
        unknown = [name for name, found in by_name.items() if not found]
        if unknown and not (asked.get("tolerant") and asked.get("dry_run")):
            names = ", ".join(repr(name) for name in unknown)
            raise UserError(f"Nothing is known by {names}. Nothing is forgotten; `memlayer search` shows citations")
        if not chosen:
            return {**NOTHING, "unknown": unknown}
    if query:
        scope = Scope((project_id,) if project_id else None, extra={"category": "core"} if asked.get("global") else {})
        rules = compose.recall_rules(state.settings)
        hits = services.retriever.search(reduce_prompt(query), scope, rules.candidates, rules.weights)
        near = {chunk.memory_id for chunk, score in hits if score.relevance >= FLOOR}
        chosen = tuple(near & set(chosen)) if wanted else tuple(near)
        if not chosen:
            return NOTHING
    selection = Selection(chosen, text_of(asked, "session_id"), project_id, int(number_of(asked, "before_ms")))
    if selection == Selection() or (asked.get("global") and not (wanted or query)):
        raise UserError("Forget what? Give an ID, --session, --project, --query or --before")
    keep_sources = bool(asked.get("keep_sources"))
    wanted_ids = {memory.id for memory in services.forget.select(selection)}
    if chosen and not wanted_ids:
        return NOTHING
    going = services.forget.going(selection, keep_sources=keep_sources)
    events = len(services.forget.doomed(selection, keep_sources=keep_sources).event_ids)
    memories = [
        {
            **asdict(memory),
            "source_ids": list(memory.source_ids),
            "project": state.projects.name(memory.project_id),
            "along": memory.id not in wanted_ids,
        }
        for memory in going
    ]
    removed, left = Removed(), list[str]()
    if not asked.get("dry_run"):
        job = lambda: deletion.forget(state, selection, keep_sources=keep_sources)  # noqa: E731
        removed, left = state.jobs.submit("forget %d" % id(asked), job).result()
    return {
        "memories": memories,
        "events": events,
        "removed": asdict(removed),
        "left": left,
        "unknown": unknown,
    }


def gc(state: State, asked: Fields, progress: Progress) -> Fields:
    """rows: what is too old, by project and kind. days: the settings. left: see forget."""
    services = services_of(state)
    rules = compose.retention_rules(state.settings)
    aged = services.retention.aged(rules, int(time.time() * 1000))
    removed, left = Removed(), list[str]()
    if not asked.get("dry_run"):
        state.embedder.settled.wait(OPEN_WAIT_S)
        state.jobs.submit("take in", lambda: upkeep.take_in(state)).result()
        removed, left = state.jobs.submit("gc", lambda: deletion.gc(state)).result()
    rows = [{**asdict(one), "project": state.projects.name(one.project_id)} for one in aged.counts]
    return {"days": asdict(rules), "rows": rows, "removed": asdict(removed), "left": left}


OPERATIONS: dict[str, Operation] = {"forget": forget, "gc": gc}
