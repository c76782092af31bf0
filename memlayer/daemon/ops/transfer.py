"""Answers `import` and `export`: what was said before memlayer was there, and everything it holds, in and out."""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from memlayer import compose
from memlayer.daemon.ops.arguments import folder_of, list_of, path_of
from memlayer.daemon.ops.queries import Fields, Operation, Progress, services_of
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import memory_files, upkeep
from memlayer.errors import UserError
from memlayer.transcripts import discovery
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.importer import Batch, Counts, History, Rehearsal
from memlayer.transfer import export as exporting

log = logging.getLogger(__name__)
BUSY_WAIT_S = 10.0  # for an import whose person has just pressed Ctrl-C
UPKEEP_EVERY = 40  # batches
EMBED_AT_ONCE = 64


def import_history(state: State, asked: Fields, progress: Progress) -> Fields:
    """Take in transcripts: files are read here, beside everything else; the writer gets a batch of turns at a time, so
    that what hooks bring is taken in between two of them."""
    services = services_of(state)
    is_rehearsal, is_anew = bool(asked.get("dry_run")), bool(asked.get("again"))
    with _alone(state):
        memory.go_second()
        started = time.monotonic()
        counts = Counts()
        if not is_rehearsal:
            state.jobs.submit("drain", lambda: upkeep.drain(state)).result()  # what hooks brought is known then
            if is_anew:
                services.imports.restart()
        reached = Rehearsal(services.imports, is_anew) if is_rehearsal else services.imports
        tombstones = services.forget.tombstones
        history = History(
            services.store, state.sessions, reached, lambda folder: state.projects.find(folder)[0], tombstones
        )
        files = _chosen(state, asked, counts)
        told = _Told(state, progress, files)
        touched: set[str] = set()
        try:
            for number, file in enumerate(files):
                told.begin(number)
                try:
                    for batch in history.batches(file, counts, told.at):
                        if not is_rehearsal:
                            touched |= _take(state, services, batch)
                        reached.reached(batch.path, batch.offset, batch.records)
                        told.at(batch.offset)
                    reached.done(file.path, file.size, file.mtime_ns)
                except OSError as bad:
                    if told.is_gone:
                        raise
                    log.warning("transcript not readable: %s", bad.strerror)
                    counts.skipped["files that cannot be read"] += 1
        finally:
            _settle(state, services, touched)
        if not is_rehearsal:
            _embed(state, services, told)
        return {
            **{name: value for name, value in asdict(counts).items() if name != "skipped"},
            "skipped": dict(counts.skipped.most_common()),
            "dry_run": is_rehearsal,
            "seconds": round(time.monotonic() - started, 2),
        }


def export(state: State, asked: Fields, progress: Progress) -> Fields:
    """Write everything to a file that is there when it is whole."""
    services = services_of(state)
    path = path_of(asked)
    if not os.path.isabs(path):
        raise UserError("path: an absolute path is expected")
    if os.path.lexists(path) and not asked.get("force"):
        raise UserError(f"{path} exists already. Add --force to replace it")
    state.jobs.submit("take in", lambda: upkeep.take_in(state)).result()
    state.sessions.save_changed()
    done = exporting.write(
        path, services.store, state.projects, state.sessions, lambda done, total: progress("export", done, total)
    )
    return {"path": path, **asdict(done)}


def import_export(state: State, asked: Fields, progress: Progress) -> Fields:
    """Take in what an export holds; what is there already stays as it is."""
    services = services_of(state)
    path = path_of(asked)
    is_rehearsal = bool(asked.get("dry_run"))
    try:
        exported = exporting.Exported(path, services.store, state.projects, state.sessions, services.forget.tombstones)
    except OSError as bad:
        raise UserError(f"{path}: {bad.strerror}") from bad
    with _alone(state):
        if not is_rehearsal:
            state.jobs.submit("drain", lambda: upkeep.drain(state)).result()
        exported.check()
        touched: set[str] = set()
        told = _Told(state, progress, [])
        try:
            for part in exported.parts(is_rehearsal):

                def job() -> set[str]:
                    return exported.take(part, services.ingest)  # noqa: B023 - run before the next round

                if not is_rehearsal:
                    touched |= state.jobs.submit("import %d" % id(part), job).result()
                told.tell("import", part.offset, exported.size)
        finally:
            _settle(state, services, touched)
        if not is_rehearsal:
            _embed(state, services, told)
        return {**asdict(exported.counts), "dry_run": is_rehearsal}


@contextmanager
def _alone(state: State) -> Iterator[None]:
    """One import at a time; until it is done no turn is consolidated. Raises UserError."""
    if not state.importing.acquire(timeout=BUSY_WAIT_S):
        raise UserError("Another import is running. Wait for it, or stop it there")
    try:
        yield
    finally:
        state.importing.release()
        upkeep.consolidate(state)


class _Told:
    """Tells how far an import is, in bytes of all files. is_gone: whoever waited for it has left."""

    def __init__(self, state: State, progress: Progress, files: list[Transcript]) -> None:
        self._state = state
        self._progress = progress
        self._before = [0]
        for file in files:
            self._before.append(self._before[-1] + file.size)
        self._number = 0
        self.is_gone = False

    def begin(self, number: int) -> None:
        """Of the files before this one nothing is left."""
        self._number = number
        self.at(0)

    def at(self, offset: int) -> None:
        """Raises OSError when the client has gone, UserError when the daemon leaves."""
        self.tell("import", self._before[self._number] + offset, self._before[-1])

    def tell(self, phase: str, done: int, total: int) -> None:
        """Like at(), of another piece of work."""
        if self._state.leaving.is_set():
            raise UserError("the daemon is leaving; what was imported stays, run it again for the rest")
        self._state.last_request = time.monotonic()  # somebody waits: no time to leave for being idle
        try:
            self._progress(phase, done, total)
        except OSError:
            self.is_gone = True
            raise


def _chosen(state: State, asked: Fields, counts: Counts) -> list[Transcript]:
    """The files to read, in their order. Raises UserError for a path that is not there."""

    def leave_out(reason: str) -> None:
        counts.skipped[reason] += 1

    try:
        files = discovery.find([str(one) for one in list_of(asked, "paths")], leave_out)
    except OSError as bad:
        raise UserError(f"{bad.filename}: {bad.strerror}") from bad
    if not asked.get("subagents"):
        left = [one for one in files if not one.is_agent]
        counts.skipped["files of sub-agents"] += len(files) - len(left)
        files = left
    folder = folder_of(asked)
    if folder:
        wanted, place = state.projects.find(folder)
        belongs: dict[str, bool] = {}
        for one in files:
            if one.cwd not in belongs:
                found, at = state.projects.find(one.cwd) if one.cwd else ("", None)
                belongs[one.cwd] = at is not None and (at.root == place.root or bool(wanted and found == wanted))
        files = [one for one in files if belongs[one.cwd]]
    counts.skipped += Counter()  # drops reasons that did not occur

    def since_ms(session_id: str) -> int:
        session = state.sessions.get(session_id)
        return session.since_ms if session else 0

    return discovery.in_order(files, since_ms)


def _take(state: State, services: compose.Services, batch: Batch) -> set[str]:
    """Have the writer take a batch in; returns the ids of the projects touched."""
    if not batch.events:
        return set()

    def job() -> set[str]:
        memory.go_second()
        with services.ingest.lock:
            touched = services.ingest.take(batch.events, is_history=True)
        state.drains += 1
        if state.drains % UPKEEP_EVERY == 0:
            services.store.upkeep()
        return touched

    done: set[str] = state.jobs.submit("import %d" % id(batch), job).result()
    return done


def _settle(state: State, services: compose.Services, touched: set[str]) -> None:
    """What follows when turns came in, whoever still waits for it."""
    if not touched:
        return

    def job() -> None:
        for project_id in touched:
            memory_files.renew_working_set(state, services, project_id)
        services.store.upkeep()
        upkeep.save_small(state)
        memory.give_back()

    state.jobs.submit("settle an import", job)


def _embed(state: State, services: compose.Services, told: _Told) -> None:
    """Give the new chunks their vectors, a few in each job: a person who interrupts leaves the rest to the daemon."""
    state.embedder.settled.wait(upkeep.OPEN_WAIT_S)
    embedder = state.embedder()
    if embedder is None:
        return
    done, total = 0, services.store.count_unembedded(embedder.fingerprint)
    some: Callable[[], int] = lambda: services.ingest.embed_some(EMBED_AT_ONCE)  # noqa: E731
    try:
        while made := state.jobs.submit("embed some", some).result():
            done += made
            told.tell("embed", done, max(total, done))
    except (OSError, UserError):
        state.jobs.submit("embed", lambda: upkeep.embed_missing(state))
        raise


OPERATIONS: dict[str, Operation] = {
    "import": import_history,
    "export": export,
    "import_export": import_export,
}
