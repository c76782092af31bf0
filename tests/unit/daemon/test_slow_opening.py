"""A store that does not open: the log says once where every thread stands."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import damage_watch
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A daemon's state whose store is not open yet."""
    home = str(tmp_path)
    return State(
        home=home, settings=Settings(), projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home),
    )  # fmt: skip


def test_where_it_stands_is_told_once(state: State, caplog: pytest.LogCaptureFixture) -> None:
    go_on, stands = threading.Event(), threading.Event()

    def open_slowly(secret: str) -> None:
        stands.set()
        go_on.wait(20)

    state.services = state.jobs.submit("open", lambda: open_slowly("비밀 배포 키"))
    state.jobs.start()
    assert stands.wait(10)
    with caplog.at_level(logging.ERROR):
        damage_watch.look_at_opening(state)
        assert caplog.messages == []
        state.started_ms -= int(damage_watch.SLOW_OPENING_S * 1000) + 1
        damage_watch.look_at_opening(state)
        damage_watch.look_at_opening(state)
    go_on.set()
    assert state.jobs.close(10)
    told = [line for line in caplog.messages if "thread writer" in line]
    assert len(told) == 1 and "open_slowly" in told[0] and "\n" not in told[0]
    assert "비밀" not in caplog.text


def test_a_store_that_is_open_or_failed_is_no_news(state: State, caplog: pytest.LogCaptureFixture) -> None:
    state.started_ms = 0
    for outcome in (None, OSError("x")):
        state.services = Future()
        if outcome is None:
            state.services.set_result(None)  # type: ignore[arg-type]
        else:
            state.services.set_exception(outcome)
        damage_watch.look_at_opening(state)
    assert caplog.messages == []
