"""A task's states: the transitions, and the fold of its steps."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

import msgspec

from memlayer.model import replace
from memlayer.tasks.keys import EntityType, condition
from memlayer.turns.remembered import says_something

PRIORITIES = ("low", "medium", "high", "critical")
USUAL_PRIORITY = "medium"
RESTING, ALL = "resting", "all"
REPLACE, SUGGEST = "replace", "suggest"


class Status(StrEnum):
    """The state of a task."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"
    DONE = "done"
    CANCELLED = "cancelled"


class Op(StrEnum):
    """A step in the history of a task.

    MENTIONED keeps it from resting. REOPENED is a new life of a closed one. REJECTED records a transition that the
    table refuses. TAKEN_BACK: a person undid the event that it names. Its steps count no more. LEFT: the conversation
    left all turns that spoke of it.
    """

    CREATED = "task_created"
    STATUS = "task_status_changed"
    PRIORITY = "task_priority_changed"
    BLOCKERS = "task_blockers_set"
    RESOLVED = "task_blocker_resolved"
    REJECTED = "task_transition_rejected"
    TITLED = "task_titled"
    MENTIONED = "task_mentioned"
    REOPENED = "task_reopened"
    TAKEN_BACK = "task_step_taken_back"
    LEFT = "task_left"


class By(StrEnum):
    """The source of a step, the surest first."""

    HOST = "host"
    PERSON = "person"
    READER = "reader"
    RULES = "rules"


NAMING = (Op.CREATED, Op.TITLED)
STATUSES = (*(status.value for status in Status), RESTING, ALL)  # of a list
OPEN = (Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED)
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.IN_PROGRESS, Status.BLOCKED, Status.CANCELLED}),
    Status.IN_PROGRESS: frozenset({Status.BLOCKED, Status.DONE, Status.CANCELLED}),
    Status.BLOCKED: frozenset({Status.IN_PROGRESS, Status.DONE, Status.CANCELLED}),
    Status.DONE: frozenset(),
    Status.CANCELLED: frozenset(),
}


class TaskRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value in the JSON of a task event."""

    def changed(self, **fields: Any) -> Self:
        """Return the record with other values."""
        return msgspec.structs.replace(self, **fields)


class Blocker(TaskRecord, frozen=True):
    """A thing that a task waits for.

    kind: task, condition or artifact. key: of the entity. A task's id. raw: as it was written, "" for something
    unknown.
    """

    kind: str = ""
    key: str = ""
    raw: str = ""


class Step(TaskRecord, frozen=True):
    """One step of one task, as an event holds it.

    to: a status, title, priority, the task that a blocker turned out to be, or an event that is taken back. from_: the
    status before, for the record. mode: of blockers. Suggested ones stand in the history alone. ref: the host's own id
    of the task. sources: ids of further events that it rests on. project_id to prompt_id: the place of its event, which
    are not written again.
    """

    task_id: str
    op: Op
    to: str = ""
    from_: str = ""
    by: str = By.RULES
    reason: str = ""
    quote: str = ""
    ref: str = ""
    mode: str = REPLACE
    blockers: tuple[Blocker, ...] = ()
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    project_id: str = ""
    event_id: str = ""
    at_ms: int = 0
    session_id: str = ""
    prompt_id: str = ""


@dataclass(frozen=True)
class Task:
    """A task as its steps left it.

    titles: all it ever had, the present one last. sources: ids of the events that its text rests on. touched_ms: last
    time that anybody spoke of it. sessions: that did. is_left: see Op.LEFT.
    """

    id: str
    project_id: str
    titles: tuple[str, ...]
    status: Status = Status.PENDING
    priority: str = USUAL_PRIORITY
    blockers: tuple[Blocker, ...] = ()
    by: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    created_ms: int = 0
    touched_ms: int = 0
    session_id: str = ""
    prompt_id: str = ""
    is_left: bool = False

    @property
    def title(self) -> str:
        """The present title."""
        return self.titles[-1]

    @property
    def is_open(self) -> bool:
        """True before it is done or cancelled."""
        return self.status in OPEN


def refusal(before: Status, wanted: Status) -> str:
    """Return why a transition is refused; "" for an allowed one."""
    if wanted in TRANSITIONS[before]:
        return ""
    if before is Status.PENDING and wanted is Status.DONE:
        return "it was never begun"
    if before in OPEN:
        return "it does not go from %s to %s" % (before, wanted)
    return "it is %s%s" % (before, " already" if wanted is before else "")


def fold(steps: Iterable[Step]) -> Task | None:
    """Return the task that its steps make, in their order.

    None for none.

    steps: of one task, oldest first. Any sequence gives a legal state: blocked with a blocker, closed without one.
    """
    rows = list(steps)
    over = {step.to for step in rows if step.op is Op.TAKEN_BACK}
    task: Task | None = None
    for step in rows:
        if step.event_id not in over and step.op is not Op.TAKEN_BACK:
            task = after(task, step)
    return task


def after(task: Task | None, step: Step) -> Task | None:
    """Return a task after one more step.

    One that does not fit changes no state.
    """
    if task is None:
        if step.op is not Op.CREATED or not says_something(step.to):
            return None
        task = Task(step.task_id, step.project_id, (step.to.strip(),), created_ms=step.at_ms)
    task = _heard(task, step)
    match step.op:
        case Op.CREATED | Op.TITLED if title := step.to.strip():
            task = replace(task, titles=(*(known for known in task.titles if known != title), title))
        case Op.STATUS if step.to in TRANSITIONS[task.status]:
            blockers = task.blockers if step.to == Status.BLOCKED else ()
            task = replace(task, status=Status(step.to), blockers=blockers)
        case Op.PRIORITY if step.to in PRIORITIES and task.is_open:
            task = replace(task, priority=step.to)
        case Op.BLOCKERS if step.mode == REPLACE and task.is_open:
            task = replace(task, blockers=tuple(blocker for blocker in step.blockers if blocker.key != task.id))
        case Op.RESOLVED:
            meant = {blocker.key: blocker.changed(kind=EntityType.WORK, key=step.to) for blocker in step.blockers}
            task = replace(task, blockers=tuple(meant.get(blocker.key, blocker) for blocker in task.blockers))
        case Op.REOPENED | Op.LEFT if task.is_open is (is_left := step.op is Op.LEFT):
            status = Status.CANCELLED if is_left else Status.PENDING
            task = replace(task, status=status, blockers=(), is_left=is_left)
    if task.status is Status.BLOCKED and not task.blockers:
        unknown = condition(task.project_id, "")
        return replace(task, blockers=(Blocker(unknown.type, unknown.key),))
    return task


def _heard(task: Task, step: Step) -> Task:
    """Note who spoke of a task, when, and in which session."""

    def and_new(known: tuple[str, ...], *more: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*known, *filter(None, more))))

    return replace(
        task,
        by=and_new(task.by, step.by),
        refs=and_new(task.refs, step.ref),
        files=and_new(task.files, *step.files),
        sources=and_new(task.sources, step.event_id, *step.sources) if step.op in NAMING else task.sources,
        sessions=and_new(task.sessions, step.session_id),
        touched_ms=task.touched_ms if step.op is Op.REJECTED else max(task.touched_ms, step.at_ms),
        session_id=step.session_id or task.session_id,
        prompt_id=task.prompt_id or step.prompt_id,
    )
