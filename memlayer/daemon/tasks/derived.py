"""All that is derived from memories: starts, files, recall's caches, extra Markdown.

A batch ends in one Change (keep/keep.py). `publish` hands it to every listener of the state, once: see `starts` and
`files` here. All of this runs in the writer.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

from memlayer.compose import Services
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import code_check
from memlayer.edge.home import registry
from memlayer.give import working_set
from memlayer.give.candidate import LeftOut
from memlayer.growth import levels
from memlayer.keep.keep import NO_CHANGE, Change
from memlayer.model import GLOBAL
from memlayer.ports import notes_in_force
from memlayer.topics.grouping import DAY_MS
from memlayer.topics.profile import profiles
from memlayer.wire.upkeep import EditCounts

log = logging.getLogger(__name__)
APART_S = 2.0  # between two writings: a long import changes memories many times a second
Value = TypeVar("Value")
LEVELS_EVERY_S = 3600.0  # uses come a few an hour, and a level moves in days
EXTRA_EVERY_S = 60.0  # a document may be saved every few seconds while somebody writes it


def publish(state: State) -> None:
    """Tell the listeners of all that has changed since the last time."""
    keep, is_told = state.services.result().keep, False
    change = keep.take_change()
    try:
        for listen in state.listeners if change != NO_CHANGE else ():
            listen(state, change)
        is_told = True
    finally:
        if not is_told:  # the next time, some of them twice
            keep.tell(change)


def publish_soon(state: State) -> None:
    """Publish behind the jobs that wait now."""
    state.jobs.submit("publish changes", lambda: publish(state))


def publish_of(state: State, project_ids: Iterable[str]) -> None:
    """Publish projects, changed or not."""
    state.services.result().keep.tell(Change(frozenset(project_ids)))
    publish(state)


def written(state: State, name: str, change: Callable[[], Value]) -> Value:
    """Have the writer make a change and publish it; return its value."""

    def job() -> Value:
        value = change()
        publish(state)
        return value

    done: Value = state.jobs.submit("%s %d" % (name, id(change)), job).result()
    return done


def rules(state: State, change: Change) -> None:
    """Tell of new rules, which a hook may wait for."""
    state.rule_notices.consolidated(change)


def starts(state: State, change: Change) -> None:
    """Renew recall's caches, the working sets and the marks of code."""
    services = state.services.result()
    for project_id in change.project_ids:
        services.recall.refresh(project_id)
        _write_working_sets(state, services, project_id)
        code_check.note(state, project_id)


def files(state: State, change: Change) -> None:
    """Write memory files, those of many changes at once."""
    state.derived.unfiled |= change.lasting
    if state.derived.unfiled and state.times.since("files") >= APART_S:
        write(state)


def _write_working_sets(state: State, services: Services, project_id: str) -> None:
    """Write a project's working set.

    It serves a session that starts while no daemon runs. Memories for every project stand in all working sets.
    """
    if project_id == GLOBAL:
        state.derived.has_global = bool(notes_in_force(services.store, GLOBAL, 1))
    rules = state.rules.working_set
    for scope in state.projects.scopes() if project_id == GLOBAL else (project_id,):
        is_endless = state.settings.memory.mode == "endless"
        last_day = profiles(services.store, scope, int(time.time() * 1000) - DAY_MS) if is_endless else ()
        left_out: LeftOut = {}
        block = working_set.compose(services.store, scope, rules, last_day=last_day, left_out=left_out)
        registry.write_working_set(state.home, scope, block)
        if left_out != (state.derived.left_out.get(scope) or {}):
            state.derived.left_out.put(scope, left_out)


def look_at_levels(state: State) -> None:
    """Have levels computed an hour after the last time; no prompt waits."""
    if state.is_open and state.times.is_due("levels", LEVELS_EVERY_S):
        state.jobs.submit("levels", lambda: renew_levels(state))


def renew_levels(state: State, project_id: str = "") -> None:
    """Compute levels of a project, or of all. The writer's job."""
    go_second()
    services = state.services.result()
    services.usages.shown()
    levels.renew(services.keep, int(time.time() * 1000), project_id)
    publish(state)


def write(state: State) -> None:
    """Write the memory files of all projects that wait for it."""
    state.times.done("files")
    while state.derived.unfiled:
        sync(state, state.derived.unfiled.pop(), recent=True)
    state.times.done("files")


def sync(state: State, project_id: str, *, recent: bool = False, force: bool = False) -> EditCounts:
    """Take a person's changes back and write a project's files. See MemoryFiles.sync.

    A disk that refuses is logged.
    """
    services = state.services.result()
    try:
        taken = services.files.sync(project_id, recent=recent, force=force)
    except OSError as bad:
        log.warning("memory files of a project not written: %s", bad.strerror)
        taken = EditCounts()
    if taken != EditCounts():
        publish(state)  # a statement that was taken back is not recalled from its turn either
    state.derived.unfiled.discard(project_id)
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
    is_busy = bool(state.derived.unfiled)
    if state.derived.unfiled:
        state.jobs.submit("files", lambda: write(state))
    for project_id in state.projects.scopes():
        if files.changed(project_id):
            is_busy = True
            _submit(state, project_id, recent=True)
    if state.times.since("extra files") >= EXTRA_EVERY_S:
        submit_extra(state)
    return is_busy


def sync_all(state: State) -> None:
    """Bring all projects and all of the extra Markdown in step now."""
    for project_id in state.projects.scopes():
        sync(state, project_id)
        while state.services.result().files.is_behind(project_id):
            sync(state, project_id)
    while not extra_part(state):
        pass


def submit_extra(state: State) -> None:
    """Have the extra Markdown read, in short jobs."""
    state.times.done("extra files")
    state.jobs.submit("extra files", lambda: _extra(state))


def extra_part(state: State) -> bool:
    """Index some of the extra Markdown; False when there is more."""
    services = state.services.result()
    go_second()
    try:
        is_done = services.files.extra.sync()
        publish(state)
        return is_done
    except OSError as bad:
        log.warning("extra files not indexed: %s", bad.strerror)
        return True


def _submit(state: State, project_id: str, *, recent: bool) -> None:
    name = ("files of " if recent else "all files of ") + project_id
    state.jobs.submit(name, lambda: _sync(state, project_id, recent))


def _sync(state: State, project_id: str, recent: bool) -> None:
    go_second()
    sync(state, project_id, recent=recent)
    if state.services.result().files.is_behind(project_id) and not state.life.leaving.is_set():
        _submit(state, project_id, recent=False)


def _extra(state: State) -> None:
    if not extra_part(state) and not state.life.leaving.is_set():
        state.jobs.submit("extra files", lambda: _extra(state))
