"""Operations on the daemon and its store.

These are status, stats, flush, files, reindex, repair and stop.
"""

from __future__ import annotations

import os
import time
from dataclasses import asdict

from memlayer import __version__, compose
from memlayer.daemon.ops.requests import OPEN_WAIT_S, Fields, Progress, Table, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived, intake, upkeep
from memlayer.edge.capture import spool
from memlayer.edge.ipc import ops, protocol
from memlayer.errors import UserError
from memlayer.indexing.usages import share_since
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import audit

DAY_MS = 86_400_000
USED_DAYS = 30


def stats(state: State, arguments: ops.Stats, progress: Progress) -> Fields:
    """Return the counts of the store, and the daemon's own."""
    services = services_of(state)
    counts = asdict(services.store.stats())
    mode, why = state.mode()
    status = state.status()
    used_ever = counts.pop("usages")
    used = share_since(services.store, int(time.time() * 1000) - USED_DAYS * DAY_MS)
    turns, reader = counts.pop("turns_by_reader"), services.consolidator.extractor.fingerprint
    return {
        **counts,
        "used": {"window_days": USED_DAYS, **used._asdict()},
        "used_ever": used_ever,
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


def flush(state: State, arguments: ops.Flush, progress: Progress) -> Fields:
    """Settle everything, in the background unless the caller waits."""
    services_of(state)
    if not arguments.wait:
        state.jobs.submit("flush", lambda: upkeep.flush(state))
        waiting = len(spool.waiting(state.home))
        return {"taken": 0, "consolidated": 0, "waiting": waiting, "embedded": 0, "unembedded": -1}
    state.embedder.settled.wait(OPEN_WAIT_S)
    # A job of its own name: one that waits already would report its progress to somebody else.
    done: Fields = state.jobs.submit("flush %d" % id(arguments), lambda: upkeep.flush(state, progress)).result()
    if intake.is_slow(state):
        done["consolidated"] = intake.submit_consolidation(state).result()
    return done


def files(state: State, arguments: ops.Files, progress: Progress) -> Fields:
    """Return the places of a project's memory files, and problems with them."""
    services = services_of(state)
    project_id = project_of(state, arguments.project_dir, is_global=arguments.is_global)
    if not project_id:
        raise UserError("No memory files yet: nothing is remembered of this project")
    taken: Fields = {}
    if arguments.now:
        job = state.jobs.submit("files %d" % id(arguments), lambda: derived.sync(state, project_id))
        taken = asdict(job.result())
        while not state.jobs.submit("extra %d" % id(arguments), lambda: derived.extra_part(state)).result():
            progress("extra files", 0, 1)
    folder = services.files.folder(project_id)
    paths = [os.path.join(folder, name) for name in services.files.names(project_id)] if folder else []
    return {
        "project_id": project_id,
        "project": state.projects.name(project_id),
        "folder": folder,
        "files": [path for path in paths if os.path.lexists(path)],
        "taken_back": taken,
        "notices": state.status()["file_notices"],
        "extra": services.extra.counts(),
    }


def reindex(state: State, arguments: ops.Reindex, progress: Progress) -> Fields:
    """Build the search index anew."""
    services = services_of(state)

    def job() -> Fields:
        consolidated = intake.consolidate_now(state, progress)
        upkeep.reindex(state, progress)
        upkeep.embed_missing(state, progress)
        return {"chunks": services.store.stats().chunks, "consolidated": consolidated}

    done: Fields = state.jobs.submit("reindex %d" % id(arguments), job).result()
    return done


def repair(state: State, arguments: ops.Repair, progress: Progress) -> Fields:
    """Repair the store, and take its damage off the record."""
    services_of(state)
    job = state.jobs.submit("repair %d" % id(arguments), lambda: upkeep.repair(state, progress, is_requested=True))
    done: Fields = job.result()
    return done


def witness(state: State, arguments: ops.Witness, progress: Progress) -> Fields:
    """Return the audit of the host's transcripts against the store.

    finding: (ok | warn | fail, the state of things, the remedy).
    """
    store = services_of(state).store
    now_ms = int(time.time() * 1000)
    seen = audit.audit_sessions(state.home, state.sessions.all(), store, Tombstones(state.home), now_ms)
    finding = audit.finding(seen, is_capturing=state.settings.capture.enabled)
    return {**asdict(seen), "finding": finding}


def status(state: State, arguments: ops.Status, progress: Progress) -> Fields:
    """Return the daemon's state, also while the store is opening or failed."""
    return {
        "build": __version__,
        "protocol": protocol.PROTOCOL,
        **state.status(),
        "language_model": compose.model_use(state.settings, state.home),
        "spool_waiting": len(spool.waiting(state.home)),
        "spool_age_s": round(upkeep.waiting_age_s(state.home), 1),
    }


def stop(state: State, arguments: ops.Stop, progress: Progress) -> Fields:
    """Have the daemon leave."""
    state.leaving.set()
    return {"pid": os.getpid()}


OPERATIONS: Table = {
    ops.Stats: stats,
    ops.Flush: flush,
    ops.Files: files,
    ops.Reindex: reindex,
    ops.Repair: repair,
    ops.Witness: witness,
    ops.Status: status,
    ops.Stop: stop,
}
