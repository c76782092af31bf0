"""Operations on the daemon and its store, and the store's upkeep."""

import logging
import os
import time

from memlayer import compose
from memlayer.config import is_outdated, what_holds
from memlayer.consolidation.extractor import RULES
from memlayer.daemon.ops.requests import OPEN_WAIT_S, Progress, limit_of, project_of, services_of
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State, no_report
from memlayer.daemon.tasks import derived, intake, reading, vectors
from memlayer.edge.capture import spool
from memlayer.errors import UserError
from memlayer.indexing import repair as repairing
from memlayer.notes.review import ReviewLog
from memlayer.ports import Store
from memlayer.records.tombstones import Tombstones
from memlayer.records.usages import uses_within
from memlayer.transcripts import audit
from memlayer.wire import upkeep as ops

log = logging.getLogger(__name__)
DAY_MS = 86_400_000
USED_DAYS = 30
RECHECK_APART_S = 30.0  # a full disk makes things fail as well, again and again


def stats(state: State, arguments: ops.Stats, progress: Progress) -> ops.StatsFound:
    """Return the counts of the store, and the daemon's own."""
    services, only = services_of(state), limit_of(state, arguments.limit_dir)
    stored = services.store.stats()
    turns = stored.turns_by_rules
    return arguments.read_answer(
        {
            **stored.fields(),
            "by_project": {id_: rows for id_, rows in stored.by_project.items() if only in ("", id_)},
            "daemon": state.status().fields(),
            "sessions": len(state.sessions.all()),  # as `sessions` and an export count them
            "used": uses_within(services.store, USED_DAYS).fields(),
            "consolidated": turns.get(str(RULES), 0),
            "to_consolidate": sum(turns.values()) - turns.get(str(RULES), 0),
            "quarantined": len(spool.quarantined(state.home)),
            "memory_notes": reading.status(state).fields(),
            "embedding_use": compose.embedding_use(state.settings, state.home).fields(),
            **state.metrics.summary(),
        }
    )


def flush(state: State, arguments: ops.Flush, progress: Progress) -> ops.Settled:
    """Settle everything, and wait for it."""
    services_of(state)
    state.embedder.settled.wait(OPEN_WAIT_S)
    # A job of its own name: one that waits already would report its progress to somebody else.
    done: ops.Settled = state.jobs.submit("flush %d" % id(arguments), lambda: settle(state, progress)).result()
    embedded = vectors.embed_all(state, progress)
    return done.changed(embedded=embedded, unembedded=vectors.missing(state) if state.embedder() is not None else -1)


def files(state: State, arguments: ops.Files, progress: Progress) -> ops.MemoryFiles:
    """Read a project's memory files back, write them, and return their places."""
    services = services_of(state)
    project_id = project_of(state, arguments.project_dir)
    if not project_id:
        raise UserError("No memory files yet: nothing is remembered of this project")
    if arguments.accept and not services.files.accept(project_id):
        raise UserError("Nothing to accept: this project's memory files are in the home (files.location: home)")
    job = state.jobs.submit("files %d" % id(arguments), lambda: derived.sync(state, project_id))
    taken = job.result()
    while not state.jobs.submit("extra %d" % id(arguments), lambda: derived.extra_part(state)).result():
        progress("extra files", 0, 1)
    return ops.MemoryFiles(
        project_id=project_id,
        project=state.projects.name(project_id),
        folder=services.files.folder(project_id),
        files=services.files.paths(project_id),
        taken_back=taken,
        notices=state.status().file_notices,
        extra=services.files.extra.counts(),
    )


def reindex(state: State, arguments: ops.Reindex, progress: Progress) -> ops.Reindexed:
    """Build the search index anew."""
    services = services_of(state)

    def job() -> ops.Reindexed:
        repairing.mark_turns(services.store, services.ingest)
        consolidated = intake.consolidate_now(state, progress)
        rebuild(state, progress)
        return ops.Reindexed(chunks=services.store.stats().chunks, consolidated=consolidated)

    done: ops.Reindexed = state.jobs.submit("reindex %d" % id(arguments), job).result()
    vectors.embed_all(state, progress)
    return done


def repair(state: State, arguments: ops.Repair, progress: Progress) -> ops.Repaired:
    """Repair the store, and take its damage off the record."""
    services_of(state)
    job = state.jobs.submit("repair %d" % id(arguments), lambda: mend(state, progress, is_requested=True))
    done: ops.Repaired = job.result()
    return done


def witness(state: State, arguments: ops.Witness, progress: Progress) -> ops.Witnessed:
    """Return the audit of the host's transcripts against the store."""
    store = services_of(state).store
    now_ms = int(time.time() * 1000)
    seen = audit.audit_sessions(state.home, state.sessions.all(), store, Tombstones(state.home), now_ms)
    finding = audit.finding(seen, is_capturing=state.settings.capture.enabled)
    return seen.changed(finding=list(finding))


def settings(state: State, arguments: ops.Settings, progress: Progress) -> ops.SettingsHeld:
    """Return the settings of the files of now and the caller's variables."""
    variables = dict(variable.partition("=")[::2] for variable in arguments.variables)
    held = what_holds(state.home, arguments.root, variables)
    return arguments.read_answer({**held, "changed_since_daemon": is_outdated(state.held.stamp, state.home)})


def status(state: State, arguments: ops.Status, progress: Progress) -> ops.StatusFound:
    """Return the daemon's state, also while the store is opening or failed."""
    return state.status()


def stop(state: State, arguments: ops.Stop, progress: Progress) -> ops.Stopped:
    """Have the daemon leave."""
    state.life.stopped_ns = time.time_ns()
    state.life.leaving.set()
    return ops.Stopped(pid=os.getpid())


# -- upkeep


def rebuild(state: State, progress: Progress = no_report) -> int:
    """Build the search index anew; return the number of memories."""
    services = state.services.result()
    services.tasks.rebuild()

    def report(done: int, total: int) -> None:
        state.jobs.progress = "indexing %d of %d" % (done, total)
        progress("index", done, total)

    try:
        return repairing.rebuild(services.store, services.keep.indexer, report)
    finally:
        state.jobs.progress = ""
        memory.give_back()
        vectors.embed_left(state)


def mend(state: State, progress: Progress = no_report, *, is_requested: bool = False) -> ops.Repaired:
    """Repair the store, major damage only where a person requests it."""
    services = state.services.result()
    damage = services.store.damage()
    report = lambda done, total: progress("repair", done, total)  # noqa: E731
    intake.drain(state)
    dropped = ReviewLog(state.home).dropped()
    done = repairing.repair(services.store, services.ingest, state.sessions, report, dropped)
    services.tasks.rebuild()
    derived.publish_of(state, state.projects.scopes())
    intake.save_small(state)
    if is_requested or (not done.missing and all(note.is_minor for note in damage)):
        services.store.clear_damage()
    log.info("repaired: %s", done)
    return done.changed(
        memories=done.memories + sum(note.brought_back for note in damage),
        in_doubt=[citation for note in damage for citation in note.in_doubt],
        damage=["table %s: %s" % (note.table, note.says) for note in damage],
        aside=damage[0].aside if damage else "",
    )


def look(state: State) -> None:
    """Have the store checked when something failed: files that vanished."""
    if not state.is_open:
        return
    if state.services.result().store.is_suspect and state.times.is_due("recheck", RECHECK_APART_S):
        state.jobs.submit("look at the store", lambda: _recheck(state))


def _recheck(state: State) -> None:
    """Open the store anew and have damage repaired. Raises StoreError."""
    store = state.services.result().store
    if store.recheck():
        submit_repair(state, store)
    else:
        reindex_if_stale(state, store)


def submit_repair(state: State, store: Store) -> None:
    """Log the damage of a store and have it repaired."""
    log.error("the store is damaged: %s", "; ".join(note.says for note in store.damage()))
    state.jobs.submit("repair", lambda: mend(state))


def reindex_if_stale(state: State, store: Store) -> None:
    """Have the index built anew if it lacks memories."""
    if repairing.is_stale(store):
        state.jobs.submit("reindex", lambda: rebuild(state))


def settle(state: State, progress: Progress = no_report) -> ops.Settled:
    """Settle everything now."""
    services = state.services.result()
    taken = intake.take_in(state, progress)
    consolidated = intake.consolidate_now(state, progress)
    derived.publish(state)
    derived.sync_all(state)
    progress("upkeep", 0, 1)
    services.store.upkeep()
    intake.save_small(state)
    state.jobs.failing.clear()  # all that jobs do by themselves has just been done
    return ops.Settled(taken=taken, consolidated=consolidated, waiting=len(spool.waiting(state.home)))
