"""When events are taken in: at a pause, when many wait, at an end, and first of all for whoever asks."""

import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.ipc.protocol import TAKEN, forward
from tests.support.processes import ROOT, Daemon
from tests.support.waiting import wait_for

SETTINGS = {"embedding": {"provider": "none"}, "recall": {"deadline_ms": 5000}}
DEADLINE_S = 20.0  # of a call here; the host's own are shorter, and then less is waited for
RULE = "main 에는 절대 직접 푸시하지 마"
PAST_S = 60.0
LOOKED_FOR_S = 1.5  # a prompt's rule is looked for behind its answer, the first time slowly
numbers = itertools.count()


class Place:
    """A project of its own in the shared home, and sessions there."""

    def __init__(self, daemon: Daemon, folder: Path) -> None:
        self.daemon, self.folder = daemon, folder
        self.home = str(daemon.home)
        self.session, self.other = ("s%d" % next(numbers) for _ in range(2))

    def hook(self, event: str, session: str, prompt_id: str = "", **fields: Any) -> dict[str, Any]:
        """Send a hook's input; return its answer."""
        body = {"session_id": session, "prompt_id": prompt_id, "transcript_path": "", "cwd": str(self.folder), **fields}
        outcome, raw = forward(
            os.fsencode(self.home), "hook." + event, json.dumps(body).encode(), os.fsencode(self.folder), DEADLINE_S,
            time.time_ns() // 1_000_000,
        )  # fmt: skip
        assert outcome == TAKEN
        return dict(json.loads(raw)) if raw else {}

    def context(self, event: str, session: str, prompt_id: str = "", **fields: Any) -> str:
        answer = self.hook(event, session, prompt_id, **fields)
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def turn(self, prompt: str, answer: str, session: str = "", prompt_id: str = "p1") -> None:
        """A turn of the first session; it waits."""
        session = session or self.session
        self.hook("user_prompt_submit", session, prompt_id, prompt=prompt)
        self.hook("stop", session, prompt_id, last_assistant_message=answer)

    def call(self, op: str, **fields: Any) -> dict[str, Any]:
        return self.daemon.call(op, **{"project_dir": str(self.folder), **fields})

    @property
    def waiting(self) -> int:
        return len(spool.waiting(self.home))

    def is_quiet(self) -> bool:
        status = self.daemon.call("status")
        return not status["job"] and not status["jobs_waiting"]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(ROOT, tmp_path_factory.mktemp("묶음") / "home", SETTINGS) as started:
        yield started


@pytest.fixture
def place(daemon: Daemon, tmp_path: Path) -> Place:
    folder = tmp_path / "가게 shop"
    folder.mkdir()
    made = Place(daemon, folder)
    made.hook("session_start", made.session, source="startup")
    daemon.settle()
    wait_for(made.is_quiet, "no job left")
    return made


# -- what waits


def test_turn_waits_in_the_spool(place: Place) -> None:
    place.turn("게이트웨이 포트가 뭐야?", "포트는 7481번입니다.")
    wait_for(place.is_quiet, "no job left")
    assert place.waiting == 2 and place.daemon.call("status")["spool_waiting"] == 2


def test_own_next_prompt_waits_for_nothing(place: Place) -> None:
    place.turn("게이트웨이 포트가 뭐야?", "포트는 7481번입니다.")
    place.turn("ok, and the timeout?", "It is 30 s.", prompt_id="p2")
    wait_for(place.is_quiet, "no job left")
    assert place.waiting == 4


# -- when a batch comes


def test_pause_takes_it_in(place: Place) -> None:
    place.turn("배포 요일 언제야?", "화요일입니다.")
    for path in spool.waiting(place.home):
        os.utime(path, (time.time() - PAST_S, time.time() - PAST_S))
    wait_for(lambda: not place.waiting, "the batch of a pause")


def test_many_are_taken_in(place: Place) -> None:
    def build(number: int) -> None:
        place.hook(
            "post_tool_use", place.session, "p1", tool_name="Bash", tool_input={"command": "make %d # 빌드" % number},
            tool_response={}, tool_use_id="t%d" % number,
        )  # fmt: skip

    for number in range(31):
        build(number)
    assert place.waiting == 31
    build(31)  # no prompt, which would ask for them
    wait_for(lambda: not place.waiting, "a full batch")


@pytest.mark.parametrize(
    ("event", "fields"), [("session_end", {"reason": "other"}), ("pre_compact", {"trigger": "auto"})]
)
def test_end_and_compaction_take_it_in(place: Place, event: str, fields: dict[str, str]) -> None:
    place.turn("배포 요일 언제야?", "화요일입니다.")
    place.hook(event, place.session, **fields)
    wait_for(lambda: not place.waiting, "the batch of a " + event)


def test_leaving_daemon_takes_it_in(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    with Daemon(ROOT, tmp_path / "home", SETTINGS) as first:
        first.settle()
        place = Place(first, tmp_path / "shop")
        place.turn("결정: 배포 포트는 7713번으로 한다.", "네, 배포 포트는 7713번입니다.")
        assert place.waiting == 2
    assert not place.waiting
    with Daemon(ROOT, tmp_path / "home", SETTINGS) as second:
        counts = second.call("stats")
        assert (counts["events"], counts["to_consolidate"]) == (2, 0)  # consolidated as well


def test_killed_daemon_leaves_it_to_the_next(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    first = Daemon(ROOT, tmp_path / "home", SETTINGS).start()
    first.settle()
    place = Place(first, tmp_path / "shop")
    place.turn("배포 요일 언제야?", "화요일입니다.")
    first.kill()
    assert place.waiting == 2
    with Daemon(ROOT, tmp_path / "home", SETTINGS) as second:
        assert len(second.call("list", category="conversation", limit=5)["memories"]) == 1


# -- whoever asks

READS: dict[str, Callable[[Place], str]] = {
    "list": lambda place: str(place.call("list", limit=9)),
    "search": lambda place: str(place.call("search", query="7481 포트", limit=9)),
    "recall": lambda place: str(place.call("recall", prompt="What did we decide: 게이트웨이 포트 7481?")),
    "mem.search": lambda place: str(place.call("mem.search", query="게이트웨이 포트 7481")),
    "view.events": lambda place: str(place.call("view.events", session_id=place.session)),
    "view.days": lambda place: str([row["session_id"] for row in place.call("view.days")["by_session"]]) + "7481",
    "sessions": lambda place: str(place.call("sessions")) + "7481",
    "blame": lambda place: "7481" if place.call("blame", path="src/gate.py") else "",
    "forget": lambda place: str(place.call("forget", session_id=place.session, dry_run=True)),
    "stats": lambda place: "7481" if place.daemon.call("stats")["daemon"]["spool_waiting"] == 0 else "",
    "review": lambda place: "7481" if place.call("review") else "",
}


@pytest.mark.parametrize("op", READS)
def test_question_sees_the_last_turn(place: Place, op: str) -> None:
    place.turn("게이트웨이 포트가 뭐야?", "포트는 7481번입니다. We decided on port 7481 for the gateway.")
    assert "7481" in READS[op](place)
    assert not place.waiting


def test_export_holds_the_last_turn(place: Place, tmp_path: Path) -> None:
    place.turn("게이트웨이 포트가 뭐야?", "포트는 7481번입니다.")
    place.daemon.call("export", path=str(tmp_path / "all.jsonl"))
    assert "7481번입니다" in (tmp_path / "all.jsonl").read_text("utf-8")


def test_status_asks_for_nothing(place: Place) -> None:
    place.turn("배포 요일 언제야?", "화요일입니다.")
    for _ in range(3):
        assert place.daemon.call("status")["spool_waiting"] == 2
    wait_for(place.is_quiet, "no job left")
    assert place.waiting == 2


# -- hooks that ask


def test_start_of_another_session_sees_it(place: Place) -> None:
    place.turn("결정: 게이트웨이 포트는 7481번으로 한다.", "네, 7481번으로 합니다.")
    assert "7481" in place.context("session_start", place.other, source="startup")


def test_prompt_of_another_session_sees_it(place: Place) -> None:
    place.hook("session_start", place.other, source="startup")
    place.turn("Which port has the gateway?", "We decided on port 7481 for the gateway, since 7480 is taken.")
    block = place.context("user_prompt_submit", place.other, "q1", prompt="What did we decide about the gateway port?")
    assert "7481" in block


def test_rule_of_one_session_is_known_in_the_next_prompt_of_another(place: Place) -> None:
    place.hook("session_start", place.other, source="startup")
    place.turn(RULE, "알겠습니다.")
    assert "푸시" in place.context(
        "user_prompt_submit", place.other, "q1", prompt="전에 main 푸시는 어떻게 하기로 했지?"
    )


def test_prompt_of_another_project_waits_for_nothing(place: Place, tmp_path: Path) -> None:
    place.turn("배포 요일 언제야?", "화요일입니다.")
    (tmp_path / "다른 곳").mkdir()
    elsewhere = Place(place.daemon, tmp_path / "다른 곳")
    elsewhere.hook("user_prompt_submit", elsewhere.session, "q1", prompt="What did we decide about the deploy day?")
    wait_for(place.is_quiet, "no job left")
    assert place.waiting == 3


UNANSWERED = {
    "user_prompt_submit": {"prompt": "게이트웨이 재시도는 몇 번까지 하지? Look at the gateway."},
    "post_tool_use": {
        "tool_name": "Bash", "tool_input": {"command": "make 게이트웨이"}, "tool_response": {}, "tool_use_id": "t1",
    },
}  # fmt: skip
ASKING: dict[str, dict[str, Any]] = {
    "user_prompt_submit": {"prompt": "What did we decide about the gateway port? 게이트웨이 포트"},
    "subagent_start": {"agent_type": "general-purpose"},
}


@pytest.mark.parametrize("asking", ASKING)
@pytest.mark.parametrize("heard", UNANSWERED)
def test_turn_that_is_not_answered_is_not_taken_in(place: Place, heard: str, asking: str) -> None:
    place.hook("session_start", place.other, source="startup")
    place.daemon.settle()
    place.hook(heard, place.session, "p1", **UNANSWERED[heard])
    place.hook(asking, place.other, "q1", **ASKING[asking])
    wait_for(place.is_quiet, "no job left")
    assert place.waiting == 1 + (asking == "user_prompt_submit")


def test_rule_is_told_at_its_own_stop(place: Place) -> None:
    place.hook("user_prompt_submit", place.session, "p1", prompt=RULE)
    time.sleep(LOOKED_FOR_S)
    answer = place.hook("stop", place.session, "p1", last_assistant_message="알겠습니다.")
    assert "memlayer keeps: " + RULE in answer.get("systemMessage", "")


def test_rule_of_an_interrupted_turn_is_told_after_the_next_turn(place: Place) -> None:
    place.hook("user_prompt_submit", place.session, "p1", prompt=RULE)
    time.sleep(LOOKED_FOR_S)
    place.turn("what does the cart do with two coupons?", "It takes the better one.", prompt_id="p2")
    asked = ("and what with %d of them?" % number for number in range(3, 6))
    told = (place.hook("user_prompt_submit", place.session, "p3", prompt=prompt) for prompt in asked)
    assert any("memlayer keeps: " + RULE in answer.get("systemMessage", "") for answer in told)


def test_subagent_gets_what_its_session_just_said(place: Place) -> None:
    place.turn("결정: 게이트웨이 포트는 7481번으로 한다.", "네, 7481번으로 합니다.")
    assert "7481" in place.context("subagent_start", place.session, agent_type="general-purpose")


# -- a start right behind an end


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("정산 배치는 내일부터 새벽 5시에 돌리기로 했어.", "새벽 5시"),
        ("We decided to keep the ledger in bucket number 700.", "bucket number 700"),
        ("The upload limit is 64 MB, and nginx sets it.", "64 MB"),
    ],
)
def test_start_behind_an_end_tells_the_last_session(tmp_path: Path, prompt: str, line: str) -> None:
    (tmp_path / "shop").mkdir()
    impatient = {**SETTINGS, "recall": {"deadline_ms": 60}}
    with Daemon(ROOT, tmp_path / "home", impatient) as daemon:
        daemon.settle()
        place = Place(daemon, tmp_path / "shop")
        place.turn("한빛페이 한도는 분당 300건이야.", "네.", session=place.other)
        place.hook("session_end", place.other, reason="other")
        daemon.settle()
        place.turn(prompt, "네, 알겠습니다.")
        place.hook("session_end", place.session, reason="other")
        told = place.context("session_start", "next", source="startup")
        assert line in told and "300건" in told and told.count("[Memory context]") == 1
        daemon.settle()
        assert line in place.context("session_start", "third", source="startup")
