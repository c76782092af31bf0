"""Turn an observation into steps of the tasks that are known.

Pure: the same observations and tasks give the same steps. In doubt it asks, and changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.kinds import Kind
from memlayer.model import event_id
from memlayer.tasks.events import CREATED, MAX_TITLE_CHARS, MENTIONED, REOPENED, Observation, Question, TaskEvent
from memlayer.tasks.keys import Entity, EntityType, artifact, condition, entities_in, task_key
from memlayer.tasks.matcher import called, match, matter_of, named
from memlayer.tasks.states import (
    OPEN,
    PRIORITIES,
    REPLACE,
    SUGGEST,
    Blocker,
    By,
    Op,
    Status,
    Step,
    Task,
    after,
    refusal,
)
from memlayer.turns.remembered import says_something

MAX_RAW_CHARS = 200
_STATUSES = frozenset(Status)
SURE = (By.HOST, By.PERSON)  # their words for a task are its name


@dataclass
class _Draft:
    """The tasks as the steps so far leave them."""

    project_id: str
    session_id: str
    event_id: str
    by: By
    tasks: dict[str, Task]
    steps: list[Step] = field(default_factory=list)
    refused: list[Step] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def add(self, step: Step) -> None:
        """Append a step, upon those before."""
        step = step.changed(by=self.by)
        self.steps.append(step)
        known = self.tasks.get(step.task_id)
        at_ms = known.touched_ms if known is not None else 0
        place = {"project_id": self.project_id, "event_id": self.event_id, "session_id": self.session_id}
        task = after(known, step.changed(at_ms=at_ms, **place))
        if task is not None:
            self.tasks[step.task_id] = task

    @property
    def refs(self) -> dict[str, str]:
        """The host's names of this session's tasks: "#id" -> task id."""
        start = self.session_id + ":"
        return {
            "#" + ref.removeprefix(start): task.id
            for task in self.tasks.values()
            for ref in task.refs
            if ref.startswith(start)
        }


def decided(content: TaskEvent, tasks: Iterable[Task], project_id: str, session_id: str, event_id_: str) -> TaskEvent:
    """Return the event with steps and questions in place of its observations."""
    draft = _Draft(project_id, session_id, event_id_, content.by, {task.id: task for task in tasks})
    for told in content.observed:
        row = told.changed(title=" ".join(told.title.split())[:MAX_TITLE_CHARS])
        if row.wish == CREATED:
            _create(draft, row)
            continue
        task, candidates = _meant(draft, row)
        if task is not None:
            _change(draft, task, row)
        elif candidates and row.wish in _STATUSES:
            draft.questions.append(Question(tuple(task.id for task in candidates), row.wish, row.title, row.quote))
    steps, refused, questions = (*content.steps, *draft.steps), tuple(draft.refused), tuple(draft.questions)
    return content.changed(observed=(), steps=steps, refused=refused, questions=questions)


def _meant(draft: _Draft, row: Observation) -> tuple[Task | None, Sequence[Task]]:
    """Return the task that is meant for sure, else the candidates."""
    if row.task_id:
        return draft.tasks.get(row.task_id), ()
    named = draft.refs.get("#" + row.ref) if row.ref else None
    if named is not None:
        return draft.tasks[named], ()
    if not row.title:
        return None, ()
    matched = match(row.title, draft.tasks.values())
    said = matter_of(row.quote)  # "expo upgrade finished, we are on 54" means "Expo 54 upgrade"
    whole = [task for task in matched.candidates if matched.sure is None and matter_of(task.title) <= said]
    if len(whole) == 1:
        return whole[0], ()
    if matched.sure is None and draft.by in SURE:
        known = _with_title(draft, row.title)
        if known is None and not matched.candidates:
            known = match(row.title, draft.tasks.values(), is_open=False).sure
        return known, matched.candidates
    return matched.sure, matched.candidates


def _with_title(draft: _Draft, title: str) -> Task | None:
    """Return the task that has, or had, exactly this title.

    An open one before a closed one.
    """
    same = (task for task in draft.tasks.values() if called(title, task))
    return max(same, key=lambda task: (task.is_open, task.touched_ms, task.id), default=None)


def _create(draft: _Draft, row: Observation) -> None:
    """Create a task, unless it is known.

    A closed one of the same title is opened again.
    """
    known = draft.tasks.get(row.task_id) if row.task_id else _with_title(draft, row.title)
    if known is None and draft.by not in SURE and not row.task_id:
        known = match(row.title, draft.tasks.values()).sure
    ref = "%s:%s" % (draft.session_id, row.ref) if row.ref else ""
    if known is not None:
        again = Op.MENTIONED if known.is_open else Op.REOPENED
        draft.add(Step(known.id, again, quote=row.quote, ref=ref, files=row.files))
        _change(draft, draft.tasks[known.id], row.changed(wish=row.status or MENTIONED))
        return
    if not says_something(row.title):
        return
    key = task_key(draft.project_id, row.title)
    task_id = row.task_id or event_id(draft.project_id, draft.event_id, Kind.TASK, key)
    draft.add(Step(task_id, Op.CREATED, row.title, quote=row.quote, ref=ref, sources=row.sources, files=row.files))
    if row.priority in PRIORITIES:
        draft.add(Step(task_id, Op.PRIORITY, row.priority))
    _resolve_conditions(draft, task_id)
    if row.status in _STATUSES and row.status != Status.PENDING:
        _change(draft, draft.tasks[task_id], row.changed(wish=row.status))
    elif row.blockers:
        _set_blockers(draft, draft.tasks[task_id], row)


def _change(draft: _Draft, task: Task, row: Observation) -> None:
    is_closing = row.wish in _STATUSES and row.wish not in OPEN
    if draft.by is By.PERSON and (row.wish == REOPENED if task.is_open else is_closing):
        why = "it is open" if task.is_open else refusal(task.status, Status(row.wish))
        draft.refused.append(Step(task.id, Op.REJECTED, row.wish, task.status, reason=why))
        return
    if row.wish == REOPENED:
        draft.add(Step(task.id, Op.REOPENED, quote=row.quote, reason=row.reason))
        return
    is_named = bool(row.task_id and row.title and row.title != task.title)
    if is_named and draft.by is By.READER and task.is_open and not is_closing:
        draft.add(Step(task.id, Op.TITLED, row.title, quote=row.quote))
    if row.priority in PRIORITIES and row.priority != task.priority:
        draft.add(Step(task.id, Op.PRIORITY, row.priority, task.priority))
    if row.wish not in _STATUSES:
        draft.add(Step(task.id, Op.MENTIONED, quote=row.quote))
        return
    wanted = Status(row.wish)
    is_shown = row.is_exact and wanted is Status.DONE
    if draft.by is By.READER and By.PERSON in task.by and is_closing and task.is_open and not is_shown:
        draft.questions.append(Question((task.id,), wanted, task.title, row.quote))  # only a person closes their own
        return
    if wanted is Status.BLOCKED:
        _set_blockers(draft, task, row)
    _move(draft, draft.tasks[task.id], wanted, row)


def _move(draft: _Draft, task: Task, wanted: Status, row: Observation) -> None:
    if task.status is wanted:
        draft.add(Step(task.id, Op.MENTIONED, quote=row.quote))
        return
    if task.status is Status.PENDING and wanted is Status.DONE:  # it was begun, and nobody said so
        draft.add(Step(task.id, Op.STATUS, Status.IN_PROGRESS, task.status, reason="it is reported as done"))
        task = draft.tasks[task.id]
    why = refusal(task.status, wanted)
    if why:
        draft.add(Step(task.id, Op.REJECTED, wanted, task.status, reason=why, quote=row.quote))
        return
    draft.add(Step(task.id, Op.STATUS, wanted, task.status, quote=row.quote, reason=row.reason))


def _set_blockers(draft: _Draft, task: Task, row: Observation) -> None:
    """Replace a task's blockers, or suggest them for words unknown."""
    others = [other for other in draft.tasks.values() if other.id != task.id]
    blockers = tuple(blocker_of(raw, draft.project_id, others, draft.refs) for raw in row.blockers)
    if not blockers:
        return
    mode = REPLACE if row.is_aligned else SUGGEST
    draft.add(Step(task.id, Op.BLOCKERS, quote=row.quote, mode=mode, blockers=blockers))


def _resolve_conditions(draft: _Draft, task_id: str) -> None:
    """Note that a condition, for which tasks wait, became a task."""
    new = draft.tasks[task_id]
    for task in list(draft.tasks.values()):
        for blocker in task.blockers if task.is_open else ():
            if blocker.kind == EntityType.CONDITION and blocker.raw and match(blocker.raw, [new]).sure is not None:
                draft.add(Step(task.id, Op.RESOLVED, task_id, blockers=(blocker,)))


def blocker_of(raw: str, project_id: str, tasks: Sequence[Task], refs: Mapping[str, str]) -> Blocker:
    """Return the blocker that words name. Never a task that nobody made.

    It does not hold a task's title, see KnownTasks. tasks: of the project. refs: the host's "#id" -> task id.
    """
    raw = " ".join(raw.split())[:MAX_RAW_CHARS]
    named_tasks = (task.id for task in tasks if named(raw, task))
    inside = [row for row in entities_in(project_id, raw) if row.type is EntityType.ARTIFACT]
    thing = artifact(raw) or (inside[0] if len(inside) == 1 else None)
    meant = refs.get(raw) or next(named_tasks, "")
    if not meant and thing is None and (task := match(raw, tasks).sure) is not None:
        meant = task.id
    thing = Entity(EntityType.WORK, meant, raw) if meant else thing or condition(project_id, raw)
    return Blocker(thing.type, thing.key, raw)
