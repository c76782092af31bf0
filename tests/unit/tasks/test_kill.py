"""A kill between any two writes: what is said again, or caught up, gives the same tasks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlayer.tasks.events import CREATED, Observation, TaskEvent, captured
from memlayer.tasks.states import By, Status
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

WRITES = (
    "store.add_events",
    "store.put_memories",
    "store.put_chunks",
    "store.drop_chunks",
    "graph.put",
)
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
    memory.indexer.on_index = memory.tasks.index
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
