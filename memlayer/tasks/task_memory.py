"""A task as a memory, and a person's change of it."""

from memlayer.kinds import CATEGORIES, Author, Category, Ended, Kind
from memlayer.model import Event, Memory, replace
from memlayer.tasks.events import CREATED, Observation, TaskEvent, task_event
from memlayer.tasks.states import By, Op, Status, Step, Task
from memlayer.turns.remembered import NO_SESSION
from memlayer.turns.salience import new_memory

WAITS_FOR = " (waits for: %s)"
MADE = ("text", "at_ms", "source_ids", "ended_because", "by")  # of a task's memory, by its steps


def is_behind(task: Task, row: Memory | None) -> bool:
    """Return whether a task's memory is not as its steps leave it."""
    made = memory_of(task)
    return row is None or any(getattr(row, name) != getattr(made, name) for name in MADE)


def by_hand(task: Task, row: Memory, *, is_start: bool) -> Step | None:
    """Return a person's change of a task's line in a file.

    A memory from before the last step is one that a kill left behind; at a start, so is one with an earlier title.
    """
    if not task.is_open:
        is_restored = row.holds and row.at_ms > task.touched_ms
        return Step(task.id, Op.REOPENED, by=By.PERSON) if is_restored else None
    if row.at_ms < task.touched_ms:
        return None
    if not row.holds:
        return Step(task.id, Op.STATUS, Status.CANCELLED, task.status, By.PERSON)
    title = _parts(row.text)[0]
    known = task.titles if is_start else task.titles[-1:]
    return Step(task.id, Op.TITLED, title, by=By.PERSON) if title not in known else None


def _parts(text: str) -> tuple[str, str]:
    """Return title and blockers of a task's memory."""
    title, _, waits = text.partition(WAITS_FOR.partition("%")[0])
    return title, waits.removesuffix(")")


def memory_of(task: Task) -> Memory:
    """Return the memory of a task, which says where it stands."""
    waits = [blocker.raw for blocker in task.blockers if blocker.raw and task.status is Status.BLOCKED]
    text = task.title + (WAITS_FOR % ", ".join(waits) if waits else "")
    made = new_memory(
        task.id, Category.CORE, Kind.TASK, text, task.created_ms, project_id=task.project_id,
        session_id=task.session_id, prompt_id=task.prompt_id, source_ids=task.sources, by=_author_of(task),
        importance=CATEGORIES[Category.CORE].importance, files=task.files,
    )  # fmt: skip
    made = replace(made, at_ms=task.touched_ms)
    because = Ended.DECLINED if task.status is Status.CANCELLED else Ended.CARRIED_OUT
    because = Ended.TAKEN_BACK if task.is_left else because
    return made if task.is_open else made.ended(because, task.touched_ms)


def _author_of(task: Task) -> Author:
    """Return who spoke of a task: the person, where they did."""
    authors = {By.READER: Author.READER, By.HOST: Author.MODEL}
    return next((authors[by] for by in (By.READER, By.HOST) if task.by == (by,)), Author.PERSON)


def event_of(memory: Memory) -> Event:
    """Return the event that makes a task of a memory without events."""
    title, waits = _parts(memory.text)
    status = Status.DONE if not memory.holds else Status.BLOCKED if waits else Status.PENDING
    row = Observation(
        CREATED, title, task_id=memory.id, status=status, blockers=(waits,) if waits else (),
        sources=memory.source_ids, files=memory.files,
    )  # fmt: skip
    return task_event(
        TaskEvent(By.READER, (row,)), memory.project_id, memory.at_ms, origin=memory.id,
        session_id=memory.session_id or NO_SESSION, prompt_id=memory.prompt_id,
    )  # fmt: skip
