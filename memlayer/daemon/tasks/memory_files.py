"""Keeps the memory files and the extra Markdown in step with the store: who changed what is seen, and who waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from memlayer import compose
from memlayer.briefing import working_set
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.edge.home import working_set as on_disk
from memlayer.memory_files.edits import TakenBack
from memlayer.model import GLOBAL

log = logging.getLogger(__name__)
APART_S = 2.0  # between two writings: a long import changes memories many times a second
EXTRA_EVERY_S = 60.0  # a document may be saved every few seconds while somebody writes it


def memories_changed(state: State, project_ids: Iterable[str]) -> None:
    """The memories of these projects have changed: their files are written now, or in a few seconds."""
    state.unfiled |= set(project_ids)
    if time.monotonic() - state.filed_s >= APART_S:
        write(state)


def write(state: State) -> None:
    """Write the files of the projects that wait for it."""
    while state.unfiled:
        sync(state, state.unfiled.pop(), recent=True)
    state.filed_s = time.monotonic()


def sync(state: State, project_id: str, *, recent: bool = False, force: bool = False) -> TakenBack:
    """Take a person's changes back and write a project's files; see MemoryFiles.sync. A disk that refuses is logged."""
    services = state.services.result()
    state.unfiled.discard(project_id)
    try:
        taken = services.files.sync(project_id, recent=recent, force=force)
    except OSError as bad:
        log.warning("memory files of a project not written: %s", bad.strerror)
        return TakenBack()
    if taken != TakenBack():
        renew_working_set(state, services, project_id)  # what was taken back is not recalled from its turn either
    return taken


def renew_working_set(state: State, services: compose.Services, project_id: str) -> None:
    """Write a project's working set, for a session that starts while no daemon runs; and have recall know what was
    replaced in it since. What holds in every project stands in all of them."""
    services.recall.renew(project_id)
    rules = compose.working_set_rules(state.settings)
    if project_id == GLOBAL:
        state.has_global = bool(services.store.memories(project_id=GLOBAL, category="core", is_current=True, limit=1))
    for one in state.projects.scopes() if project_id == GLOBAL else (project_id,):
        on_disk.write_working_set(state.home, one, working_set.compose(services.store, one, rules))


def begin(state: State) -> None:
    """A daemon has begun: see what was changed while none ran, a project at a time."""
    for project_id in state.projects.scopes():
        _submit(state, project_id, recent=False)
    submit_extra(state)


def look(state: State) -> bool:
    """Have done what waits, and what somebody has changed meanwhile; True if there is any. Costs a few looks at
    modification times."""
    if not state.services.done() or state.services.exception() is not None:
        return False
    files = state.services.result().files
    is_busy = bool(state.unfiled)
    if state.unfiled:
        state.jobs.submit("files", lambda: write(state))
    for project_id in state.projects.scopes():
        if files.changed(project_id):
            is_busy = True
            _submit(state, project_id, recent=True)
    if time.monotonic() - state.extra_s >= EXTRA_EVERY_S:
        submit_extra(state)
    return is_busy


def sync_all(state: State) -> TakenBack:
    """Everything in step now: all projects, and all of the extra Markdown."""
    taken = TakenBack()
    for project_id in state.projects.scopes():
        taken += sync(state, project_id)
        while state.services.result().files.is_behind(project_id):
            taken += sync(state, project_id)
    while not extra_part(state):
        pass
    return taken


def submit_extra(state: State) -> None:
    """Have the extra Markdown looked at, in jobs that are short enough to wait for."""
    state.extra_s = time.monotonic()
    state.jobs.submit("extra files", lambda: _extra(state))


def extra_part(state: State) -> bool:
    """Index some of the extra Markdown; False when there is more."""
    services = state.services.result()
    memory.go_second()
    try:
        return services.extra.sync()
    except OSError as bad:
        log.warning("extra files not indexed: %s", bad.strerror)
        return True


def _submit(state: State, project_id: str, *, recent: bool) -> None:
    name = ("files of " if recent else "all files of ") + project_id
    state.jobs.submit(name, lambda: _sync(state, project_id, recent))


def _sync(state: State, project_id: str, recent: bool) -> None:
    memory.go_second()
    sync(state, project_id, recent=recent)
    if state.services.result().files.is_behind(project_id) and not state.leaving.is_set():
        _submit(state, project_id, recent=False)


def _extra(state: State) -> None:
    if not extra_part(state) and not state.leaving.is_set():
        state.jobs.submit("extra files", lambda: _extra(state))
