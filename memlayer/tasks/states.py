"""A task's states: the transitions, and the fold of its steps."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

PRIORITIES = ("low", "medium", "high", "critical")
USUAL_PRIORITY = "medium"
REST_MS, REST_SESSIONS = 14 * 86_400_000, 5
REPLACE, SUGGEST = "replace", "suggest"
MAX_REJECTED = 20  # refusals kept of a task


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
    table refuses. TAKEN_BACK: a person undid the event that it names; its steps count no more.
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


class By(StrEnum):
    """The source of a step, the surest first."""

    HOST = "host"
    PERSON = "person"
    READER = "reader"
    RULES = "rules"


OPEN = (Status.PENDING, Status.IN_PROGRESS, Status.BLOCKED)
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.IN_PROGRESS, Status.BLOCKED, Status.CANCELLED}),
    Status.IN_PROGRESS: frozenset({Status.BLOCKED, Status.DONE, Status.CANCELLED}),
    Status.BLOCKED: frozenset({Status.IN_PROGRESS, Status.DONE, Status.CANCELLED}),
    Status.DONE: frozenset(),
    Status.CANCELLED: frozenset(),
}


@dataclass(frozen=True)
class Blocker:
    """A thing that a task waits for.

    kind: task, condition or artifact. key: of the entity; a task's id. raw: as it was written. confidence: 0.0 for a
    placeholder. candidates: ids of tasks that may be meant.
    """

    kind: str = ""
    key: str = ""
    raw: str = ""
    confidence: float = 1.0
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """One step of one task, as an event holds it.

    to: a status, title, priority, the key that a blocker turned out to be, or an event that is taken back. from_: the
    status before, for the record. mode: of blockers. ref: the host's own id of the task. sources: ids of further events
    that it rests on.
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


@dataclass(frozen=True)
class Placed:
    """A step with its event's place."""

    step: Step
    event_id: str
    at_ms: int
    session_id: str
    prompt_id: str


@dataclass(frozen=True)
class Task:
    """A task as its steps left it.

    titles: all it ever had, the present one last. suggested: blockers that nobody confirmed. sources: ids of the
    events that its text rests on. touched_ms: last time that anybody spoke of it. sessions: that did. rejected: (from,
    to, reason, Unix ms). maybe_done: the line of the history of its files, see TaskBook.maybe_done.
    """

    id: str
    project_id: str
    titles: tuple[str, ...]
    status: Status = Status.PENDING
    priority: str = USUAL_PRIORITY
    blockers: tuple[Blocker, ...] = ()
    suggested: tuple[Blocker, ...] = ()
    resolved: tuple[tuple[str, str], ...] = ()
    by: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    created_ms: int = 0
    touched_ms: int = 0
    session_id: str = ""
    prompt_id: str = ""
    rejected: tuple[tuple[str, str, str, int], ...] = ()
    maybe_done: str = field(default="", compare=False)

    @property
    def title(self) -> str:
        """The present title."""
        return self.titles[-1]

    @property
    def is_open(self) -> bool:
        """True before it is done or cancelled."""
        return self.status in OPEN


def is_resting(touched_ms: int, now_ms: int, later_sessions: Collection[str]) -> bool:
    """Return whether an unmentioned task is shown no more.

    later_sessions: those that began since it was last spoken of.
    """
    return now_ms - touched_ms >= REST_MS and len(later_sessions) >= REST_SESSIONS


def placeholder(project_id: str) -> Blocker:
    """Return the blocker of a task that waits for something unknown."""
    return Blocker("condition", "cond:%s:unknown" % project_id, "", 0.0)


def refusal(before: Status, wanted: Status) -> str:
    """Return why a transition is refused; "" for an allowed one."""
    if wanted in TRANSITIONS[before]:
        return ""
    if before is Status.PENDING and wanted is Status.DONE:
        return "it was never begun"
    return "it is %s" % before if before not in OPEN else "it does not go from %s to %s" % (before, wanted)


def fold(project_id: str, placed: Iterable[Placed]) -> Task | None:
    """Return the task that its steps make, in their order.

    None for none.

    placed: of one task, oldest first. Any sequence gives a legal state: blocked with a blocker, closed without one.
    """
    rows = list(placed)
    over = {row.step.to for row in rows if row.step.op is Op.TAKEN_BACK}
    task: Task | None = None
    for row in rows:
        if row.event_id not in over and row.step.op is not Op.TAKEN_BACK:
            task = after(task, project_id, row)
    return task


def after(task: Task | None, project_id: str, row: Placed) -> Task | None:
    """Return a task after one more step."""
    step = row.step
    if task is None:
        return _created(project_id, row) if step.op is Op.CREATED and step.to.strip() else None
    return _changed(_heard(task, row), row)


def _changed(task: Task, row: Placed) -> Task:
    step = row.step
    match step.op:
        case Op.CREATED | Op.TITLED:
            return _titled(task, step.to)
        case Op.STATUS:
            return _moved(task, row)
        case Op.PRIORITY:
            return replace(task, priority=step.to) if step.to in PRIORITIES and task.is_open else task
        case Op.BLOCKERS:
            return _blocked_by(task, row)
        case Op.RESOLVED:
            pairs = ((blocker.key, step.to) for blocker in step.blockers)
            return replace(task, resolved=tuple(dict.fromkeys((*task.resolved, *pairs))))
        case Op.REOPENED:
            return replace(task, status=Status.PENDING, maybe_done="") if not task.is_open else task
        case Op.REJECTED:
            return _refused(task, row, step.reason)
        case _:
            return task


def _created(project_id: str, row: Placed) -> Task:
    step = row.step
    first = Task(step.task_id, project_id, (step.to.strip(),), created_ms=row.at_ms)
    return replace(_heard(first, row), sources=_sources(first, row))


def _heard(task: Task, row: Placed) -> Task:
    """Note who spoke of a task, when, and in which session."""
    step = row.step
    sources = _sources(task, row) if step.op in (Op.CREATED, Op.TITLED) else task.sources
    is_speech = step.op is not Op.REJECTED
    return replace(
        task,
        by=tuple(dict.fromkeys((*task.by, step.by))),
        refs=tuple(dict.fromkeys((*task.refs, *([step.ref] if step.ref else ())))),
        files=tuple(dict.fromkeys((*task.files, *step.files))),
        sources=sources,
        sessions=tuple(dict.fromkeys((*task.sessions, *([row.session_id] if row.session_id else ())))),
        touched_ms=max(task.touched_ms, row.at_ms) if is_speech else task.touched_ms,
        session_id=row.session_id or task.session_id,
        prompt_id=task.prompt_id or row.prompt_id,
    )


def _sources(task: Task, row: Placed) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*task.sources, row.event_id, *row.step.sources)))


def _titled(task: Task, title: str) -> Task:
    title = title.strip()
    if not title:
        return task
    return replace(task, titles=(*(known for known in task.titles if known != title), title))


def _moved(task: Task, row: Placed) -> Task:
    try:
        wanted = Status(row.step.to)
    except ValueError:
        return task
    if wanted is task.status:
        return task
    why = refusal(task.status, wanted)
    if why:
        return _refused(task, row, why)
    moved = replace(task, status=wanted)
    if wanted is Status.BLOCKED:
        return moved if moved.blockers else replace(moved, blockers=(placeholder(task.project_id),))
    return replace(moved, blockers=(), suggested=() if not moved.is_open else moved.suggested)


def _blocked_by(task: Task, row: Placed) -> Task:
    """Set blockers; those that nobody confirmed stand beside the others."""
    step = row.step
    if not task.is_open:
        return _refused(task, row, "it is %s" % task.status.value)
    blockers = tuple(blocker for blocker in step.blockers if blocker.key != task.id)
    if step.mode != REPLACE:
        return replace(task, suggested=blockers)
    if not blockers and task.status is Status.BLOCKED:
        blockers = (placeholder(task.project_id),)
    return replace(task, blockers=blockers)


def _refused(task: Task, row: Placed, why: str) -> Task:
    entry = (row.step.from_ or task.status.value, row.step.to, why, row.at_ms)
    return replace(task, rejected=(*task.rejected, entry)[-MAX_REJECTED:])
