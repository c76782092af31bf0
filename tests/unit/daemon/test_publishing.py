"""A batch ends in one change, which every listener is told once."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memlayer import compose
from memlayer.config import Settings
from memlayer.config.embedding import EmbeddingSettings
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.daemon.tasks import derived
from memlayer.errors import StoreError
from memlayer.keep.keep import Change
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions
from tests.support.consolidating_in_memory import Consolidating
from tests.support.waiting import wait_for

OK = "네, 그렇게 하겠습니다."


@pytest.fixture
def memory(tmp_path: Path) -> Consolidating:
    return Consolidating(tmp_path)


@pytest.fixture
def told() -> list[Change]:
    return []


@pytest.fixture
def state(memory: Consolidating, tmp_path: Path, told: list[Change]) -> State:
    """A daemon's state over a store in memory, with two listeners, and a writer at work."""
    home, settings = str(tmp_path), Settings(embedding=EmbeddingSettings(provider="none"))
    listen = lambda _, change: told.append(change)  # noqa: E731
    state = State(
        home=home, held=HeldSettings(home, settings), projects=compose.open_projects(home), sessions=Sessions(home),
        metrics=Metrics(home), listeners=(listen, listen),
    )  # fmt: skip
    services: Future[Any] = Future()
    services.set_result(SimpleNamespace(keep=memory.keep))
    state.services = services
    state.jobs.start()
    return state


def test_each_listener_is_told_once_of_all_that_changed(
    memory: Consolidating, state: State, told: list[Change]
) -> None:
    memory.say("s1", "p1", "주문 이벤트는 ClickHouse에 두기로 했어.", OK)
    memory.say("s2", "p1", "Always run the linter before a commit.", "OK.", at=9)
    derived.publish(state)
    derived.publish(state)
    first, second = told
    [project] = first.project_ids
    assert first == second and first.lasting == {project}
    assert {turn.session_id for turn in first.turns} == {"s1", "s2"}
    assert [rule.text for rule in first.rules] == ["Always run the linter before a commit."]


def test_a_turn_that_rules_have_not_read_is_nothing_lasting(
    memory: Consolidating, state: State, told: list[Change]
) -> None:
    memory.turn("s1", "p1", "배포 스크립트를 고쳐줘", OK)
    derived.publish(state)
    assert told[0].project_ids and not told[0].lasting and not told[0].turns


def test_a_change_that_a_listener_fails_on_is_told_again(
    memory: Consolidating, state: State, told: list[Change]
) -> None:
    def fail(state: State, change: Change) -> None:
        raise StoreError("the disk is full")

    memory.say("s1", "p1", "주문 이벤트는 ClickHouse에 두기로 했어.", OK)
    listeners, state.listeners = state.listeners, (fail,)
    with pytest.raises(StoreError):
        derived.publish(state)
    state.listeners = listeners
    memory.say("s2", "p1", "로그는 30일 보관하기로 했어.", OK, at=9)
    derived.publish(state)
    assert {turn.session_id for turn in told[0].turns} == {"s1", "s2"}


def test_whoever_makes_a_change_reads_it_published(memory: Consolidating, state: State, told: list[Change]) -> None:
    kept = derived.written(state, "remember", lambda: memory.remember("스테이징 포트는 8443이다."))
    assert kept.text == "스테이징 포트는 8443이다." and told[0].lasting == {kept.project_id}
    state.jobs.submit("all", lambda: derived.publish_of(state, ["p1", "p2"])).result(10)
    assert told[-1] == Change(frozenset({"p1", "p2"}))
    derived.publish_soon(state)
    assert state.jobs.close(10) and len(told) == 4


def test_two_changes_at_once_are_both_made(memory: Consolidating, state: State) -> None:
    goes_on, texts = threading.Event(), ("스테이징 포트는 8443이다.", "Logs are kept for 30 days.")
    state.jobs.submit("busy", goes_on.wait)
    with ThreadPoolExecutor(2) as threads:
        made = [threads.submit(derived.written, state, "note", partial(memory.remember, text)) for text in texts]
        wait_for(lambda: state.jobs.pending == 3)
        goes_on.set()
        assert [one.result(10).text for one in made] == list(texts)
