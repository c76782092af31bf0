"""Operations that import transcripts, and export and import memories."""

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from memlayer import compose
from memlayer.daemon.ops.notes import sessions_of
from memlayer.daemon.ops.requests import Progress, services_of
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import intake, vectors
from memlayer.errors import UserError
from memlayer.transcripts import discovery, sources
from memlayer.transcripts.discovery import BROKEN_FILE, UNREADABLE, Transcript
from memlayer.transcripts.importer import Gathered, TranscriptHistory
from memlayer.wire import transfer as ops

log = logging.getLogger(__name__)
BUSY_WAIT_S = 10.0  # for an import whose person has just pressed Ctrl-C
UPKEEP_EVERY = 8  # times that turns are stored


def import_history(state: State, arguments: ops.Import, progress: Progress) -> ops.Imported:
    """Import transcripts.

    Files are read in this thread. The writer gets a batch of turns at a time, so that events of hooks are taken in
    between two batches.
    """
    services = services_of(state)
    is_rehearsal = arguments.dry_run
    started, counts = time.monotonic(), ops.Imported()
    with _running(state, progress, is_rehearsal) as run:
        go_second()
        gathered = Gathered(services.imports, None if is_rehearsal else lambda events: _take(state, services, events))
        tombstones = services.forget.tombstones
        history = TranscriptHistory(
            services.store, state.sessions, gathered, lambda folder: state.projects.find(folder)[0], tombstones
        )
        files = _chosen(state, arguments, counts)
        before, total = 0, sum(file.size for file in files)
        for file in files:

            def at(offset: int, before: int = before, size: int = file.size) -> None:
                run.report("import", before + min(offset, size), total)  # of a packed file more is read

            at(0)
            try:
                left = _gather(gathered, history, file, counts, at)
            except (OSError, *BROKEN_FILE) as bad:
                if run.is_gone:
                    raise
                log.warning("transcript not readable: %s", getattr(bad, "strerror", None) or type(bad).__name__)
                counts.skip(UNREADABLE)
            else:
                if left and not is_rehearsal:
                    gathered.flush()
                    leave = partial(intake.leave, state, file.session_id, left)
                    state.jobs.submit("leave " + file.session_id, leave).result()
            before += file.size
        gathered.flush()
    if not is_rehearsal:
        hosts = history.preview.hosts()
        for session in sessions_of(state):
            state.sessions.restore(session.changed(host=session.host or hosts.get(session.id, "")))
        state.sessions.save_changed()
    return counts.changed(
        skipped=dict(sorted(counts.skipped.items(), key=lambda item: -item[1])),
        found=history.preview.rows(),
        problems=history.preview.problems(),
        dry_run=is_rehearsal,
        unembedded=0 if is_rehearsal else vectors.missing(state),
        seconds=round(time.monotonic() - started, 2),
    )


def _gather(
    gathered: Gathered, history: TranscriptHistory, file: Transcript, counts: ops.Imported, at: Callable[[int], None]
) -> Collection[str]:
    """Gather a transcript's turns; return the prompts left. Raises OSError."""
    if history.is_compared(file):
        gathered.flush()
    known = counts.files
    for batch in history.batches(file, counts, at):
        gathered.add(batch)
        at(batch.offset)
    return history.left() if counts.files > known else ()


def export(state: State, arguments: ops.Export, progress: Progress) -> ops.Exported:
    """Export everything to a file that appears when it is whole."""
    services = services_of(state)
    path = arguments.path
    if not os.path.isabs(path):
        raise UserError("path: an absolute path is expected")
    if os.path.lexists(path):
        raise UserError(f"{path} is there already. Give another name")
    state.jobs.submit("take in", lambda: intake.take_in(state)).result()
    state.sessions.save_changed()
    return services.exports.write(path, lambda done, total: progress("export", done, total))


def import_export(state: State, arguments: ops.ImportExport, progress: Progress) -> ops.ExportTaken:
    """Import an export; known memories stay as they are."""
    services = services_of(state)
    path, is_rehearsal = arguments.path, arguments.dry_run
    try:
        exported = services.exports.file(path)
    except OSError as bad:
        raise UserError(f"{path}: {bad.strerror or str(bad)}") from bad
    with _running(state, progress, is_rehearsal) as run:
        for part in exported.parts(is_rehearsal):
            if not is_rehearsal:
                state.jobs.submit("import %d" % id(part), partial(exported.take, part)).result()
            run.report("import", part.offset, exported.size)
    return exported.counts


class _Run:
    """A running import. is_gone: its client has left."""

    def __init__(self, state: State, progress: Progress) -> None:
        self._state = state
        self._progress = progress
        self.is_gone = False

    def report(self, phase: str, done: int, total: int) -> None:
        """Report a phase. Raises OSError or UserError when all ends."""
        if self._state.life.leaving.is_set():
            raise UserError("the daemon is leaving; what was imported stays, run it again for the rest")
        self._state.life.last_request = time.monotonic()  # somebody waits: no time to leave for being idle
        try:
            self._progress(phase, done, total)
        except OSError:
            self.is_gone = True
            raise


@contextmanager
def _running(state: State, progress: Progress, is_rehearsal: bool) -> Iterator[_Run]:
    """Run one import inside, while no turn is consolidated.

    Events of hooks are taken in before it. Whether or not the client waits, what it has touched is published, and
    embedded behind the answer: it is found by its words already. A killed daemon's successor goes on with the vectors.
    Raises UserError.
    """
    if not state.importing.acquire(timeout=BUSY_WAIT_S):
        raise UserError("Another import is running. Wait for it, or stop it there")
    try:
        if not is_rehearsal:
            state.jobs.submit("drain", lambda: intake.drain(state)).result()
        run = _Run(state, progress)
        try:
            yield run
        finally:
            if not is_rehearsal:
                intake.publish_arrived(state)
    finally:
        state.importing.release()
        if not is_rehearsal:
            vectors.submit_embedding(state)
        intake.begin_consolidation(state)


def _chosen(state: State, arguments: ops.Import, counts: ops.Imported) -> list[Transcript]:
    """Return the files to read, in order. Raises UserError."""
    origins = arguments.origins or (ops.Origin(paths=arguments.paths),)
    unknown = [origin.agent for origin in origins if origin.agent not in sources.SOURCES]
    if unknown:
        raise UserError(f"No sessions of {unknown[0]} can be read")
    try:
        files = [file for origin in origins for file in sources.find(origin.agent, origin.paths, counts.skip)]
    except OSError as bad:
        raise UserError(f"{bad.filename or 'a path'}: {bad.strerror or str(bad) or type(bad).__name__}") from bad
    files = [_placed(state, file, arguments.project_dir) for file in files]
    left = [file for file in files if not file.is_agent]
    counts.skip("files of sub-agents", len(files) - len(left))
    files = left
    if arguments.project_dir:
        project_id, place = state.projects.find(arguments.project_dir)
        belongs: dict[str, bool] = {}
        for cwd in {file.cwd for file in files}:
            cwd_project_id, at = state.projects.find(cwd) if cwd else ("", None)
            belongs[cwd] = at is not None and (
                at.root == place.root or bool(project_id and cwd_project_id == project_id)
            )
        files = [file for file in files if belongs[file.cwd]]

    def since_ms(session_id: str) -> int:
        session = state.sessions.get(session_id)
        return session.since_ms if session else 0

    return discovery.in_order(files, since_ms)


def _placed(state: State, file: Transcript, given: str) -> Transcript:
    """Return a session with the folder that it belongs to here.

    A clone that is gone is known by its remote. given: for an agent whose sessions have no folder.
    """
    if not sources.SOURCES[file.agent].has_folders:
        return replace(file, cwd=given)
    if file.remote and not os.path.isdir(file.cwd):
        return replace(file, cwd=state.projects.root_of_remote(file.remote) or file.cwd)
    return file


def _take(state: State, services: compose.Services, events: list[dict[str, Any]]) -> None:
    """Take events in by the writer."""

    def job() -> None:
        go_second()
        services.ingest.take(events, is_history=True)
        if state.times.is_round("drain", UPKEEP_EVERY):
            services.store.upkeep()

    state.jobs.submit("import %d" % id(events), job).result()
