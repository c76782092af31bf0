"""The book of tasks: from observations to steps, tasks and memories.

Events of kind `task` are kept in the store. The graph and the tasks' memories are made of them. All writes are
the daemon's writer's, and applying an event twice changes nothing.
"""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from memlayer.errors import UserError
from memlayer.keep.keep import Keep
from memlayer.kinds import NOT_HELD, Author, Category, Ended, Kind
from memlayer.model import Event, Memory, replace, unix_ms
from memlayer.ports import DeletionPlan, MemoryQuery, Store, memories_by_id
from memlayer.tasks.decision import decided
from memlayer.tasks.events import CREATED, Observation, TaskEvent, content_of, task_event, to_json
from memlayer.tasks.graph import OF_STEPS, Edge, Graph, edges_of_task, link
from memlayer.tasks.keys import EntityType
from memlayer.tasks.matcher import called
from memlayer.tasks.states import Blocker, By, Op, Status, Step, Task, fold
from memlayer.tasks.task_memory import by_hand, event_of, is_behind, memory_of
from memlayer.text.sentences import is_question, sentences
from memlayer.text.word_lists import rows
from memlayer.turns.remembered import NO_SESSION
from memlayer.turns.turn_memory import prompt_of

EVERYTHING = 10_000_000
MAX_TEXT_CHARS = 4_000  # a longer prompt is pasted text
MAX_FOUND = 8
# Sentences: a task is made only where somebody says that it is one. Any sentence that reports an end may close a known
# one, and the matcher decides (docs/inside/experiments.md).
HEDGE = "hedge"
PART = "part "
# Syllables that end in the sign of the past, but for the verb "to be there" and the intention.
PAST = "[%s]" % "".join(sign for sign in map(chr, range(0xAC14, 0xD7A4, 28)) if sign not in "있겠")
_QUOTED = re.compile(r"^\s*(?:>|\||```|[$#]\s)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
BATCH = 200


class Told(NamedTuple):
    """An event with its content."""

    event: Event
    content: TaskEvent


class KnownTasks:
    """Tasks as their steps leave them, read when somebody first asks. Thread-safe."""

    def __init__(self, store: Store, graph: Graph) -> None:
        self._store = store
        self._graph = graph
        self._lock = threading.RLock()
        self._events: dict[str, Told] | None = None
        self._of_task: dict[str, list[Step]] = {}
        self._folded: dict[str, Task] = {}

    @property
    def is_loaded(self) -> bool:
        """True once the store's events were read."""
        return self._events is not None

    def renew(self) -> None:
        """Read all events again."""
        with self._lock:
            events = self._store.events(kind=Kind.TASK, limit=EVERYTHING)
            self._events, self._of_task, self._folded = {}, {}, {}
            self.put(events)

    def put(self, events: Iterable[Event]) -> None:
        """Take in decided events; twice is once."""
        with self._lock:
            known = self._known()
            new = {event.id: Told(event, content_of(event)) for event in events if event.id not in known}
            known.update(new)
            for told in new.values():
                for step in told.content.steps:
                    self._of_task.setdefault(step.task_id, []).append(step)
            self._fold({step.task_id for told in new.values() for step in told.content.steps})

    def drop(self, event_ids: Iterable[str]) -> list[str]:
        """Drop forgotten events; return the ids of their tasks."""
        with self._lock:
            known = self._known()
            gone = {event_id: told for event_id in event_ids if (told := known.pop(event_id, None)) is not None}
            touched = sorted({step.task_id for told in gone.values() for step in told.content.steps})
            for task_id in touched:
                self._of_task[task_id] = [step for step in self._of_task[task_id] if step.event_id not in gone]
            self._fold(touched)
        return touched

    def _known(self) -> dict[str, Told]:
        if self._events is None:
            self.renew()
        assert self._events is not None
        return self._events

    def _fold(self, task_ids: Iterable[str]) -> None:
        for task_id in task_ids:
            steps = self._of_task[task_id]
            made = {step.event_id for step in steps if step.op is Op.CREATED}
            # Of events of one moment the one that makes the task comes first. Within an event the order stays.
            steps.sort(key=lambda step: (step.at_ms, step.event_id not in made, step.event_id))
            task = fold(steps)
            if task is None:
                self._folded.pop(task_id, None)
            else:
                self._folded[task_id] = task

    # -- answers

    def all(self, project_id: str = "", ids: Collection[str] | None = None) -> list[Task]:
        """Return tasks as they are in force, newest first."""
        with self._lock:
            self._known()
            rows = [task for task in self._folded.values() if project_id in ("", task.project_id)]
            rows = [task for task in rows if ids is None or task.id in ids]
            out = [self._in_force(task) for task in rows]
        return sorted(out, key=lambda task: (-task.touched_ms, task.id))

    def by_id(self, ids: Iterable[str]) -> list[Task]:
        """Return the tasks with these ids, newest first."""
        return self.all(ids=set(ids))

    def steps(self, task_id: str) -> list[Step]:
        """Return a task's steps, oldest first."""
        with self._lock:
            self._known()
            return [step.changed(blockers=self._titled(step.blockers)) for step in self._of_task.get(task_id, ())]

    def edges(self, task_ids: Iterable[str]) -> dict[str, list[Edge]]:
        """Return task's id -> the edges that its steps make."""
        with self._lock:
            self._known()
            tasks = [self._folded[id_] for id_ in task_ids]
            return {
                task.id: edges_of_task(replace(task, blockers=self._there(task)), self._of_task[task.id])
                for task in tasks
            }

    def freed_by(self, ids: Iterable[str]) -> list[Task]:
        """Return the tasks that waited for these alone, now closed."""
        closed = {task.id for task in self.by_id(ids) if not task.is_open}
        with self._lock:
            rows = [row for row in self._folded.values() if any(blocker.key in closed for blocker in row.blockers)]
        return [task for task in self.by_id(row.id for row in rows) if task.status is Status.PENDING]

    def named(self, name: str) -> list[Task]:
        """Return the tasks that have, or had, a name."""
        return [task for task in self.all() if called(name, task)]

    def told(self, event_ids: Iterable[str]) -> list[Told]:
        """Return these of the events."""
        with self._lock:
            return [told for event_id in event_ids if (told := self._known().get(event_id)) is not None]

    def asked(self, project_id: str = "") -> list[Told]:
        """Return events with questions or answers, oldest first."""
        with self._lock:
            rows = [told for told in self._known().values() if project_id in ("", told.event.project_id)]
        rows = [row for row in rows if row.content.questions or row.content.answers or row.content.takes_back]
        return sorted(rows, key=lambda row: (row.event.at_ms, row.event.id))

    def events_of(self, task_ids: Collection[str]) -> list[str]:
        """Return the ids of all events with steps of these tasks alone."""
        rows = self.told({step.event_id for task_id in task_ids for step in self.steps(task_id)})
        return sorted(row.event.id for row in rows if all(step.task_id in task_ids for step in row.content.steps))

    def _in_force(self, task: Task) -> Task:
        """Return a task without closed blockers. Pending when none is left.

        A task that is closed, or forgotten, blocks nobody any more.
        """
        there = self._there(task)
        left = tuple(row for row in there if row.kind != EntityType.WORK or self._folded[row.key].is_open)
        is_free = task.status is Status.BLOCKED and not left
        status = Status.PENDING if is_free else task.status
        return replace(task, blockers=left, status=status)

    def _there(self, task: Task) -> tuple[Blocker, ...]:
        """Return a task's blockers, tasks that were forgotten left out."""
        rows = (row for row in task.blockers if row.kind != EntityType.WORK or row.key in self._folded)
        return self._titled(rows)

    def _titled(self, blockers: Iterable[Blocker]) -> tuple[Blocker, ...]:
        """Return blockers with the present titles of those that are tasks."""
        meant = ((blocker, self._folded.get(blocker.key)) for blocker in blockers)
        return tuple(blocker.changed(raw=task.title) if task is not None else blocker for blocker, task in meant)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    parts, made = {"past": PAST}, list[tuple[str, re.Pattern[str]]]()
    for name, pattern in rows(__package__, "sentences.tsv"):
        for part, text in parts.items():
            pattern = pattern.replace("{%s}" % part, text)
        if name.startswith(PART):
            parts[name.removeprefix(PART)] = pattern
        else:
            made.append((name, re.compile(pattern, re.IGNORECASE)))
    return made


def observed(prompt: str) -> list[Observation]:
    """Return the tasks that a prompt speaks of, in its order."""
    if len(prompt) > MAX_TEXT_CHARS:
        return []
    return list(_observed(_FENCE.sub("\n", prompt)))[:MAX_FOUND]


def _observed(prompt: str) -> Iterator[Observation]:
    for line in prompt.split("\n"):
        if _QUOTED.match(line):
            continue
        whole = _of_sentence(line.strip(" -*\t"), (CREATED,))
        if whole is not None:
            yield whole
            continue
        for start, end in sentences(line):
            row = _of_sentence(line[start:end].strip(" -*\t"), ())
            if row is not None:
                yield row


def _of_sentence(sentence: str, wishes: tuple[str, ...]) -> Observation | None:
    patterns = [(wish, pattern) for wish, pattern in _patterns() if not wishes or wish in wishes]
    if any(wish == HEDGE and pattern.search(sentence) for wish, pattern in patterns):
        return None
    for wish, pattern in patterns:
        match = pattern.match(sentence) if wish != HEDGE else None
        if match is not None:
            is_asked = wish != CREATED and is_question(sentence if match.end() == len(sentence) else match[0])
            return None if is_asked else Observation(wish, match["task"].strip(" .,:"), quote=sentence)
    return None


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


@dataclass(frozen=True)
class TaskBook:
    """Tasks of all projects. Writes belong to the writer."""

    keep: Keep
    graph: Graph
    now_ms: Callable[[], int] = unix_ms
    own_words: Callable[[str], str] = str

    @property
    def store(self) -> Store:
        return self.keep.store

    @cached_property
    def known(self) -> KnownTasks:
        """The tasks of all stored events."""
        return KnownTasks(self.store, self.graph)

    # -- taking in

    def take(self, events: Sequence[Event]) -> list[Task]:
        """Store task events, decide those that are only observed.

        None that was forgotten. Return the tasks touched. Raises StoreError.
        """
        touched: dict[str, None] = {}
        events = [event for event in events if event.id not in self.keep.tombstones]
        with self.keep.lock:
            for event in sorted(events, key=lambda row: (row.at_ms, row.id)):
                [kept] = self.store.events(ids=[event.id]) or [self._decided(event)]
                ids = dict.fromkeys(step.task_id for step in content_of(kept).steps)
                before = self.known.all()
                self._heed(memories_by_id(self.store, ids), event.at_ms)
                self.store.add_events([kept])
                self.known.put([kept])
                self._renew(before, ids)
                touched.update(ids)
            return self.known.by_id(touched)

    def heard(self, turns: Sequence[Memory]) -> None:
        """Take in the tasks that prompts of unread turns name."""
        for turn in turns:
            is_over = not turn.holds or turn.known_kind in NOT_HELD
            if is_over or turn.by is Author.RUN or not turn.prompt_id:
                continue
            prompt = prompt_of(turn)
            own = self.own_words(prompt)  # another person's list or report, pasted, opens and closes nothing
            rows = [row.changed(sources=turn.source_ids) for row in observed(prompt) if row.quote in own]
            made, rest = [row for row in rows if row.wish == CREATED], [row for row in rows if row.wish != CREATED]
            for by, told in ((By.PERSON, made), (By.RULES, rest)):  # "todo:" is a person's own word
                place = {"origin": by, "session_id": turn.session_id, "prompt_id": turn.prompt_id}
                if told:
                    self.take([task_event(TaskEvent(by, tuple(told)), turn.project_id, turn.at_ms, **place)])

    def leave(self, session_id: str, left: Collection[str]) -> None:
        """Close tasks that only left prompts speak of; open the others."""
        for task in self.known.all():
            steps = self.known.steps(task.id) if session_id in task.sessions else []
            told = [step for step in steps if step.op not in (Op.LEFT, Op.TAKEN_BACK)]
            is_left = all(step.session_id == session_id and step.prompt_id in left for step in told)
            if not steps or is_left == task.is_left or (is_left and not task.is_open):
                continue
            undone = [step.event_id for step in steps if step.op is Op.LEFT]
            step = Step(task.id, Op.LEFT) if is_left else Step(task.id, Op.TAKEN_BACK, undone[-1])
            content = TaskEvent(By.RULES, steps=(step.changed(by=task.by[0]),))
            origin = "%s left %d" % (task.id, len(steps))
            self.take([task_event(content, task.project_id, self.now_ms(), origin=origin)])

    def _decided(self, event: Event) -> Event:
        content = content_of(event)
        if not content.observed:
            return event
        session_id = "" if event.session_id == NO_SESSION else event.session_id
        made = decided(content, self.known.all(event.project_id), event.project_id, session_id, event.id)
        if made.questions:  # each once, of those by rules one a session
            rows = self.known.asked(event.project_id)
            known = {(asked.candidates, asked.wish) for row in rows for asked in row.content.questions}
            new = tuple(asked for asked in made.questions if (asked.candidates, asked.wish) not in known)
            here = any(row.content.by is By.RULES and row.event.session_id == event.session_id for row in rows)
            made = made.changed(questions=new if content.by is not By.RULES else () if here else new[:1])
        return replace(event, text=to_json(made))

    def _renew(self, before: Sequence[Task], ids: Collection[str], gone: Collection[str] = ()) -> None:
        """Bring edges and memories in step with changed tasks.

        ids: of those whose steps changed. Tasks that wait for them may have changed as well. gone: forgotten ones.
        """
        known = {task.id: task for task in before}
        changed = [task for task in self.known.all() if task.id in ids or task != known.get(task.id)]
        changed = [task for task in changed if task.id not in gone]
        self.graph.put(self.known.edges(task.id for task in changed), OF_STEPS)
        self.publish(changed)

    # -- changes of a person in the memory files

    def _heed(self, rows: Mapping[str, Memory], before_ms: int, *, is_start: bool = False) -> None:
        """Make events of a person's changes of tasks' lines in files.

        rows: memories of tasks by id. before_ms: of the next event. is_start: a kill may have left some behind.
        """
        for task in self.known.by_id(rows):
            step = by_hand(task, rows[task.id], is_start=is_start)
            if step is not None:
                origin = "%s %s %d" % (task.id, step.to, task.touched_ms)
                at_ms = max(before_ms - 1, task.touched_ms)
                made = task_event(TaskEvent(By.PERSON, steps=(step,)), task.project_id, at_ms, origin=origin)
                self.store.add_events([made])
                self.known.put([made])

    def publish(self, tasks: Iterable[Task]) -> None:
        """Write the memories of tasks, which keep pin and level."""
        rows = [memory_of(task) for task in tasks]
        known = memories_by_id(self.store, (row.id for row in rows))
        self.keep.write(
            replace(row, pinned=old.pinned, level=old.level) if (old := known.get(row.id)) else row for row in rows
        )

    # -- whole

    def catch_up(self) -> None:
        """Take in events that a crash, an import or damage left out."""
        with self.keep.lock:
            is_start = not self.known.is_loaded
            rows = self.store.memories(MemoryQuery(category=Category.CORE, kind=Kind.TASK, limit=EVERYTHING))
            by_id = {row.id: row for row in rows}
            self._heed(by_id, self.now_ms(), is_start=is_start)  # before events come that the memories do not know
            if not is_start:
                self.known.renew()
            known = {task.id for task in self.known.by_id(by_id)}
            older = [row for row in rows if row.ended_because is not Ended.REWORDED]
            self.take([event_of(row) for row in older if row.id not in known])  # only a memory holds them
            tasks = self.known.all()
            self.graph.put(self.known.edges(task.id for task in tasks), OF_STEPS)
            self.publish(task for task in tasks if is_behind(task, by_id.get(task.id)))

    def rebuild(self) -> None:
        """Make the graph anew from events and memories. Raises StoreError."""
        with self.keep.lock:
            self.graph.begin()
            self.catch_up()
            left = self.unindexed()
            while left:
                left = self.index_some(left)

    def unindexed(self) -> list[str]:
        """Return the ids of memories that a new graph lacks."""
        if self.graph.is_whole:
            return []
        return [row.id for row in self.store.memories(MemoryQuery(limit=EVERYTHING))] or [""]

    def index_some(self, ids: Sequence[str]) -> list[str]:
        """Take the first of these memories into the graph.

        Return the ids that are left.
        """
        with self.keep.lock:
            link(self.store, self.graph, self.store.memories(MemoryQuery(ids=ids[:BATCH], limit=BATCH)))
            left = list(ids[BATCH:])
            if not left:
                self.graph.ended()
            return left

    # -- deletion

    def with_events(self, plan: DeletionPlan) -> DeletionPlan:
        """Return a deletion plan with all that goes with its tasks.

        A task goes whole when its memory goes. An event that made a task takes the task along.
        """
        tasks = {task.id for task in self.known.by_id(plan.memory_ids)}
        rows = self.known.told(plan.event_ids)
        tasks |= {step.task_id for row in rows for step in row.content.steps if step.op is Op.CREATED}
        return replace(
            plan,
            event_ids=tuple(dict.fromkeys((*plan.event_ids, *self.known.events_of(tasks)))),
            memory_ids=tuple(dict.fromkeys((*plan.memory_ids, *sorted(tasks)))),
        )

    def forget(self, plan: DeletionPlan) -> None:
        """Drop the plan's rows from tasks and edges.

        Renew the memories of tasks that stay.
        """
        before = self.known.all()
        touched = self.known.drop(plan.event_ids)
        self.graph.forget(plan.memory_ids)
        self._renew(before, touched, plan.memory_ids)

    # -- questions, and remarks of others

    def questions(self, project_id: str = "") -> list[TaskQuestion]:
        """Return the open questions, oldest first.

        One is open until a person answers it, or a candidate was spoken of later.
        """
        out = []
        rows = self.known.asked(project_id)
        undone = {row.content.takes_back for row in rows}
        answered = {row.content.answers for row in rows if row.event.id not in undone}
        for event, content in rows:
            for asked in content.questions if event.id not in answered else ():
                tasks = sorted(self.known.by_id(asked.candidates), key=lambda task: asked.candidates.index(task.id))
                tasks = [task for task in tasks if task.is_open]
                if tasks and all(task.touched_ms <= event.at_ms for task in tasks):
                    quote = asked.quote or asked.title
                    out.append(TaskQuestion(event.id, event.project_id, asked.wish, quote, tuple(tasks), event.at_ms))
        return out

    def answer(self, question_id: str, task_id: str) -> tuple[str, list[Task]]:
        """Answer a question: by a task, or "" for none of them.

        Return the answer's event, for take_back(), and the tasks touched. ("", []) for a question that is not open.
        """
        asked = next((row for row in self.questions() if row.id == question_id), None)
        if asked is None:
            return "", []
        rows = (Observation(asked.wish, task_id=task_id, quote=asked.quote),) if task_id else ()
        rounds = sum(question_id in row.event.text for row in self.known.asked(asked.project_id))
        origin = "%s %s %d" % (question_id, task_id, rounds)
        content = TaskEvent(By.PERSON, rows, answers=question_id)
        event = task_event(content, asked.project_id, self.now_ms(), origin=origin)
        return event.id, self.take([event])

    def take_back(self, answer_id: str) -> list[Task]:
        """Undo an answer: its steps count no more, its question is open.

        Raises UserError where it was forgotten.
        """
        for answer, content in self.known.told([answer_id]):
            touched = dict.fromkeys(step.task_id for step in content.steps)
            steps = tuple(Step(task_id, Op.TAKEN_BACK, answer.id, by=By.PERSON) for task_id in touched)
            content = TaskEvent(By.PERSON, steps=steps, takes_back=answer.id)
            return self.take([task_event(content, answer.project_id, self.now_ms(), origin="takes back " + answer.id)])
        raise UserError("The last answer was forgotten since. Nothing is changed")

    def open_tasks(self, project_id: str) -> list[Task]:
        """Return a project's open tasks, newest first."""
        return [task for task in self.known.all(project_id) if task.is_open]

    # -- named things

    def about(self, name: str, project_ids: Sequence[str] | None) -> list[str]:
        """Return the ids of the memories about a named thing."""
        return self.graph.about(self.things_named(name), project_ids)

    def things_named(self, name: str) -> list[str]:
        """Return the ids of tasks and things by id or name."""
        return [*(task.id for task in self.known.named(name)), *self.graph.named(name)]
