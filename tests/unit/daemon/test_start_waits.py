"""What a session's start waits for: only what may change its answer, and not for a store that still opens."""

import os
import threading
import time
from pathlib import Path

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.config.embedding import EmbeddingSettings
from memlayer.daemon import hooks
from memlayer.daemon.hook_call import Answer, HookCall, begin_call
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.daemon.tasks import batches
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload, spool_event
from memlayer.edge.home import project
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Session, Sessions

LONG_S = 3600.0


@pytest.fixture
def state(tmp_path: Path) -> State:
    """A daemon's state whose jobs all wait: the writer does not run."""
    home = str(tmp_path / "집")
    settings = Settings(embedding=EmbeddingSettings(provider="none"))
    return State(
        home=home, held=HeldSettings(home, settings), projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home),
    )  # fmt: skip


def heard(state: State, folder: Path, session: str, transcript: Path, source: str = "startup") -> HookCall:
    body = b'{"session_id": "%s", "source": "%s", "transcript_path": "%s", "cwd": "%s"}' % tuple(
        text.encode() for text in (session, source, str(transcript), str(folder))
    )
    payload = read_payload("session_start", body, project_dir=str(folder), at_ms=int(time.time() * 1000))
    assert payload.event is not None
    place = project.locate(str(folder))
    return begin_call(state, payload, payload.event, place, str(folder), time.monotonic() + LONG_S)


def answered(state: State, call: HookCall) -> bool:
    """True if the start is answered although no job ends."""
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(hooks.answer_start(state, call)), daemon=True)
    thread.start()
    thread.join(5)
    return bool(answers)


@pytest.fixture
def other(state: State, tmp_path: Path) -> Session:
    """An open session of the project with a transcript that has not been read."""
    transcript = tmp_path / "다른.jsonl"
    transcript.write_text("{}\n")
    return heard(state, tmp_path, "other", transcript).session


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "CATCH_UP_WAIT_S", LONG_S)


def test_opening_store_is_not_waited_for(state: State, other: Session, tmp_path: Path) -> None:
    assert answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl"))
    assert state.jobs.pending == 1  # what the other session said is read behind the answer


def test_unread_transcript_is_waited_for(
    state: State, other: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "is_open", property(lambda state: True))
    assert not answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl"))


def test_read_transcript_is_neither_read_nor_waited_for(
    state: State, other: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "is_open", property(lambda state: True))
    monkeypatch.setattr(hooks, "_ready_notice", lambda state: "")
    monkeypatch.setattr(hooks, "_offer", lambda state, call: "")
    other.read_bytes = os.path.getsize(other.transcript_path)
    assert answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl"))
    assert state.jobs.pending == 0


@pytest.mark.parametrize(("kind", "is_waited_for"), [("user", False), ("tool", False), ("assistant", True)])
def test_only_an_answer_of_another_session_is_waited_for(
    state: State, other: Session, tmp_path: Path, kind: str, is_waited_for: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "is_open", property(lambda state: True))
    monkeypatch.setattr(hooks, "_ready_notice", lambda state: "")
    monkeypatch.setattr(hooks, "_offer", lambda state, call: "")
    other.read_bytes = os.path.getsize(other.transcript_path)
    said = spool_event(
        kind=kind, session_id=other.id, prompt_id="p1", text="포트는 7481번", at_ms=1, project_dir=str(tmp_path)
    )
    spool.put(state.home, said)
    batches.heard(state, other, kind)
    assert answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl")) is not is_waited_for
    assert state.jobs.pending == 1


def test_events_of_no_known_session_are_waited_for(
    state: State, other: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "is_open", property(lambda state: True))
    other.read_bytes = os.path.getsize(other.transcript_path)
    said = spool_event(
        kind="user", session_id=other.id, prompt_id="p1", text="포트는?", at_ms=1, project_dir=str(tmp_path)
    )
    spool.put(state.home, said)  # by a hook whose daemon was late
    assert not answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl"))


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_complete_context_is_not_waited_for(
    state: State, other: Session, tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(State, "is_open", property(lambda state: True))
    monkeypatch.setattr(hooks, "_ready_notice", lambda state: "")
    assert answered(state, heard(state, tmp_path, "s1", tmp_path / "none.jsonl", source))
