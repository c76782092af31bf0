"""Opening of the store: tried again after a failure, and logged once when it is slow."""

import logging
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.config.embedding import EmbeddingSettings
from memlayer.daemon import opening
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.kinds import Author, Category, Kind
from memlayer.model import replace
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions
from tests.support.store_rows import make_memory


@pytest.fixture
def state(tmp_path: Path) -> State:
    """Return a daemon's state, without a model, in a home whose store folder is a file."""
    home = str(tmp_path)
    (tmp_path / "store").write_text("in the way")
    settings = Settings(embedding=EmbeddingSettings(provider="none"))
    return State(
        home=home, held=HeldSettings(home, settings), projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home),
    )  # fmt: skip


def done(state: State) -> None:
    """Wait for every job so far."""
    state.jobs.submit("last", lambda: None).result(60)


def test_failed_opening_is_tried_again(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    state.jobs.start()
    opening.begin(state)
    assert "store folder" in str(state.services.exception(60))
    first = state.services
    opening.look(state)
    done(state)
    assert state.services is first  # not so soon
    monkeypatch.setattr(opening, "AGAIN_S", 0.0)
    opening.look(state)
    done(state)
    assert state.services is not first and state.status().store == "failed"
    assert state.jobs.failing == {"open": "open again: StoreError"}
    (Path(state.home) / "store").unlink()
    opening.look(state)
    done(state)
    assert state.status().store == "open"
    opened = state.services
    opening.look(state)
    done(state)
    assert state.services is opened
    opened.result().close()
    assert state.jobs.close(10)


def test_running_opening_is_left_alone(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "AGAIN_S", 0.0)
    opening.begin(state)  # the writer has not begun
    opening.look(state)
    assert state.jobs.pending == 1


def test_slow_opening_logs_threads_once(state: State, caplog: pytest.LogCaptureFixture) -> None:
    go_on, stands = threading.Event(), threading.Event()

    def open_slowly(secret: str) -> None:
        stands.set()
        go_on.wait(20)

    state.services = state.jobs.submit("open", lambda: open_slowly("비밀 배포 키"))
    state.jobs.start()
    assert stands.wait(10)
    with caplog.at_level(logging.ERROR):
        opening.look_at_slow(state)
        assert caplog.messages == []
        state.life.started_ms -= int(opening.SLOW_S * 1000) + 1
        opening.look_at_slow(state)
        opening.look_at_slow(state)
    go_on.set()
    assert state.jobs.close(10)
    logged = [line for line in caplog.messages if "thread writer" in line]
    assert len(logged) == 1 and "open_slowly" in logged[0] and "\n" not in logged[0]
    assert "비밀" not in caplog.text


def test_finished_opening_logs_nothing(state: State, caplog: pytest.LogCaptureFixture) -> None:
    state.life.started_ms = 0
    for outcome in (None, OSError("x")):
        state.services = Future()
        if outcome is None:
            state.services.set_result(None)  # type: ignore[arg-type]
        else:
            state.services.set_exception(outcome)
        opening.look_at_slow(state)
    assert caplog.messages == []


def test_session_start_loads_the_notes_without_a_model(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    (Path(state.home) / "store").unlink()
    state.jobs.start()
    opening.begin(state)
    services = state.services.result(60)
    done(state)
    note = replace(
        make_memory(1, "결제는 포트원으로 한다."), category=Category.CORE, kind=Kind.DECISION, by=Author.READER
    )
    state.jobs.submit("put", lambda: services.store.put_memories([note])).result(60)
    opening.warm(state, "p1")
    monkeypatch.setattr(services.store, "memories", lambda query: pytest.fail("the first prompt reads them"))
    assert [row.memory.text for row in services.recall.notes.of("p1")] == [note.text]
    services.close()
    assert state.jobs.close(10)
