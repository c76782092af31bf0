"""Everything derived from memories: recall's replacements, working sets, memory files, extra Markdown.

`changed` notes that memories of some projects changed, `publish` renews what stems from
them: once for all changes of a Stop, after its turn was taken in and consolidated. All of this runs in the writer.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable

from memlayer.compose import Services
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import code_check
from memlayer.edge.home import registry
from memlayer.give import working_set
from memlayer.give.candidate import LeftOut
from memlayer.memory_files.edits import EditCounts
from memlayer.model import GLOBAL
from memlayer.ports import notes_in_force
from memlayer.topics.profile import profiles
from memlayer.topics.recent import DAY_MS

log = logging.getLogger(__name__)
APART_S = 2.0  # between two writings: a long import changes memories many times a second
EXTRA_EVERY_S = 60.0  # a document may be saved every few seconds while somebody writes it


def changed(state: State, project_ids: Iterable[str]) -> None:
    """Note changed memories, and publish them behind the jobs that wait now."""
    state.unpublished |= set(project_ids)
    if state.unpublished:
        state.jobs.submit("publish changes", lambda: publish(state))


def publish(state: State) -> None:
    """Renew all that is derived from changed memories."""
    renew(state, tuple(state.unpublished))


def memories_changed(state: State, project_ids: Iterable[str]) -> None:
    """Publish changed memories now; their files follow within seconds."""
    state.unfiled |= set(project_ids)
    state.unpublished |= set(project_ids)
    publish(state)
    if time.monotonic() - state.filed_s >= APART_S:
        write(state)


def renew(state: State, project_ids: Iterable[str]) -> None:
    """Renew recall's replacements and the working sets of these projects."""
    services = state.services.result()
    for project_id in project_ids:
        services.recall.refresh(project_id)
        write_starts(state, [project_id])
        code_check.note(state, project_id)
        state.unpublished.discard(project_id)


def write_starts(state: State, project_ids: Iterable[str]) -> None:
    """Write the working sets of these projects, as the mode has them."""
    for project_id in project_ids:
        _write_working_sets(state, state.services.result(), project_id)


def _write_working_sets(state: State, services: Services, project_id: str) -> None:
    """Write a project's working set.

    It serves a session that starts while no daemon runs. Memories for every project stand in all working sets.
    """
    if project_id == GLOBAL:
        state.has_global = bool(notes_in_force(services.store, GLOBAL, 1))
    rules = state.rules.working_set
    for scope in state.projects.scopes() if project_id == GLOBAL else (project_id,):
        is_endless = state.settings.memory.mode == "endless"
        last_day = profiles(services.store, scope, int(time.time() * 1000) - DAY_MS) if is_endless else ()
        left_out: LeftOut = {}
        block = working_set.compose(services.store, scope, rules, last_day=last_day, left_out=left_out)
        registry.write_working_set(state.home, scope, block)
        if left_out != (state.left_out.get(scope) or {}):
            state.left_out.put(scope, left_out)


def write(state: State) -> None:
    """Write the memory files of all projects that wait for it."""
    while state.unfiled:
        sync(state, state.unfiled.pop(), recent=True)
    state.filed_s = time.monotonic()


def sync(state: State, project_id: str, *, recent: bool = False, force: bool = False) -> EditCounts:
    """Take a person's changes back and write a project's files. See MemoryFiles.sync.

    A disk that refuses is logged.
    """
    services = state.services.result()
    state.unfiled.discard(project_id)
    try:
        taken = services.files.sync(project_id, recent=recent, force=force)
    except OSError as bad:
        log.warning("memory files of a project not written: %s", bad.strerror)
        return EditCounts()
    if taken != EditCounts():
        renew(state, (project_id,))  # a statement that was taken back is not recalled from its turn either
    return taken


def begin(state: State) -> None:
    """Find changes made while no daemon ran, a project at a time."""
    for project_id in state.projects.scopes():
        _submit(state, project_id, recent=False)
    submit_extra(state)


def look(state: State) -> bool:
    """Submit waiting writes and changed files; return whether any are."""
    if not state.is_open:
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


def sync_all(state: State) -> EditCounts:
    """Bring all projects and all of the extra Markdown in step now."""
    taken = EditCounts()
    for project_id in state.projects.scopes():
        taken += sync(state, project_id)
        while state.services.result().files.is_behind(project_id):
            taken += sync(state, project_id)
    while not extra_part(state):
        pass
    return taken


def submit_extra(state: State) -> None:
    """Have the extra Markdown read, in short jobs."""
    state.extra_s = time.monotonic()
    state.jobs.submit("extra files", lambda: _extra(state))


def extra_part(state: State) -> bool:
    """Index some of the extra Markdown; False when there is more."""
    services = state.services.result()
    go_second()
    try:
        return services.extra.sync()
    except OSError as bad:
        log.warning("extra files not indexed: %s", bad.strerror)
        return True


def _submit(state: State, project_id: str, *, recent: bool) -> None:
    name = ("files of " if recent else "all files of ") + project_id
    state.jobs.submit(name, lambda: _sync(state, project_id, recent))


def _sync(state: State, project_id: str, recent: bool) -> None:
    go_second()
    sync(state, project_id, recent=recent)
    if state.services.result().files.is_behind(project_id) and not state.leaving.is_set():
        _submit(state, project_id, recent=False)


def _extra(state: State) -> None:
    if not extra_part(state) and not state.leaving.is_set():
        state.jobs.submit("extra files", lambda: _extra(state))
