"""Operations on memories under review: the list, a decision, its undoing."""

from typing import TypeVar

from memlayer.daemon.ops.requests import Progress, memory_row, one_named, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.edge.capture.payload import clean
from memlayer.errors import UserError
from memlayer.keep import keep
from memlayer.kinds import Category, Kind
from memlayer.model import Memory, citation_of, unix_ms
from memlayer.notes.review import How, Review, ReviewedMemory, ReviewedProject, ReviewLog, ReviewReason
from memlayer.ports import Store
from memlayer.tasks.book import TaskQuestion
from memlayer.tasks.matcher import named
from memlayer.text.context_block import bare_id, quoted
from memlayer.wire import curation as ops

Value = TypeVar("Value")


def review(state: State, arguments: ops.Review, progress: Progress) -> ops.ReviewList:
    """Return a project's questions and memories under review, the urgent first."""
    reviewer, place = _review_of(state), _place_of(state, arguments.project_dir)
    items, asked = reviewer.items(place, unix_ms()), _asked(reviewer, place)
    return ops.ReviewList(
        items=[_item_fields(state, item) for item in items[: arguments.limit]],
        total=len(items),
        task_questions=[_asked_fields(row) for row in asked[: arguments.limit]],
    )


def decide(state: State, arguments: ops.Decide, progress: Progress) -> ops.Decided:
    """Carry out a person's decision on a memory under review."""
    reviewer, place = _review_of(state), _place_of(state, arguments.project_dir)
    try:
        how = How(arguments.how)
    except ValueError:
        raise UserError("%.40r is no decision. Give one of %s" % (arguments.how, ", ".join(How))) from None
    if how in (How.YES, How.NO):
        return _answered(state, reviewer, place, how, arguments)
    store = services_of(state).store
    memory = one_named(store, arguments.id_)
    other = one_named(store, arguments.other) if arguments.other else None
    if other is not None and (other.id == memory.id or other.project_id != memory.project_id or not other.holds):
        raise UserError(f"{other.key} cannot be merged with {memory.key}: give another memory in force of its project")
    item = _item_of(services_of(state).store, reviewer.items(place, unix_ms()), memory, is_any=how is How.DROP)
    text = clean(arguments.text).strip()
    decided = derived.written(state, "review", lambda: reviewer.decide(item, how, unix_ms(), text=text, other=other))
    return ops.Decided(how=how, memory=memory_row(state, decided))


def _answered(state: State, reviewer: Review, place: ReviewedProject, how: How, arguments: ops.Decide) -> ops.Decided:
    """Answer a question on a task. Raises UserError where none is meant."""
    asked = [row for row in _asked(reviewer, place) if citation_of(row.id) == bare_id(arguments.id_)]
    if not asked:
        raise UserError("No question is known by %s. `memlayer review` lists them" % quoted(arguments.id_))
    [question, *_] = asked
    task_id = _meant(question, arguments.other) if how is How.YES else ""
    memory = derived.written(state, "review", lambda: reviewer.answer(question, task_id, unix_ms()))
    return ops.Decided(how, memory_row(state, memory), question.wish) if memory is not None else ops.Decided(how)


def _meant(question: TaskQuestion, name: str) -> str:
    """Return the candidate of a name, or the only one. Raises UserError."""
    rows = [task for task in question.candidates if not name or named(name, task)]
    if len(rows) != 1:
        choice = ", ".join("%s (%s)" % (citation_of(task.id), quoted(task.title)) for task in question.candidates)
        raise UserError("Nothing is changed: name the task that is meant, one of %s" % choice)
    return rows[0].id


def undo(state: State, arguments: ops.UndoReview, progress: Progress) -> ops.Decided:
    """Take the last decision of a project back."""
    reviewer, project_id = _review_of(state), _place_of(state, arguments.project_dir).project_id
    decision, memory = derived.written(state, "review", lambda: reviewer.undo(project_id))
    return ops.Decided(how=decision.how, memory=memory_row(state, memory) if memory is not None else None)


def _item_of(store: Store, items: list[ReviewedMemory], memory: Memory, *, is_any: bool) -> ReviewedMemory:
    """Return the item about a memory, from its side.

    is_any: any core memory in force but a task may be meant. Raises UserError for none.
    """
    for item in items:
        if item.memory.id == memory.id:
            return item
        if item.against is not None and item.against.id == memory.id:
            return ReviewedMemory(memory, item.reason, item.why, item.memory)
    keep.refuse_ended(store, memory)
    if is_any and memory.category is Category.CORE and memory.known_kind is not Kind.TASK:
        return ReviewedMemory(memory, ReviewReason.UNWANTED, "")
    raise UserError(f"{memory.key} is not under review. `memlayer edit` and `memlayer forget` change any memory")


def _item_fields(state: State, item: ReviewedMemory) -> ops.ReviewItem:
    against = memory_row(state, item.against) if item.against is not None else None
    return ops.ReviewItem(memory=memory_row(state, item.memory), reason=item.reason, why=item.why, against=against)


def _asked(reviewer: Review, place: ReviewedProject) -> list[TaskQuestion]:
    return reviewer.tasks.questions(place.project_id) if place.project_id else []


def _asked_fields(question: TaskQuestion) -> ops.TaskAsked:
    tasks = [ops.TaskMeant.of(task, citation=citation_of(task.id)) for task in question.candidates]
    return ops.TaskAsked.of(question, id=citation_of(question.id), candidates=tasks)


def _review_of(state: State) -> Review:
    services = services_of(state)
    return Review(services.store, services.readings, ReviewLog(state.home), services.consolidator, services.tasks)


def _place_of(state: State, folder: str) -> ReviewedProject:
    project_id = project_of(state, folder)
    moments = [session.last_ms for session in state.sessions.all() if session.project_id == project_id]
    return ReviewedProject(
        project_id, state.projects.root(project_id), lambda at_ms: sum(last > at_ms for last in moments)
    )
