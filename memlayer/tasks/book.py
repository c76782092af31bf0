"""The book of tasks: from observations to steps, tasks and memories.

Events of kind `task` are kept in the store; the graph and the tasks' memories are made of them. All writes are
the daemon's writer's, and applying an event twice changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from memlayer.errors import UserError
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import CATEGORIES, Category, Kind
from memlayer.model import Event, Memory, citation_of, event_id, memory_key
from memlayer.ports import DeletionPlan, MemoryQuery, ScanProgress, Store
from memlayer.records.tombstones import Tombstones
from memlayer.tasks import events as task_events
from memlayer.tasks import sentences
from memlayer.tasks.decision import decided
from memlayer.tasks.events import Observation, TaskEvent
from memlayer.tasks.graph import Graph
from memlayer.tasks.repeats import said_again
from memlayer.tasks.states import By, Op, Status, Step, Task
from memlayer.turns.remembered import NO_SESSION
from memlayer.turns.turn_memory import prompt_of

EVERYTHING = 10_000_000
BATCH = 200
WAITS_FOR = " (waits for: %s)"
MAYBE_DONE = " (maybe done: %s)"
MAX_REMARK_CHARS = 120
MADE_BY_BOOK = "tasks-1"  # Memory.settled of a task's memory


@dataclass(frozen=True)
class TaskQuestion:
    """A statement that may be about several tasks, or about none.

    id: of its event. candidates: open tasks, the likeliest first.
    """

    id: str
    project_id: str
    wish: str
    quote: str
    candidates: tuple[Task, ...]
    at_ms: int


class Place(NamedTuple):
    """Where and when something was said of a task. at_ms: Unix time."""

    project_id: str
    session_id: str
    prompt_id: str
    at_ms: int


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class TaskBook:
    """Tasks of all projects. Writes belong to the writer."""

    store: Store
    indexer: Indexer
    tombstones: Tombstones
    graph: Graph
    now_ms: Callable[[], int] = _now_ms
    own_words: Callable[[str], str] = str

    # -- taking in

    def take(self, events: Sequence[Event]) -> list[Task]:
        """Store task events, decide those that are only observed.

        Return the tasks touched. Raises StoreError.
        """
        out: dict[str, Task] = {}
        with self.indexer.lock:
            for event in sorted(events, key=lambda row: (row.at_ms, row.id)):
                [kept] = self.store.events(ids=[event.id]) or [self._decided(event)]
                self.store.add_events([kept])
                out.update((task.id, task) for task in self._projected([kept]))
        return list(out.values())

    def observe(
        self, rows: Sequence[Observation], by: By, place: Place, origin: str, *, answers: str = ""
    ) -> list[Task]:
        """Take in the observations of a source.

        The same origin at a place is the same event.
        """
        if not rows and not answers:
            return []
        text = task_events.to_json(TaskEvent(by, tuple(rows), answers=answers))
        made = event_id(place.session_id, place.prompt_id, Kind.TASK, origin)
        return [] if made in self.tombstones else self.take([_event(made, place, text)])

    def heard(self, turns: Sequence[Memory]) -> None:
        """Take in the tasks that prompts of unsettled turns name."""
        for turn in turns:
            if turn.superseded_by or turn.known_kind is Kind.DID_NOT_HOLD or not turn.prompt_id:
                continue
            prompt = prompt_of(turn)
            own = self.own_words(prompt)  # another person's list or report, pasted, opens and closes nothing
            rows = [row for row in sentences.observed(prompt) if row.quote in own]
            for by in (By.PERSON, By.RULES):  # "todo:" is a person's own word, the rest is read by rules
                observations = [row for row in rows if (row.wish == task_events.CREATED) == (by is By.PERSON)]
                place = Place(turn.project_id, turn.session_id, turn.prompt_id, turn.at_ms)
                self.observe([replace(row, sources=turn.source_ids) for row in observations], by, place, by)

    def _decided(self, event: Event) -> Event:
        content = task_events.from_json(event.text)
        if not content.observed:
            return event
        tasks = self.graph.tasks(event.project_id)
        session_id = "" if event.session_id == NO_SESSION else event.session_id
        made = decided(content, tasks, event.project_id, session_id, event.id)
        if content.by is By.RULES and made.questions:  # a person is asked once a session
            asked = any(
                event.session_id == row.session_id and '"by":"rules"' in row.text
                for row in self.graph.asked(event.project_id)
            )
            made = replace(made, questions=() if asked else made.questions[:1])
        return replace(event, text=task_events.to_json(made))

    def _projected(self, events: Sequence[Event]) -> list[Task]:
        """Bring graph and memories in step with stored events."""
        touched = {placed.step.task_id for event in events for placed in task_events.placed(event)}
        before = {task.id: task for task in self.graph.tasks_by_id(sorted(touched))}
        by_hand = [step for task in before.values() if (step := self._by_hand(task)) is not None]
        tasks = self.graph.project([*events, *self._kept_by_hand(by_hand, before, events)])
        self.publish(tasks)
        gone = sorted(touched & before.keys() - {task.id for task in tasks})
        self._retire(gone)
        return tasks

    # -- changes of a person in the memory files

    def _by_hand(self, task: Task) -> Step | None:
        """Return a person's change of a task's line in a file."""
        rows = self.store.memories(MemoryQuery(ids=[task.id]))
        written = self.graph.published().get(task.id)
        if not rows or written is None or not task.is_open:
            return None
        [row] = rows
        if row.superseded_by == row.id and written[1]:
            return Step(task.id, Op.STATUS, Status.CANCELLED, task.status, By.PERSON)
        if row.text not in (written[0], text_of(task)):
            return Step(task.id, Op.TITLED, row.text.partition(WAITS_FOR.partition("%")[0])[0], by=By.PERSON)
        return None

    def _kept_by_hand(self, steps: Sequence[Step], tasks: dict[str, Task], events: Sequence[Event]) -> list[Event]:
        first_ms = min((event.at_ms for event in events), default=self.now_ms())
        made = []
        for step in steps:
            task = tasks[step.task_id]
            place = Place(task.project_id, NO_SESSION, "", max(first_ms - 1, task.touched_ms))
            name = event_id(NO_SESSION, "", Kind.TASK, "%s %s %d" % (task.id, step.to, task.touched_ms))
            made.append(_event(name, place, task_events.to_json(TaskEvent(By.PERSON, steps=(step,)))))
        self.store.add_events(made)
        return made

    def publish(self, tasks: Iterable[Task]) -> None:
        """Write the memories of tasks, those that were forgotten aside."""
        rows = [row for row in map(memory_of, tasks) if row.id not in self.tombstones]
        ids = [row.id for row in rows]
        known = {row.id: row for row in self.store.memories(MemoryQuery(ids=ids, limit=len(ids) + 1))} if ids else {}
        written = self.graph.published()
        rows = [_with_uses(row, known.get(row.id)) for row in rows]
        changed = [row for row in rows if known.get(row.id) != row or written.get(row.id) != _record(row)[1:]]
        if changed:
            self.store.put_memories(changed)
            self.indexer.index(changed)
            self.graph.set_published([_record(row) for row in changed])  # last: a kill before it writes them again

    def _retire(self, ids: Sequence[str]) -> None:
        """Have tasks that are none any more hold no more."""
        rows = self.store.memories(MemoryQuery(ids=ids, limit=len(ids) + 1)) if ids else []
        over = [replace(row, superseded_by=row.id, superseded_ms=row.at_ms) for row in rows if not row.superseded_by]
        if over:
            self.store.put_memories(over)
            self.indexer.index(over)

    # -- whole

    def catch_up(self) -> None:
        """Project events that a crash, import or older version left out."""
        with self.indexer.lock:
            if not self.graph.is_whole and not self.graph.known_events():
                self.graph.begin()
            self._take_over()
            events = self.store.events(kind=Kind.TASK, limit=EVERYTHING)
            known = self.graph.known_events()
            missing = [event for event in events if event.id not in known]
            for start in range(0, len(missing), BATCH):
                self._projected(missing[start : start + BATCH])
            written = self.graph.published()
            self.publish(task for task in self.graph.tasks() if written.get(task.id) != (text_of(task), task.is_open))
            gone = known - {event.id for event in events}
            if gone:
                self.graph.forget(sorted(gone), [])

    def rebuild(self, progress: ScanProgress = lambda done, total: None) -> None:
        """Make the graph anew from events and memories. Raises StoreError."""
        with self.indexer.lock:
            self.graph.begin()
            self.catch_up()
            left = self.unindexed()
            total = len(left)
            while left:
                left = self.index_some(left)
                progress(total - len(left), total)

    def unindexed(self) -> list[str]:
        """Return the ids of memories that a new graph lacks."""
        if self.graph.is_whole:
            return []
        return [row.id for row in self.store.memories(MemoryQuery(limit=EVERYTHING))] or [""]

    def index_some(self, ids: Sequence[str]) -> list[str]:
        """Take the first of these memories into the graph.

        Return the ids that are left.
        """
        with self.indexer.lock:
            self.index(self.store.memories(MemoryQuery(ids=ids[:BATCH], limit=BATCH)))
            left = list(ids[BATCH:])
            if not left:
                self.graph.ended()
            return left

    def index(self, memories: Sequence[Memory]) -> None:
        """Replace the entities and edges of these memories."""
        self.graph.index(memories, said_again(self.store, memories))

    def _take_over(self) -> None:
        """Make events of earlier versions' tasks, which only a memory holds."""
        rows = self.store.memories(MemoryQuery(category=Category.CORE, kind=Kind.TASK, limit=EVERYTHING))
        rows = [row for row in rows if row.settled != MADE_BY_BOOK and row.superseded_by in ("", row.id)]
        known = {task.id for task in self.graph.tasks_by_id([row.id for row in rows])}
        for row in rows:
            if row.id not in known:
                self.take([_event_of(row)])

    # -- deletion

    def with_events(self, plan: DeletionPlan) -> DeletionPlan:
        """Return a deletion plan with all that goes with its tasks.

        A task goes whole when its memory goes; an event that made a task takes the task along.
        """
        known = self.graph.known_events()
        tasks = {task.id for task in self.graph.tasks_by_id(plan.memory_ids)}
        made = [event_id for event_id in plan.event_ids if event_id in known]
        rows = self.store.events(ids=made, limit=len(made) + 1) if made else []
        tasks |= {row.step.task_id for event in rows for row in task_events.placed(event) if row.step.op is Op.CREATED}
        ids = sorted(tasks)
        return replace(
            plan,
            event_ids=tuple(dict.fromkeys((*plan.event_ids, *self.graph.events_of(ids)))),
            memory_ids=tuple(dict.fromkeys((*plan.memory_ids, *ids))),
        )

    def forget(self, plan: DeletionPlan) -> None:
        """Drop the plan's rows from the graph.

        Renew the memories of tasks that stay.
        """
        touched = self.graph.forget(plan.event_ids, plan.memory_ids)
        self.publish(task for task in self.graph.tasks_by_id(touched) if task.id not in plan.memory_ids)

    # -- questions, and remarks of others

    def questions(self, project_id: str = "") -> list[TaskQuestion]:
        """Return the open questions, oldest first.

        One is open until a person answers it, or a candidate was spoken of later.
        """
        out = []
        rows = [(event, task_events.from_json(event.text)) for event in self.graph.asked(project_id)]
        undone = {content.takes_back for _, content in rows}
        answered = {content.answers for event, content in rows if content.answers and event.id not in undone}
        for event, content in rows:
            for asked in content.questions:
                tasks = self.graph.tasks_by_id(asked.candidates)
                tasks = [task for task in tasks if task.is_open]
                is_settled = event.id in answered or any(task.touched_ms > event.at_ms for task in tasks)
                if tasks and not is_settled:
                    order = {task_id: at for at, task_id in enumerate(asked.candidates)}
                    ranked = tuple(sorted(tasks, key=lambda task: order[task.id]))
                    quote = asked.quote or asked.title
                    out.append(TaskQuestion(event.id, event.project_id, asked.wish, quote, ranked, event.at_ms))
        return out

    def answer(self, question_id: str, task_id: str) -> tuple[str, list[Task]]:
        """Answer a question: by a task, or "" for none of them.

        Return the answer's event, for take_back(), and the tasks touched; ("", []) for a question that is not open.
        """
        asked = next((row for row in self.questions() if row.id == question_id), None)
        if asked is None:
            return "", []
        rows = [Observation(asked.wish, task_id=task_id, quote=asked.quote)] if task_id else []
        place = Place(asked.project_id, NO_SESSION, "", self.now_ms())
        rounds = sum(question_id in event.text for event in self.graph.asked(asked.project_id))
        origin = "%s %s %d" % (question_id, task_id, rounds)
        tasks = self.observe(rows, By.PERSON, place, origin, answers=question_id)
        return event_id(NO_SESSION, "", Kind.TASK, origin), tasks

    def take_back(self, answer_id: str) -> list[Task]:
        """Undo an answer: its steps count no more, its question is open.

        Raises UserError where it was forgotten.
        """
        event = next(iter(self.store.events(ids=[answer_id])), None)
        if event is None:
            raise UserError("The last answer was forgotten since. Nothing is changed")
        touched = dict.fromkeys(row.step.task_id for row in task_events.placed(event))
        steps = tuple(Step(task_id, Op.TAKEN_BACK, event.id, by=By.PERSON) for task_id in touched)
        place = Place(event.project_id, NO_SESSION, "", self.now_ms())
        text = task_events.to_json(TaskEvent(By.PERSON, steps=steps, takes_back=event.id))
        return self.take([_event(event_id(NO_SESSION, "", Kind.TASK, "takes back " + event.id), place, text)])

    def open_tasks(self, project_id: str) -> list[Task]:
        """Return a project's open tasks, newest first."""
        return [task for task in self.graph.tasks(project_id) if task.is_open]

    def maybe_done(self, task_id: str, why: str) -> None:
        """Remark that history seems to have done a task.

        "" takes the remark back.
        """
        self.graph.set_maybe_done(task_id, " ".join(why.split())[:MAX_REMARK_CHARS])
        self.publish(self.graph.tasks_by_id([task_id]))


def _with_uses(row: Memory, known: Memory | None) -> Memory:
    """Return a task's memory with the pin and level that it has."""
    return row if known is None else replace(row, pinned=known.pinned, level=known.level)


def _record(row: Memory) -> tuple[str, str, bool]:
    return row.id, row.text, not row.superseded_by


def text_of(task: Task) -> str:
    """Return a task as its memory has it."""
    waits = [blocker.raw for blocker in task.blockers if blocker.raw]
    text = task.title + (WAITS_FOR % ", ".join(waits) if waits and task.status is Status.BLOCKED else "")
    return text + (MAYBE_DONE % task.maybe_done if task.maybe_done and task.is_open else "")


def memory_of(task: Task) -> Memory:
    """Return the memory of a task, which says where it stands."""
    return Memory(
        id=task.id,
        key=memory_key(Category.CORE, task.id, task.created_ms),
        citation=citation_of(task.id),
        category=Category.CORE,
        kind=Kind.TASK,
        text=text_of(task),
        importance=CATEGORIES[Category.CORE].importance,
        project_id=task.project_id,
        session_id=task.session_id,
        prompt_id=task.prompt_id,
        source_ids=task.sources,
        at_ms=task.touched_ms,
        superseded_by="" if task.is_open else task.id,
        superseded_ms=0 if task.is_open else task.touched_ms,
        settled=MADE_BY_BOOK,
        files=task.files,
    )


def _event_of(memory: Memory) -> Event:
    """Return the event that makes a task of an earlier version's memory."""
    title, _, waits = memory.text.partition(WAITS_FOR.partition("%")[0])
    waits = waits.removesuffix(")")
    is_over = memory.superseded_by == memory.id
    status = Status.DONE if is_over else Status.BLOCKED if waits else Status.PENDING
    row = Observation(
        task_events.CREATED, title, task_id=memory.id, status=status, blockers=(waits,) if waits else (),
        sources=memory.source_ids, files=memory.files,
    )  # fmt: skip
    place = Place(memory.project_id, memory.session_id or NO_SESSION, memory.prompt_id, memory.at_ms)
    name = event_id(memory.session_id, memory.prompt_id, Kind.TASK, memory.id)
    return _event(name, place, task_events.to_json(TaskEvent(By.READER, (row,))))


def _event(name: str, place: Place, text: str) -> Event:
    return Event(name, Kind.TASK, place.session_id, place.project_id, place.prompt_id, text, place.at_ms)
