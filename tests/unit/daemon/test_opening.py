"""A store that did not open is tried again, not too often, and everybody is told of the newest outcome."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.config.groups import EmbeddingSettings
from memlayer.daemon import opening
from memlayer.daemon.resources.state import State
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A daemon's state, without a model, in a home whose store folder is a file."""
    home = str(tmp_path)
    (tmp_path / "store").write_text("in the way")
    settings = Settings(embedding=EmbeddingSettings(provider="none"))
    return State(
        home=home, settings=settings, projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home),
    )  # fmt: skip


def done(state: State) -> None:
    """Every job so far is done."""
    state.jobs.submit("last", lambda: None).result(60)


def test_it_is_tried_again_until_it_opens(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert state.services is not first and state.status()["store"] == "failed"
    assert state.jobs.failing == {"open": "open again: StoreError"}
    (Path(state.home) / "store").unlink()
    opening.look(state)
    done(state)
    assert state.status()["store"] == "open"
    opened = state.services
    opening.look(state)
    done(state)
    assert state.services is opened
    opened.result().close()
    assert state.jobs.close(10)


def test_while_it_opens_it_is_left_alone(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "AGAIN_S", 0.0)
    opening.begin(state)  # the writer has not begun
    opening.look(state)
    assert state.jobs.pending == 1
