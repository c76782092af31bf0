"""Open tasks to push, closed by a push that git has seen."""

import time

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.tasks.events import Observation, TaskEvent, branches, speaks_of_push, task_event, was_pushed
from memlayer.tasks.states import By, Status

OPEN_WAIT_S = 60.0


def look_at_tasks(state: State, project_id: str, folder: str) -> None:
    """Close tasks to push that were pushed; wait for it.

    folder: "" for none.
    """
    services = state.ready(OPEN_WAIT_S) if folder else None
    pushes = [task for task in services.tasks.open_tasks(project_id) if speaks_of_push(task.title)] if services else []
    found = branches(folder) if pushes else []
    pushed = [task for task in pushes if was_pushed(task.title, task.touched_ms / 1000, found)]
    if not pushed:
        return
    rows = tuple(Observation(Status.DONE, task_id=task.id, reason="its branch was pushed") for task in pushed)
    origin = repr(sorted((task.id, task.touched_ms) for task in pushed))

    def close() -> None:
        event = task_event(TaskEvent(By.RULES, rows), project_id, time.time_ns() // 1_000_000, origin=origin)
        state.services.result().tasks.take([event])

    derived.written(state, "pushed", close)
