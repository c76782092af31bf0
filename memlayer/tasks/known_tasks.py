"""The tasks that stored events make, in memory."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from typing import NamedTuple

from memlayer.kinds import Kind
from memlayer.model import Event, replace
from memlayer.ports import Store
from memlayer.tasks.events import TaskEvent, content_of
from memlayer.tasks.graph import Edge, Graph, edges_of_task
from memlayer.tasks.keys import EntityType
from memlayer.tasks.matcher import called
from memlayer.tasks.states import Blocker, Op, Status, Step, Task, fold

EVERYTHING = 10_000_000


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
            remarks = self._graph.maybe_done() if rows else {}
            out = [replace(self._in_force(task), maybe_done=remarks.get(task.id, "")) for task in rows]
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
