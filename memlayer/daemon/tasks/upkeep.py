"""The writer's jobs: take the spool in, catch up, embed, keep indexes in shape, write working sets."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from memlayer import compose
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import consolidation, memory_files, summaries
from memlayer.daemon.tasks.memory_files import renew_working_set
from memlayer.edge.capture import commands, spool
from memlayer.edge.home import paths
from memlayer.edge.home import working_set as on_disk
from memlayer.indexing import repair as repairing
from memlayer.indexing.embedders import TimedEmbedder
from memlayer.model import GLOBAL
from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up

log = logging.getLogger(__name__)
Progress = Callable[[str, int, int], None]  # (phase, done, total)
UPKEEP_EVERY = 8  # drains; the store itself knows whether there is enough to do
OPEN_WAIT_S = 60.0
TURNS_AT_AN_END = 100  # consolidated when a session ends, before its summary is made
LATE_MS = 10_000  # after its end a session's last lines may be stamped; the host takes half a second
MANY = 100  # events taken in at once from which tidying up the memory pays


def drain(state: State, progress: Progress | None = None) -> int:
    """Take in what waits in the spool, and renew the working sets of the projects it touched; returns how many."""
    services = state.services.result()
    memory.go_second()
    spool.sweep(state.home, time.time())  # a forget may have found one too young
    commands.sweep(state.home, time.time())
    told = (lambda done, total: progress("spool", done, total)) if progress else None
    taken, touched = services.ingest.drain(told)
    for project_id in touched:
        renew_working_set(state, services, project_id)
    if taken:
        consolidate(state)
        sum_up_what_is_over(state)  # after a restart the end of a session is known from the spool alone
    state.sessions.save_changed()
    state.drains += 1
    if state.drains % UPKEEP_EVERY == 0:
        services.store.upkeep()  # a session may go on for days: its versions must not pile up until it ends
    if taken >= MANY:
        memory.give_back()
    return taken


def consolidate(state: State) -> None:
    """Have the turns that wait consolidated, in jobs of their own; while the model still loads, load_model does."""
    if not state.embedder.settled.is_set():
        return
    consolidation.submit(state, memories_changed)


def consolidate_now(state: State, progress: Progress | None = None, most: int = 0) -> int:
    """Consolidate every turn that waits, in the writer; returns how many. A language model is not waited for here.

    most: of more turns than that (an import brings thousands) the rest follows in jobs of its own; 0: no such bound.
    """
    if consolidation.is_slow(state) or not state.embedder.settled.is_set():
        consolidate(state)
        return 0
    total = 0
    while done := consolidation.batch(state, memories_changed):
        total += done
        if progress is not None:
            progress("consolidate", total, total)
        if most and total >= most:
            consolidate(state)
            break
    return total


def memories_changed(state: State, project_ids: Iterable[str]) -> None:
    """The lasting memories of these projects have changed: what is made of them is made again."""
    services = state.services.result()
    for project_id in project_ids:
        renew_working_set(state, services, project_id)
    memory_files.memories_changed(state, project_ids)


def catch_up_session(state: State, session: Session, *, is_settling: bool = False) -> int:
    """Take from a session's transcript what its hooks missed; returns how many events.

    is_settling: it ends just now. Later, what came after its end is none of ours: the person may have gone on with
    memlayer switched off.
    """
    services = state.services.result()
    until_ms = session.ended_ms + LATE_MS if session.ended and not is_settling else 0
    try:
        read_bytes = os.stat(session.transcript_path).st_size if session.transcript_path else 0
        events, offset = catch_up.missed(session, services.store, until_ms=until_ms)
    except FileNotFoundError:  # a session that said nothing has none
        return 0
    except OSError as bad:
        log.warning("transcript not readable: %s", bad.strerror)
        return 0
    if events:
        with services.ingest.lock:
            touched = services.ingest.take(events)
        for project_id in touched:
            renew_working_set(state, services, project_id)
        log.info("caught up %d events of a session", len(events))
        consolidate(state)
    if (offset, read_bytes) != (session.caught_up_bytes, session.read_bytes):
        session.caught_up_bytes, session.read_bytes = offset, read_bytes
        state.sessions.changed(session)
        state.sessions.save_changed()
    return len(events)


def take_in(state: State, progress: Progress | None = None) -> int:
    """Everything that was said so far into the store: the spool, then the transcripts of sessions that have not ended,
    or have late lines; returns how many events."""
    taken = drain(state, progress)
    unread = [one for one in state.sessions.all() if not one.ended or one.has_late_lines]
    return taken + sum(catch_up_session(state, session) for session in unread)


def settle_memories(state: State, session: Session) -> None:
    """What was said in a session so far is in the store, its transcript compared, its memories are made."""
    drain(state)
    catch_up_session(state, session, is_settling=True)
    consolidate_now(state, most=TURNS_AT_AN_END)


def settle(state: State, session: Session) -> None:
    """The end of a session: all of it in the store and consolidated, its summary made, the indexes in shape."""
    settle_memories(state, session)
    summaries.sum_up(state, session, memories_changed)
    if session.project_id:
        memory_files.sync(state, session.project_id, recent=True)
    save_small(state)
    if state.services.result().store.upkeep():
        memory.give_back()
        memory.unmap_code()


def sum_up_what_is_over(state: State) -> None:
    """Have summaries made of sessions that ended, or died, without one; in jobs of their own."""
    summaries.submit(state, catch_up_session, memories_changed)


def save_small(state: State) -> None:
    """Write what is kept in memory between requests."""
    state.sessions.save_changed()
    state.metrics.save()
    if state.services.done() and state.services.exception() is None:
        services = state.services.result()
        services.terms.save(Path(paths.cache(state.home)) / "terms.bin")
        memory_files.write(state)


def embed_missing(state: State, progress: Progress | None = None) -> int:
    """Give a vector to every chunk that has none of the current model."""
    services = state.services.result()
    memory.go_second()

    def told(done: int, total: int) -> None:
        state.rebuilding = "embedding %d of %d" % (done, total)
        if progress is not None:
            progress("embed", done, total)

    try:
        return services.ingest.embed_missing(state.settings.embedding.batch_size, told)
    finally:
        state.rebuilding = ""
        memory.give_back()


def reindex(state: State, progress: Progress | None = None) -> int:
    """Build the search index anew from memories and events; returns the number of memories indexed."""
    services = state.services.result()

    def told(done: int, total: int) -> None:
        state.rebuilding = "indexing %d of %d" % (done, total)
        if progress is not None:
            progress("index", done, total)

    try:
        return repairing.rebuild(services.store, services.ingest, told)
    finally:
        state.rebuilding = ""
        memory.give_back()


def repair(state: State, progress: Progress | None = None, *, is_asked: bool = False) -> dict[str, object]:
    """Make again what damage has taken from the store; major damage stays on record until a person asks for this."""
    services = state.services.result()
    damage = services.store.damage()
    told = (lambda done, total: progress("repair", done, total)) if progress else (lambda done, total: None)
    drain(state)
    done = repairing.repair(services.store, services.ingest, state.sessions, told)
    for project_id in state.projects.scopes():
        renew_working_set(state, services, project_id)
    save_small(state)
    if is_asked or (not done.missing and all(note.is_minor for note in damage)):
        services.store.clear_damage()
    log.info("repaired: %s", done)
    return {
        **asdict(done),
        "memories": done.memories + sum(note.brought_back for note in damage),
        "in_doubt": [citation for note in damage for citation in note.in_doubt],
        "damage": ["table %s: %s" % (note.table, note.says) for note in damage],
        "aside": damage[0].aside if damage else "",
    }


def flush(state: State, progress: Progress | None = None) -> dict[str, int]:
    """Settle everything now."""
    services = state.services.result()
    taken = take_in(state, progress)
    consolidated = consolidate_now(state, progress)
    memory_files.sync_all(state)
    embedder = state.embedder()
    embedded = embed_missing(state, progress)
    if progress is not None:
        progress("upkeep", 0, 1)
    services.store.upkeep()
    save_small(state)
    memory.give_back()
    memory.unmap_code()
    state.jobs.failing.clear()  # all that jobs do by themselves has just been done
    return {
        "taken": taken,
        "consolidated": consolidated,
        "waiting": len(spool.waiting(state.home)),
        "embedded": embedded,
        "unembedded": services.store.count_unembedded(embedder.fingerprint) if embedder is not None else -1,
    }


def open_store(state: State, resume: Callable[[State, compose.Services], None]) -> compose.Services:
    """The writer's first job: open the store and take the spool in. Raises StoreError; then the daemon goes on to say
    so in `status`, and the spool keeps every event. resume: what is to be finished before anything else."""
    services = compose.open_services(
        state.home, state.settings, projects=state.projects, sessions=state.sessions, embedder=state.embedder
    )
    services.ingest.on_new = lambda events: state.metrics.redacted(event.text for event in events)
    state.has_global = bool(services.store.memories(project_id=GLOBAL, category="core", is_current=True, limit=1))
    resume(state, services)
    spool.sweep(state.home, time.time())
    on_disk.sweep(state.home)
    state.sessions.all()  # read once, here, and not while a session start waits
    state.jobs.submit("drain", lambda: drain(state))
    if services.store.damage():
        log.error("the store is damaged: %s", "; ".join(note.says for note in services.store.damage()))
        state.jobs.submit("repair", lambda: repair(state))
    elif repairing.is_stale(services.store):
        state.jobs.submit("reindex", lambda: reindex(state))
    return services


def load_model(state: State) -> None:
    """Load the embedding model beside everything else, then embed what was taken in without it."""

    def fit(dimensions: int) -> None:
        services = state.services.result()
        if services.store.dimensions != dimensions:
            state.jobs.submit("fit", lambda: services.store.fit(dimensions)).result()

    make = compose.embedder_maker(state.home, state.settings)
    state.embedder.load((lambda: TimedEmbedder(make(), state.metrics.embedded)) if make is not None else None, fit)
    if state.embedder() is None:
        log.warning("recall is lexical: %s", state.embedder.why)
    else:
        state.jobs.submit("embed", lambda: embed_missing(state))
        memory.loaded()
    consolidate(state)  # what the last daemon left, and what was said meanwhile
    memory_files.begin(state)
    state.jobs.submit("find sessions that are over", lambda: sum_up_what_is_over(state))


def warm(state: State, project_id: str) -> None:
    """Have a project's vectors in memory before its first prompt. The loader's job: by then the model is loaded."""
    services, embedder = state.ready(OPEN_WAIT_S), state.embedder()
    if services is not None and embedder is not None:
        for one in state.scope(project_id).project_ids or ():
            services.store.warm(one, embedder.fingerprint)


def waiting_age_s(home: str) -> float:
    """Age of the oldest spool file in seconds; 0 when none waits."""
    waiting = spool.waiting(home)
    try:
        return max(0.0, time.time() - os.stat(waiting[0]).st_mtime) if waiting else 0.0
    except OSError:
        return 0.0
