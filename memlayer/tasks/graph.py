"""Entities and edges, a projection of task events and memories.

It can be lost: TaskBook.rebuild makes it anew, row for row the same. A row depends on the events and memories
that are there, not on the order in which they came.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from memlayer.adapters.sqlite_files import DispensableFile, in_batches, marks
from memlayer.model import Event, Memory
from memlayer.tasks import projection
from memlayer.tasks.blockers import with_waiting
from memlayer.tasks.keys import task_key
from memlayer.tasks.projection import Link, Neighbour, Thing
from memlayer.tasks.states import Placed, Status, Task

VERSION = "2"


class Graph(DispensableFile):
    """The tables.

    Thread-safe. Nothing raises: without the file there is nothing to tell.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, resources.files(__package__).joinpath("graph.sql").read_text(encoding="utf-8"))

    # -- the whole

    @property
    def is_whole(self) -> bool:
        """True once a rebuild of this version ended."""
        return self._value("version") == VERSION

    def begin(self) -> None:
        """Empty all tables but the remarks on history."""
        tables = ("meta", "entities", "entity_aliases", "edges", "steps", "events")
        self.run(lambda base: base.executescript(";".join("DELETE FROM " + table for table in tables)), None)

    def ended(self) -> None:
        """Note that a rebuild is over."""
        self.run(lambda base: base.execute("INSERT OR REPLACE INTO meta VALUES ('version', ?)", (VERSION,)), None)

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        """Return all rows of the projection, to compare two of them."""
        tables = ("entities", "entity_aliases", "edges", "steps", "events")
        return self.run(
            lambda base: {table: sorted(base.execute("SELECT * FROM " + table), key=repr) for table in tables}, {}
        )

    def known_events(self) -> set[str]:
        """Return the ids of the events that are projected."""
        return self.run(lambda base: {row[0] for row in base.execute("SELECT event_id FROM events")}, set())

    # -- tasks

    def project(self, rows: Sequence[Event]) -> list[Task]:
        """Take task events in.

        Return the tasks that they touch, as they are now. Twice is once.
        """
        return self.run(lambda base: projection.project(base, rows), [])

    def tasks(self, project_id: str = "", status: str = "") -> list[Task]:
        """Return the tasks of a project, or of all, newest first."""
        where = "entity_type = 'task'" + (" AND project_id = ?" if project_id else "")
        where += " AND status = ?" if status else ""
        given = [value for value in (project_id, status) if value]
        return self.run(lambda base: projection.tasks(base, where, given), [])

    def tasks_by_id(self, ids: Sequence[str]) -> list[Task]:
        """Return the tasks with these ids."""
        return self.run(
            lambda base: [
                task
                for some in in_batches(ids)
                for task in projection.tasks(base, "entity_id IN (%s)" % marks(len(some)), some)
            ],
            [],
        )

    def freed_by(self, ids: Sequence[str]) -> list[Task]:
        """Return the tasks that waited for these alone, now closed."""
        closed = [task.id for task in self.tasks_by_id(ids) if not task.is_open]
        waiting: list[str] = self.run(lambda base: with_waiting(base, closed), [])
        return [task for task in self.tasks_by_id(waiting[len(closed) :]) if task.status is Status.PENDING]

    def task_with_key(self, project_id: str, title: str) -> Task | None:
        """Return the task that has, or had, a title."""
        key = task_key(project_id, title)
        ids = self._ids("SELECT entity_id FROM entity_aliases WHERE entity_type = 'task' AND canonical_key = ?", (key,))
        return next(iter(self.tasks_by_id(ids)), None)

    def history(self, task_id: str) -> list[Placed]:
        """Return a task's steps, oldest first."""
        return self.run(lambda base: projection.history(base, task_id), [])

    def asked(self, project_id: str = "") -> list[Event]:
        """Return events with questions or answers, oldest first."""
        where = " OR ".join("body LIKE '%%\"%s\"%%'" % name for name in ("questions", "answers", "takes_back"))
        where = "(" + where + ")" + (" AND project_id = ?" if project_id else "")
        return self.run(
            lambda base: [
                projection.event(row)
                for row in base.execute(
                    "SELECT * FROM events WHERE %s ORDER BY at_ms, event_id" % where, [project_id] if project_id else []
                )
            ],
            [],
        )

    def events_of(self, task_ids: Sequence[str]) -> list[str]:
        """Return the ids of all events with steps of these tasks alone."""
        event_ids = {
            event_id
            for some in in_batches(task_ids)
            for event_id in self._ids("SELECT event_id FROM steps WHERE task_id IN (%s)" % marks(len(some)), some)
        }
        of_others = "SELECT DISTINCT task_id FROM steps WHERE event_id = ?"
        return sorted(event_id for event_id in event_ids if set(self._ids(of_others, (event_id,))) <= set(task_ids))

    def set_maybe_done(self, task_id: str, why: str) -> None:
        """Keep a remark on the history of a task's files.

        "" takes it back.
        """

        def put(base: sqlite3.Connection) -> None:
            base.execute("DELETE FROM maybe_done WHERE task_id = ?", (task_id,))
            if why:
                base.execute("INSERT INTO maybe_done VALUES (?, ?)", (task_id, why))

        self.run(put, None)

    def published(self) -> dict[str, tuple[str, bool]]:
        """Return task id -> (text, open) of the memories last written."""
        query = "SELECT task_id, text, is_open FROM published"
        return self.run(lambda base: {row[0]: (row[1], bool(row[2])) for row in base.execute(query)}, {})

    def set_published(self, rows: Sequence[tuple[str, str, bool]]) -> None:
        """Record memories that were written."""
        self.run(lambda base: base.executemany("INSERT OR REPLACE INTO published VALUES (?, ?, ?)", rows), None)

    # -- memories

    def index(self, memories: Sequence[Memory], repeats: Mapping[str, Sequence[str]]) -> None:
        """Replace the entities and edges of these memories.

        repeats: id of a statement -> the turns of later sessions that said it again.
        """
        self.run(lambda base: projection.index(base, memories, repeats), None)

    def forget(self, event_ids: Sequence[str], memory_ids: Sequence[str]) -> list[str]:
        """Drop events and memories with their edges.

        Return the ids of the tasks touched.
        """
        return self.run(lambda base: projection.forget(base, event_ids, memory_ids), [])

    def about(self, name: str, project_ids: Sequence[str] | None) -> list[str]:
        """Return the ids of the memories about a named thing."""
        return self.run(lambda base: projection.about(base, name, project_ids), [])

    def said_again(self, memory_id: str) -> list[str]:
        """Return the ids of the turns that said a statement again."""
        return self.run(lambda base: projection.said_again(base, memory_id), [])

    def neighbours(self, memory_id: str) -> list[Neighbour]:
        """Return the entities beside a memory, the rarer first."""
        return self.run(lambda base: projection.neighbours(base, memory_id), [])

    # -- a map

    def links(self, ids: Sequence[str], project_id: str, limit: int) -> list[Link]:
        """Return the edges of things or memories, those between few things first."""
        return self.run(lambda base: projection.links(base, ids, project_id, limit), [])

    def things(self, ids: Sequence[str]) -> list[Thing]:
        """Return entities by id."""
        return self.run(lambda base: projection.things(base, ids), [])

    def hubs(self, project_id: str, limit: int) -> list[Thing]:
        """Return the things that most edges of a project name."""
        return self.run(lambda base: projection.hubs(base, project_id, limit), [])

    def things_named(self, name: str, limit: int) -> list[str]:
        """Return the ids of things by id or name."""
        return self.run(lambda base: projection.things_named(base, name, limit), [])

    def _ids(self, query: str, given: Sequence[str]) -> list[str]:
        return self.run(lambda base: [row[0] for row in base.execute(query, given)], [])

    def _value(self, name: str) -> str:
        return next(iter(self._ids("SELECT value FROM meta WHERE name = ?", (name,))), "")
