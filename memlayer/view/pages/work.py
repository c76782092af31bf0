"""Open work: tasks by state, their history, and a person's changes."""

from starlette.responses import Response
from starlette.routing import Route

from memlayer.errors import UserError
from memlayer.tasks.states import Status
from memlayer.view.problems import NotFound
from memlayer.view.texts import harmless
from memlayer.view.visit import Visit, endpoint
from memlayer.wire import tasks as ops

CLOSED_SHOWN = 20
# A change, by its name in a form -> its line. The lane that a card is dragged to has the same name.
TOLD = {
    "start": "Being worked on.",
    "done": "Closed.",
    "drop": "Dropped.",
    "block": "Blocked.",
    "reopen": "Open again.",
    "add": "Added.",
}
LANES = (
    ("reopen", "To do", (Status.PENDING,)),
    ("start", "In progress", (Status.IN_PROGRESS,)),
    ("block", "Blocked", (Status.BLOCKED,)),
    ("done", "Closed", (Status.DONE, Status.CANCELLED)),
)


def board(visit: Visit) -> Response:
    """Return the tasks by state."""
    found = visit.ask(ops.Tasks(visit.folder, "all"))
    rows = [row for row in found.tasks if not row.is_resting]
    lanes = []
    for how, name, states in LANES:
        held = [row for row in rows if row.status in states]
        held.sort(key=lambda row: -row.touched_ms)
        lanes.append((how, name, held[:CLOSED_SHOWN] if how == "done" else held, len(held)))
    resting = [row for row in found.tasks if row.is_resting]
    return visit.page(
        "work.html", "Open work", lanes=lanes, resting=resting, questions=found.questions,
        can_change=bool(visit.folder) and not visit.keys.is_read_only, is_any=bool(found.tasks),
    )  # fmt: skip


def task(visit: Visit) -> Response:
    """Return one task with its history and the words behind each step."""
    found = visit.ask(ops.TaskShow(visit.path["id"], visit.folder)).tasks
    if not found:
        raise NotFound("No task is known by that id")
    return visit.page("task.html", "Task", tasks=found)


def change(visit: Visit) -> Response:
    """Carry out a person's change of a task. Raises UserError."""
    how, name = visit.form.get("how", ""), harmless(visit.form.get("task", "")).strip()
    if how not in TOLD or not name:
        raise UserError(f"Nothing is changed: give a task, and one of {', '.join(TOLD)}")
    if not visit.folder:
        raise UserError("Nothing is changed: choose the project of the task first")
    things = tuple(part.strip() for part in harmless(visit.form.get("by", "")).split("\n") if part.strip())
    if how == "block" and not things:
        raise UserError("Nothing is changed: say what the task waits for")
    reason = harmless(visit.form.get("because", ""))
    found = visit.source.verbs.change_task(how, name, visit.folder, blockers=things, reason=reason)
    if found.refusals or not found.tasks:
        raise UserError(f"Nothing is changed: {'; '.join(found.refusals) or 'that may mean several tasks'}")
    return visit.back("/tasks", TOLD[how])


ROUTES = (
    Route("/tasks", endpoint(board)),
    Route("/tasks", endpoint(change), methods=["POST"]),
    Route("/tasks/{id}", endpoint(task)),
)
