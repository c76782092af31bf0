"""A home of the version before: its tasks, edges and questions are the same in this one.

But for conditions that became tasks, which are now waited for themselves, and suggested blockers, which stand in the
history alone.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memlayer.kinds import Author, Category, Ended
from memlayer.model import Event, Memory
from memlayer.ports import MemoryQuery
from memlayer.records import schema5
from memlayer.tasks.events import Observation
from memlayer.tasks.states import Op, Status, Step, Task
from tests.support.turns_in_memory import PROJECT
from tests.unit.tasks.test_book import Booking

HOME = json.loads((Path(__file__).parents[2] / "data" / "tasks" / "home_of_version_2.json").read_text("utf-8"))
TOLD: dict[str, Any] = HOME["told"]


def memory(row: dict[str, Any]) -> Memory:
    now = schema5.upgraded(row)
    tuples = {name: tuple(row[name]) for name in ("source_ids", "files")}
    ends = {"by": Author(now["by"]), "ended_because": Ended(now["ended_because"])}
    return Memory(**{**now, **tuples, **ends, "category": Category(row["category"])})


@pytest.fixture
def book(tmp_path: Path) -> Booking:
    """The earlier home, opened."""
    with closing(sqlite3.connect(tmp_path / "graph.sqlite")) as base:
        base.executescript("\n".join(HOME["graph"]))
    book = Booking(tmp_path)
    book.projects.resolve(PROJECT)
    book.store.add_events([Event(**row) for row in HOME["events"]])
    book.store.put_memories([memory(row) for row in HOME["memories"]])
    return book


def task_fields(task: Task) -> dict[str, Any]:
    return {
        "id": task.id, "titles": list(task.titles), "status": task.status.value, "priority": task.priority,
        "waits_for": [one.raw for one in task.blockers],
        "by": list(task.by), "sources": list(task.sources), "files": list(task.files),
        "sessions": list(task.sessions), "created_ms": task.created_ms, "touched_ms": task.touched_ms,
        "maybe_done": task.maybe_done,
    }  # fmt: skip


def step_fields(step: Step) -> list[Any]:
    waits = [one.raw for one in step.blockers]
    place = [step.at_ms, step.session_id, step.event_id]
    return [step.op.value, step.to, step.from_, step.by, step.quote, step.reason, waits, *place]


def test_tasks_history_and_questions_stay(book: Booking) -> None:
    known = book.tasks.known
    told = {id_: {**row} for id_, row in TOLD["tasks"].items()}
    rejected = {id_: row.pop("rejected") for id_, row in told.items()}
    assert {task.id: task_fields(task) for task in known.all()} == told
    assert {
        id_: [[row.from_, row.to, row.reason, row.at_ms] for row in known.steps(id_) if row.op is Op.REJECTED]
        for id_ in told
    } == rejected
    assert {id_: [step_fields(step) for step in known.steps(id_)] for id_ in TOLD["history"]} == TOLD["history"]
    asked = [[row.id, row.wish, row.quote, [task.id for task in row.candidates]] for row in book.tasks.questions()]
    assert asked == TOLD["questions"]


def test_edges_are_made_anew_and_the_tables_of_before_go(book: Booking, tmp_path: Path) -> None:
    book.tasks.rebuild()
    tasks = book.tasks
    assert {name: sorted(tasks.about(name, None)) for name in TOLD["about"]} == TOLD["about"]
    beside = {
        id_: sorted([row.rel, row.type, row.title, row.others] for row in tasks.graph.neighbours(id_))
        for id_ in TOLD["beside"]
    }
    assert beside == TOLD["beside"]
    hubs = [[row.id, row.type, row.title, row.others] for row in tasks.graph.hubs("", 100)]
    assert sorted(hubs) == sorted([*row[:3], row[4]] for row in TOLD["hubs"])
    ids = [*TOLD["tasks"], *(row.id for row in book.store.memories(MemoryQuery(limit=1000)))]
    links = tasks.graph.links(ids, "", 1000)
    assert sorted([row.src_id, row.src_type, row.rel, row.dst_id, row.dst_type] for row in links) == TOLD["links"]
    assert len(book.graph.rows()) >= len(TOLD["links"])
    with closing(sqlite3.connect(tmp_path / "graph.sqlite")) as base:
        names = {row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert names == {"meta", "links", "maybe_done"}


def test_title_that_a_person_had_changed_in_a_file_is_taken_up(book: Booking) -> None:
    book.tasks.catch_up()
    book.person(10**6, Observation(Status.IN_PROGRESS, "Write the guide"))
    task = book.one("Write the migration guide")
    assert (task.status, task.titles[0]) == (Status.IN_PROGRESS, "Write the guide")
