"""Operations on tasks: a list, one with its history, a person's change."""

import time

from memlayer.daemon.ops.requests import Progress, limit_of, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, task_commits
from memlayer.errors import UserError
from memlayer.model import citation_of
from memlayer.tasks.book import TaskBook
from memlayer.tasks.graph import Rel
from memlayer.tasks.matcher import match, named
from memlayer.tasks.states import ALL, RESTING, STATUSES, Op, Step, Task
from memlayer.text.context_block import quoted
from memlayer.wire import tasks as ops

HISTORY_SHOWN = 200
REST_MS, REST_SESSIONS = 14 * 86_400_000, 5
UNKNOWN = "unknown"  # nobody said for what it waits


def tasks(state: State, arguments: ops.Tasks, progress: Progress) -> ops.TaskList:
    """Return tasks, newest first, and how many rest. Raises UserError."""
    wanted = arguments.status
    if wanted and wanted not in STATUSES:
        raise UserError("%s is no status. Give one of %s" % (quoted(wanted), ", ".join(STATUSES)))
    _drained(state)
    book, project_id = services_of(state).tasks, project_of(state, arguments.project_dir)
    if arguments.project_dir and not project_id:
        return ops.TaskList()
    task_commits.look_at_tasks(state, project_id, state.projects.root(project_id))
    rows = [_fields(state, row) for row in book.known.all(project_id)]
    return ops.TaskList(
        tasks=[row for row in rows if _is_wanted(row, wanted)],
        resting=sum(row.is_resting for row in rows),
        questions=len(book.questions(project_id)),
    )


def _is_wanted(task: ops.TaskRow, wanted: str) -> bool:
    if wanted in (ALL, RESTING):
        return wanted == ALL or task.is_resting
    return task.status == wanted if wanted else task.is_open and not task.is_resting


def show(state: State, arguments: ops.TaskShow, progress: Progress) -> ops.TasksShown:
    """Return a name's tasks, each with history, blockers and quotes."""
    _drained(state)
    book, project_id = services_of(state).tasks, limit_of(state, arguments.project_dir)
    task_commits.look_at_tasks(state, project_id, state.projects.root(project_id))
    rows = [row for row in book.known.all(limit_of(state, arguments.limit_dir)) if named(arguments.id_, row)]
    rows = rows or list(match(arguments.id_, book.known.all(project_id), is_open=None).candidates)
    if not rows:
        raise UserError("No task is known by %s. `memlayer task list` lists them" % quoted(arguments.id_))
    return ops.TasksShown(tasks=[_details(state, book, row) for row in rows])


def _details(state: State, book: TaskBook, task: Task) -> ops.TaskDetails:
    steps = book.known.steps(task.id)
    return ops.TaskDetails.of(
        _fields(state, task),
        history=[_step(step) for step in steps[-HISTORY_SHOWN:]],
        neighbours=[ops.TaskNeighbour.of(row) for row in book.graph.neighbours(task.id) if row.rel != Rel.BLOCKED_BY],
    )


def change(state: State, arguments: ops.TaskChange, progress: Progress) -> ops.TaskChanged:
    """Take in a person's change from the spool."""
    _drained(state)
    known = services_of(state).tasks.known
    stored = known.told([arguments.id_])
    if not stored:
        raise UserError("Nothing is changed: the text is private, or was forgotten before")
    content = stored[0].content
    steps = (*content.steps, *content.refused)
    ids = {step.task_id for step in steps}
    candidates = [task_id for asked in content.questions for task_id in asked.candidates]
    refusals = [step.reason for step in steps if step.op is Op.REJECTED]
    return ops.TaskChanged(
        tasks=[_fields(state, row) for row in known.by_id(ids)],
        freed=[_fields(state, row) for row in ([] if refusals else known.freed_by(ids))],
        candidates=[_fields(state, row) for row in known.by_id(candidates)],
        refusals=refusals,
    )


def _drained(state: State) -> None:
    services_of(state)
    batches.take_soon(state).result()


def _rests(state: State, task: Task) -> bool:
    """Return whether nobody has spoken of a task for long."""
    sessions = (row for row in state.sessions.all() if row.project_id == task.project_id)
    later = sum(session.since_ms > task.touched_ms for session in sessions)
    return task.is_open and later >= REST_SESSIONS and time.time() * 1000 - task.touched_ms >= REST_MS


def _fields(state: State, task: Task) -> ops.TaskRow:
    return ops.TaskRow.of(
        task,
        citation=citation_of(task.id),
        status=task.status.value,
        waits_for=[blocker.raw or UNKNOWN for blocker in task.blockers],
        is_resting=_rests(state, task),
        sources=list(task.by),
        earlier_titles=list(task.titles[:-1]),
        sessions=len(task.sessions),
        project=state.projects.name(task.project_id),
    )


def _step(step: Step) -> ops.TaskStep:
    to = "" if step.op is Op.TAKEN_BACK else step.to
    return ops.TaskStep.of(step, op=step.op.value, to=to, waits_for=[blocker.raw for blocker in step.blockers])
