"""Answers what the command line asks: JSON in, JSON out. Each op is a function of (state, request, progress)."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from memlayer import __version__, compose
from memlayer.consolidation import lineage
from memlayer.daemon.ops.arguments import folder_of, limit_of, list_of, text_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import consolidation as consolidating
from memlayer.daemon.tasks import upkeep
from memlayer.edge.capture import spool
from memlayer.edge.ipc import protocol
from memlayer.errors import UserError
from memlayer.model import GLOBAL, Memory, Scope
from memlayer.ports import Store
from memlayer.recall.candidate import Candidate
from memlayer.recall.recall import Recalled
from memlayer.recall.snippet import snippet
from memlayer.records.sessions import Session
from memlayer.text.citation import bare_id

OPEN_WAIT_S = 50.0  # less than the command line waits for an answer
NEIGHBOURS = 2

Fields = dict[str, Any]
Progress = Callable[[str, int, int], None]
Operation = Callable[[State, Fields, Progress], Fields]


def services_of(state: State) -> compose.Services:
    """The open store's services. Raises StoreError, or UserError while it is still opening."""
    services = state.ready(OPEN_WAIT_S)
    if services is None:
        raise UserError("The store is still opening. Try again in a moment")
    return services


def recall(state: State, asked: Fields, progress: Progress) -> Fields:
    services = services_of(state)
    folder = folder_of(asked)
    project_id, place = state.projects.find(folder)
    session_id = text_of(asked, "session_id")
    session = state.sessions.get(session_id) if session_id else None
    if session_id and session is None:
        session = Session(id=session_id)
    rules = compose.recall_rules(state.settings_for(place))
    found = services.recall.answer(text_of(asked, "prompt"), state.scope(project_id), rules, session)
    mode, why = state.mode()
    return {
        "block": found.block,
        "mode": mode,
        "why": why,
        "gate": found.gate.value,
        "need": round(found.need, 4),
        "signals": asdict(found.signals) if found.signals else {},
        "queries": [found.query.text, " ".join(found.query.terms)] if found.query else [],
        "took_ms": round(found.took_ms, 2),
        "candidates": [
            {
                "key": one.key,
                "citation": one.citation,
                "score": one.score.score,
                "chance": round(one.chance, 4),
                "parts": {"helps": round(one.helps, 4), **parts_of(asdict(one.score))},
                "kept": one.kept,
                "reason": one.reason.value,
                "snippet": one.snippet or _head(one, found, services),
            }
            for one in found.candidates
        ],
    }


def _head(one: Candidate, found: Recalled, services: compose.Services) -> str:
    """A short look at a candidate that was left out."""
    return snippet(one.chunk.text, services.terms.weights(found.query.terms), 200) if found.query else ""


def show(state: State, asked: Fields, progress: Progress) -> Fields:
    services = services_of(state)
    store = services.store
    by_name = {name: named(store, name) for name in map(bare_id, map(str, list_of(asked, "ids")))}
    matches = {memory.id: memory for found in by_name.values() for memory in found}
    out = []
    for memory in matches.values():
        events = store.events(ids=memory.source_ids)
        turn = lineage.own_turn(store, memory)
        out.append(
            {
                "memory": memory_fields(state, memory),
                "newer": [memory_fields(state, one) for one in store.memories(ids=[memory.superseded_by])],
                "older": [
                    memory_fields(state, one) for one in store.memories(superseded_by=[memory.id]) if one != memory
                ],
                "events": [{name: getattr(event, name) for name in _EVENT_FIELDS} for event in events],
                "missing": services.forget.missing(memory, [event.id for event in events]),
                "neighbours": [
                    {
                        "key": one.key,
                        "citation": one.citation,
                        "at_ms": one.at_ms,
                        "text": one.text,
                        "mine": turn is not None and one.id == turn.id,
                    }
                    for one in (lineage.turns_around(store, turn, NEIGHBOURS) if turn is not None else [])
                ],
            }
        )
    return {"matches": out, "unknown": [name for name, found in by_name.items() if not found]}


def named(store: Store, name: str) -> list[Memory]:
    """The memories that a citation, a key or an id stands for."""
    return store.memories(citations=[name]) or store.memories(keys=[name]) or store.memories(ids=[name])


_EVENT_FIELDS = ("id", "kind", "text", "at_ms", "source")


def list_memories(state: State, asked: Fields, progress: Progress) -> Fields:
    """The memories of a project with those for every project, or of the one scope that is asked for; newest first."""
    store, limit = services_of(state).store, limit_of(asked, 50)
    folder, category = folder_of(asked), text_of(asked, "category")
    project_id = GLOBAL if asked.get("global") else state.projects.find(folder)[0] if folder else ""
    wanted = [(project_id, category)] if project_id or not folder else []
    if folder and project_id != GLOBAL and state.has_global and category in ("", "core"):
        wanted.append((GLOBAL, "core"))
    session_id, is_current = text_of(asked, "session_id"), None if asked.get("all") else True
    found = [
        memory
        for scope, kept in wanted
        for memory in store.memories(
            project_id=scope, session_id=session_id, category=kept, limit=limit, is_current=is_current
        )
    ]
    found = sorted(found, key=lambda one: -one.at_ms)[:limit]
    return {"memories": [memory_fields(state, memory) for memory in found]}


def stats(state: State, asked: Fields, progress: Progress) -> Fields:
    store = services_of(state).store
    counts = asdict(store.stats())
    mode, why = state.mode()
    status = state.status()
    turns, reader = counts.pop("turns_by_reader"), services_of(state).consolidator.extractor.fingerprint
    return {
        **counts,
        "consolidated": turns.get(reader, 0),
        "to_consolidate": sum(turns.values()) - turns.get(reader, 0),
        "by_project": [
            {"project_id": project_id, "project": state.projects.name(project_id), "memories": count}
            for project_id, count in sorted(counts["by_project"].items(), key=lambda item: -item[1])
        ],
        "spool_waiting": len(spool.waiting(state.home)),
        "quarantined": len(spool.quarantined(state.home)),
        "mode": mode,
        "why": why,
        "model": status["model"],
        "daemon": {
            "build": __version__,
            **{name: status[name] for name in ("pid", "since_ms", "rss_bytes", "rebuilding")},
        },
        "language_model": compose.model_use(state.settings, state.home),
        **state.metrics.summary(),
    }


def flush(state: State, asked: Fields, progress: Progress) -> Fields:
    services_of(state)
    if asked.get("wait"):
        state.embedder.settled.wait(OPEN_WAIT_S)
        # A job of its own name: one that waits already would report its progress to somebody else.
        done: Fields = state.jobs.submit("flush %d" % id(asked), lambda: upkeep.flush(state, progress)).result()
        if consolidating.is_slow(state):
            done["consolidated"] = consolidating.submit(state, upkeep.memories_changed).result()
        return done
    state.jobs.submit("flush", lambda: upkeep.flush(state))
    return {"taken": 0, "consolidated": 0, "waiting": len(spool.waiting(state.home)), "embedded": 0, "unembedded": -1}


def reindex(state: State, asked: Fields, progress: Progress) -> Fields:
    services = services_of(state)

    def job() -> Fields:
        consolidated = upkeep.consolidate_now(state, progress)
        upkeep.reindex(state, progress)
        upkeep.embed_missing(state, progress)
        return {"chunks": services.store.stats().chunks, "consolidated": consolidated}

    done: Fields = state.jobs.submit("reindex %d" % id(asked), job).result()
    return done


def repair(state: State, asked: Fields, progress: Progress) -> Fields:
    services_of(state)
    job = state.jobs.submit("repair %d" % id(asked), lambda: upkeep.repair(state, progress, is_asked=True))
    done: Fields = job.result()
    return done


def status(state: State, asked: Fields, progress: Progress) -> Fields:
    return {
        "build": __version__,
        "protocol": protocol.PROTOCOL,
        **state.status(),
        "language_model": compose.model_use(state.settings, state.home),
        "spool_waiting": len(spool.waiting(state.home)),
        "spool_age_s": round(upkeep.waiting_age_s(state.home), 1),
    }


def stop(state: State, asked: Fields, progress: Progress) -> Fields:
    state.leaving.set()
    return {"pid": os.getpid()}


OPERATIONS: dict[str, Operation] = {
    "recall": recall,
    "show": show,
    "list": list_memories,
    "stats": stats,
    "flush": flush,
    "reindex": reindex,
    "repair": repair,
    "status": status,
    "stop": stop,
}


def scope_of(state: State, asked: Fields) -> Scope:
    """The scope of the project that is asked for; every project when none is."""
    folder = folder_of(asked)
    if not folder:
        return Scope(None)
    return state.scope(state.projects.find(folder)[0])


def memory_fields(state: State, memory: Memory) -> Fields:
    """A memory as every answer tells of it."""
    return {**asdict(memory), "source_ids": list(memory.source_ids), "project": state.projects.name(memory.project_id)}


def parts_of(score: Fields) -> Fields:
    """What a score is made of, to four digits."""
    return {name: None if value is None else round(value, 4) for name, value in score.items() if name != "score"}
