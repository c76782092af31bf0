"""A kill between any two writes: what is said again, or caught up, gives the same tasks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlayer.tasks.events import CREATED, Observation, TaskEvent, captured, task_event
from memlayer.tasks.states import By, Op, Status, Step
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

WRITES = ("store.add_events", "store.put_memories", "store.put_chunks", "store.drop_chunks", "graph.put")
TOLD = (
    Observation(CREATED, "배포", status=Status.BLOCKED, blockers=("Security review", "PROJ-12")),
    Observation(CREATED, "Security review"),
    Observation(Status.DONE, "Security review"),
    Observation(Status.IN_PROGRESS, "배포"),
)
EVENTS = [
    captured(TaskEvent(By.PERSON, (row,)), project_dir=PROJECT, at_ms=T0_MS + at) for at, row in enumerate(TOLD)
]  # fmt: skip


class Killed(BaseException):
    """The process is gone."""


def count_writes(memory: TurnsInMemory, ends_before: int) -> list[int]:
    """Count writes; the process dies before this one."""
    written = [0]

    def dying(write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if written[0] == ends_before:
                raise Killed
            written[0] += 1
            return write(*given, **named)

        return call

    for name in WRITES:
        owner: Any = getattr(memory, name.split(".")[0])
        setattr(owner, name.split(".")[1], dying(getattr(owner, name.split(".")[1])))
    return written


def whole(memory: TurnsInMemory) -> tuple[Any, Any]:
    return memory.graph.rows(), sorted(memory.store.memories(), key=lambda row: row.id)


def played(home: Path) -> tuple[Any, int]:
    """Return everything that is kept, and the number of writes."""
    home.mkdir()
    memory = TurnsInMemory(home)
    written = count_writes(memory, -1)
    memory.ingest.take(EVENTS)
    return whole(memory), written[0]


@pytest.mark.parametrize("says_again", [True, False], ids=["spool", "store alone"])
def test_a_kill_before_any_write_loses_and_doubles_nothing(tmp_path: Path, says_again: bool) -> None:
    expected, writes = played(tmp_path / "whole")
    assert writes > 20
    for end in range(writes):
        home = tmp_path / str(end)
        home.mkdir()
        memory = TurnsInMemory(home)
        count_writes(memory, end)
        with pytest.raises(Killed):
            memory.ingest.take(EVENTS)
        after = TurnsInMemory(home)
        after.store._events, after.store._memories = dict(memory.store._events), dict(memory.store._memories)
        after.tasks.catch_up()
        if says_again:
            after.ingest.take(EVENTS)
        if says_again:
            assert whole(after) == expected, end
        else:
            rows = after.graph.rows()
            after.tasks.rebuild()
            assert after.graph.rows() == rows, end


@pytest.mark.parametrize("is_new_start", [True, False])
def test_earlier_events_of_another_machine_are_no_persons_change(tmp_path: Path, is_new_start: bool) -> None:
    memory = TurnsInMemory(tmp_path)
    memory.ingest.take(EVENTS[:1])
    [task] = memory.tasks.known.all()
    renamed = Step(task.id, Op.TITLED, "배포 준비", by=By.READER)
    memory.ingest.take(EVENTS[3:])  # later than that
    content = TaskEvent(By.READER, steps=(renamed,))
    memory.store.add_events(
        [task_event(content, task.project_id, task.created_ms + 1, origin="e", session_id="s9", prompt_id="p1")]
    )
    after = memory
    if is_new_start:
        after = TurnsInMemory(tmp_path)
        after.store._events, after.store._memories = memory.store._events, memory.store._memories
    after.tasks.catch_up()
    [task] = after.tasks.known.all()
    assert (task.title, task.status) == ("배포 준비", Status.IN_PROGRESS)
    assert after.store.memories()[0].text.startswith("배포 준비")
    assert [step.by for step in after.tasks.known.steps(task.id) if step.op is Op.TITLED] == [By.READER]
