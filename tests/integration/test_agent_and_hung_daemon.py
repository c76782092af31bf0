"""A daemon that hangs costs a talk one wait, and is asked again when it answers a probe."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.agent.memory import ASK_S, TalkMemory
from memlayer.agent.tools import MemorySearch
from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError
from tests.support.processes import Daemon

ROOT = Path(__file__).resolve().parents[2]
FACT = "주문 이벤트는 ClickHouse로 옮기기로 했어. 포트는 9440이야"
AT_ONCE_S = 1.0
SLACK_S = 2.5


@pytest.fixture
def talk(daemon: Daemon, home: Path, project: Path) -> Iterator[TalkMemory]:
    made = TalkMemory(str(home), str(project), lambda: Client(str(home), str(ROOT), sys.executable), starts=False)
    made.start()
    made.recall(FACT)
    made.end("네, ClickHouse로 옮기겠습니다.")
    daemon.settle()
    yield made
    made._line.close()


def took_s(job: Callable[[], object]) -> float:
    began = time.monotonic()
    job()
    return time.monotonic() - began


def stop(daemon: Daemon) -> None:
    assert daemon.process is not None
    os.kill(daemon.process.pid, signal.SIGSTOP)


def go_on(daemon: Daemon) -> None:
    assert daemon.process is not None
    os.kill(daemon.process.pid, signal.SIGCONT)


@pytest.mark.fault
def test_hung_daemon_is_waited_for_once(daemon: Daemon, home: Path, talk: TalkMemory) -> None:
    """Takes long: it waits for the deadlines of a stopped daemon."""
    stop(daemon)
    try:
        assert took_s(lambda: talk.recall("ClickHouse 포트가 몇 번이었지?")) < ASK_S + SLACK_S
        assert "did not answer" in talk.problem
        waits = [took_s(lambda: talk.end("모릅니다.")), took_s(talk.survivors)]
        waits += [took_s(lambda: talk.recall("그럼 이벤트 이름은?")), took_s(lambda: talk.end("모릅니다."))]
        assert max(waits) < AT_ONCE_S and "did not answer" in talk.problem
        with pytest.raises(DaemonError, match="did not answer"):
            MemorySearch(talk).run({"query": "ClickHouse"})
    finally:
        go_on(daemon)

    def answers() -> bool:
        talk.recall("주문 이벤트의 ClickHouse 포트가 몇 번이었지?")
        return talk.problem == ""

    daemon.wait_for(answers, "an answer again")
    assert "9440" in MemorySearch(talk).run({"query": "ClickHouse 포트"})
    daemon.settle()
    kept = daemon.call("list", session_id=talk.session_id, category="conversation")["memories"]
    assert any("모릅니다" in json.dumps(memory, ensure_ascii=False) for memory in kept)  # nothing was lost


@pytest.mark.fault
def test_compaction_of_a_hung_daemon_waits_no_minute(daemon: Daemon, talk: TalkMemory) -> None:
    stop(daemon)
    try:
        assert took_s(talk.survivors) < ASK_S + SLACK_S
        assert took_s(lambda: talk.compacted("요약")) < AT_ONCE_S
        assert took_s(talk.finish) < AT_ONCE_S
    finally:
        go_on(daemon)


@pytest.mark.fault
def test_talk_that_is_resumed_says_that_the_daemon_hangs(daemon: Daemon, talk: TalkMemory) -> None:
    stop(daemon)
    try:
        with pytest.raises(DaemonError, match="did not answer"):
            assert took_s(lambda: talk.resume("")) < ASK_S + SLACK_S
    finally:
        go_on(daemon)


@pytest.mark.fault
def test_daemon_that_comes_later_is_found(home: Path, project: Path) -> None:
    talk = TalkMemory(str(home), str(project), lambda: Client(str(home), str(ROOT), sys.executable), starts=False)
    talk.start()
    talk.recall(FACT)
    assert "no daemon" in talk.problem
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        daemon.wait_for(lambda: bool(talk.recall("ClickHouse 포트가 몇 번이었지?") or not talk.problem), "an answer")
        talk.finish()
