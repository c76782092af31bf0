"""Open tasks whose files or branches git has seen change."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.tasks.commits import branches, changed_files, changes_since, speaks_of_push, was_pushed
from memlayer.tasks.events import Observation, TaskEvent, task_event
from memlayer.tasks.states import By, Status, Task
from memlayer.tasks.task_memory import files_of

OPEN_WAIT_S = 60.0


def look_at_tasks(state: State, project_id: str, folder: str) -> None:
    """Ask git which open tasks' files have commits since.

    It waits for the writer to remark them. folder: "" for none.
    """
    services = state.ready(OPEN_WAIT_S) if folder and state.settings.moments.changed_ground else None
    if services is None:
        return
    every = services.tasks.open_tasks(project_id)
    pushes = [task for task in every if speaks_of_push(task.title)]
    found = branches(folder) if pushes else []
    pushed = [task for task in pushes if was_pushed(task.title, task.touched_ms / 1000, found)]
    if pushed:
        state.jobs.submit("pushed " + project_id, lambda: _close(state, project_id, pushed)).result()
    tasks = {task: files_of(task) for task in every if task not in pushed}
    tasks = {task: files for task, files in tasks.items() if files}
    if not tasks:
        return
    changes = changes_since(folder, min(task.touched_ms for task in tasks) // 1000)
    remarks = {}
    for task, files in tasks.items():
        changed = changed_files(files, _known_until_s(state, task), changes)
        why = "%d of its files have commits since" % changed if changed > 1 else "its file has commits since"
        remarks[task.id] = why if changed else ""
    new = {task.id: remarks[task.id] for task in tasks if remarks[task.id] != task.maybe_done}
    if new:
        state.jobs.submit("maybe done " + project_id, lambda: _remark(state, project_id, new)).result()


def _known_until_s(state: State, task: Task) -> float:
    """The last moment of a task's sessions, Unix seconds."""
    sessions = [state.sessions.get(name) for name in task.sessions]
    return max([task.touched_ms, *(session.last_ms for session in sessions if session is not None)]) / 1000


def _close(state: State, project_id: str, pushed: Sequence[Task]) -> None:
    services, now_ms = state.services.result(), time.time_ns() // 1_000_000
    rows = tuple(Observation(Status.DONE, task_id=task.id, reason="its branch was pushed") for task in pushed)
    origin = repr(sorted((task.id, task.touched_ms) for task in pushed))
    services.tasks.take([task_event(TaskEvent(By.RULES, rows), project_id, now_ms, origin=origin)])
    derived.memories_changed(state, [project_id])


def _remark(state: State, project_id: str, remarks: Mapping[str, str]) -> None:
    for task_id, why in remarks.items():
        state.services.result().tasks.maybe_done(task_id, why)
    derived.memories_changed(state, [project_id])
