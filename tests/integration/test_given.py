"""The record of given notes and of each session.

Real hooks, daemon, store and command line.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.edge.home import given_notes
from memlayer.edge.terminal import status_line
from memlayer.wire.sessions import GivenPrompt
from tests.integration.test_main_job import FACTS, ROOT
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

ASKED = "결제모듈 포트가 몇 번이었지?"
TELLING = ("결제", "5433", "ClickHouse", "화요일", "포트")


class Home:
    """A home in which one session has told FACTS.

    It can ask for them too.
    """

    def __init__(self, base: Path) -> None:
        self.path, project = base / "home", base / "상점 shop"
        project.mkdir()
        self.daemon = Daemon(ROOT, self.path)
        self.hook = HookRunner(ROOT, self.path, project)
        self.cli = Cli(self.path, project)

    def given(self, *arguments: str) -> list[dict[str, object]]:
        done = self.cli("given", "--json", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return list(json.loads(done.stdout)["prompts"])


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    home = Home(tmp_path_factory.mktemp("given"))
    with home.daemon:
        for number, (prompt, answer) in enumerate(FACTS):
            home.hook.turn("8f3a12cd-told", "p%d" % number, prompt, answer)
        home.hook("session_end", "8f3a12cd-told", reason="other")
        home.daemon.settle()
        yield home


def ask(home: Home, session: str, prompt: str, prompt_id: str = "q1") -> str:
    """The block; the record has it a moment after the host."""
    before = recorded(home, session)
    done = home.hook("user_prompt_submit", session, prompt_id, prompt=prompt)
    assert (done.returncode, done.stderr) == (0, b"")
    home.daemon.wait_for(lambda: recorded(home, session) > before, "entry")
    return done.context


def recorded(home: Home, session: str) -> int:
    return sum(entry["session_id"] == session for entry in given_notes.entries(str(home.path)))


def test_given_explains_each_note(told: Home) -> None:
    block = ask(told, "reader", ASKED)
    [prompt] = told.given("--session", "reader")
    assert (prompt["prompt"], prompt["delivered"], prompt["chars"]) == (ASKED, True, len(block))
    notes, left_out = prompt["given"], prompt["left_out"]
    assert isinstance(notes, list) and isinstance(left_out, list)
    assert [("[mem:%s]" % note["memory"]["citation"]) in block for note in notes] == [True] * block.count("\n- [mem:")
    assert all(note["chance"] > 0 and note["memory"]["text"] for note in notes)
    assert all(note["reason"] for note in left_out)
    said = told.cli("given", "--session", "reader").stdout
    assert ASKED in said and "[mem:%s]" % notes[0]["memory"]["citation"] in said
    assert "chance 0." in said and "1 note" in said


@pytest.mark.parametrize(
    ("prompt", "why"),
    [
        ("thanks!", "nothing in it to look for"),
        ("/review checkout.py", "a slash command"),
        ("what is the capital of France?", "no memory resembles it"),
    ],
)
def test_silence_says_why(told: Home, prompt: str, why: str) -> None:
    session = "silent " + prompt
    assert ask(told, session, prompt) == ""
    said = told.cli("given", "--session", session).stdout
    assert prompt in said and "nothing given" in said and why in said


def test_a_host_without_a_context_at_prompts_is_named(told: Home) -> None:
    own = {"conversation_id": "cursor-1", "generation_id": "g1", "workspace_roots": [str(told.hook.project)]}
    assert told.hook("user_prompt_submit", "", prompt=ASKED, **own).context == ""
    told.daemon.wait_for(lambda: recorded(told, "cursor-1"), "entry")
    said = told.cli("given", "--session", "cursor-1").stdout
    assert ASKED in said and "its host takes no context at a prompt" in said


@pytest.mark.parametrize(("count", "gate", "why"), tables("integration/given")["silence_is_told_by_the_number"])
def test_silence_is_told_by_the_number(count: int, gate: str, why: str) -> None:
    assert GivenPrompt(left_out_count=count, gate=gate).silence == why
    assert GivenPrompt().silence == "no memory resembles it"


def test_session_start_is_on_record(told: Home) -> None:
    block = told.hook("session_start", "starter", source="startup").context
    told.daemon.wait_for(lambda: recorded(told, "starter"), "entry")
    [start] = told.given("--session", "starter")
    assert start["start"] == "startup" and block
    cited = [note["citation"] for note in start["given"]]  # type: ignore[attr-defined]
    assert cited and all("[mem:%s]" % one in block for one in cited)


def test_start_tells_its_left_out_memories_by_reason(told: Home) -> None:
    for number in (1, 2):
        told.hook.turn("porter", "p%d" % number, "스테이징 배포 포트는 %d080으로 바꿨어" % number, "네, 바꿨습니다.")
    told.daemon.settle()
    told.hook("session_start", "porter-2", source="startup")
    told.daemon.wait_for(lambda: recorded(told, "porter-2"), "entry")
    [start] = told.given("--session", "porter-2")
    reasons = {note["memory"]["text"][:30]: note["reason"] for note in start["left_out"]}  # type: ignore[attr-defined]
    assert any("1080" in text and why == "a newer value is known" for text, why in reasons.items()), reasons
    assert "a newer value is known" in told.cli("given", "--session", "porter-2").stdout


def test_last_counts_from_the_newest(told: Home) -> None:
    for number in range(3):
        ask(told, "many", "thanks!", "q%d" % number)
    ask(told, "other", "ok")
    assert [one["session_id"] for one in told.given("--last", "2")] == ["other", "many"]
    assert len(told.given("--session", "many", "--last", "500")) == 3


def test_record_is_private_and_tells_nothing(told: Home) -> None:
    ask(told, "private", ASKED)
    path = told.path / given_notes.NAME
    assert path.stat().st_mode & 0o777 == 0o600
    record = re.sub(r"[0-9a-f]{12,}|\b\d{10,}\b", "", path.read_text("utf-8"))  # ids and times may hold any digits
    assert record and not [word for word in TELLING if word in record]


def test_another_project_sees_none(told: Home, tmp_path: Path) -> None:
    ask(told, "walled", ASKED)
    done = told.cli("given", "--project", str(tmp_path))
    assert done.returncode == 0 and "No prompt is on record" in done.stdout


def test_wrong_options_are_told(told: Home) -> None:
    assert told.cli("given", "--session", "").returncode != 0
    assert told.cli("given", "--last", "0").returncode == 2
    assert "No session is known by 'nobody'" in told.cli("given", "--session", "nobody").stderr
    for session in ("twin-1", "twin-2"):
        ask(told, session, "thanks!")
    assert "2 sessions begin with 'twin'" in told.cli("given", "--session", "twin").stderr
    assert len(told.given("--session", "twin-1")) == 1


def test_status_line_follows_the_prompt(told: Home) -> None:
    ask(told, "lined", ASKED)
    facts = status_line.facts(str(told.path), {"session_id": "lined"}, 0.0)
    assert facts["notes"] == 1
    done = told.cli("statusline", stdin=b'{"session_id": "lined"}')
    assert (done.returncode, done.stdout) == (0, "memlayer: 1 note\n")


def test_sessions_table(told: Home) -> None:
    [head, *rows] = told.cli("sessions").stdout.splitlines()
    assert head.split()[:3] == ["session", "last", "active"]
    row = next(row for row in rows if row.startswith("8f3a12cd"))
    assert row.split()[3:] == ["ended", str(len(FACTS)), "-", "0", "0", "상점", "shop"]
    found = json.loads(told.cli("sessions", "--json").stdout)
    one = next(one for one in found["sessions"] if one["id"] == "8f3a12cd-told")
    assert (one["turns"], one["compaction_count"], one["flush_count"], one["total_tokens"]) == (len(FACTS), 0, 0, 0)
    assert one["project"] and "p0" not in json.dumps(one["shown"])


def test_single_session_shows_everything(told: Home) -> None:
    ask(told, "full-1", ASKED)
    ask(told, "full-1", "thanks!", "q2")
    said = told.cli("sessions", "full").stdout
    assert "Session full-1" in said and "1 for 1 of 2 prompts" in said
    [one] = json.loads(told.cli("sessions", "8f3a12cd", "--json").stdout)["sessions"]
    assert one["events"] >= 2 * len(FACTS) and one["summary"]


def test_unknown_session_is_told(told: Home) -> None:
    done = told.cli("sessions", "없는 세션")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "memlayer sessions" in done.stderr


def test_sessions_of_another_project(told: Home, tmp_path: Path) -> None:
    assert "No sessions in this project" in told.cli("sessions", "--project", str(tmp_path)).stdout
    assert "8f3a12cd" in told.cli("sessions", "--all-projects").stdout


def test_compaction_and_flush_are_counted(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.daemon:
        home.hook.turn("s1", "p1", *FACTS[0])
        home.hook("pre_compact", "s1", trigger="auto")
        home.hook("session_start", "s1", source="compact")
        home.hook("post_compact", "s1", trigger="auto")
        home.daemon.settle()
        [one] = json.loads(home.cli("sessions", "--json").stdout)["sessions"]
        assert (one["turns"], one["compaction_count"], one["flush_count"]) == (1, 1, 1)


def test_record_outlives_daemon_and_note(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.daemon:
        for number, (prompt, answer) in enumerate(FACTS):
            home.hook.turn("s1", "p%d" % number, prompt, answer)
        home.hook("session_end", "s1", reason="other")
        home.daemon.settle()
        assert ask(home, "reader", ASKED)
        home.hook("stop", "reader", "q1", last_assistant_message="5433입니다.")
        home.daemon.settle()
        home.daemon.kill()  # no time to save anything
        home.daemon.start()
        [prompt] = home.given("--session", "reader")
        [note] = prompt["given"]  # type: ignore[misc]
        assert note["memory"]["text"]
        done = home.cli("forget", note["memory"]["citation"], "--yes")
        assert done.returncode == 0, done.stderr
        [after] = home.given("--session", "reader")
        assert "memory" not in after["given"][0]  # type: ignore[index]
        assert "forgotten since" in home.cli("given", "--session", "reader").stdout
        assert home.cli("forget", "--session", "reader", "--yes").returncode == 0
        assert "reader" not in {prompt["session_id"] for prompt in home.given("--last", "50")}
        assert "No session is known by 'reader'" in home.cli("given", "--session", "reader").stderr
    assert os.path.exists(home.path / given_notes.NAME)


def test_prompt_without_a_daemon_is_listed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.daemon:
        ask(home, "s1", "thanks!")
    home.hook.forbid_background()
    home.hook.turn("s1", "p2", ASKED, "모르겠습니다.")
    home.hook("user_prompt_submit", "s1", "p3", prompt="/review 상점")
    with home.daemon:
        home.daemon.settle()
        assert [one["prompt"] for one in home.given("--session", "s1")] == [ASKED, "thanks!"]
        said = home.cli("given").stdout
        assert "nothing given: no daemon answered in time" in said.splitlines()[1]


def test_stats_count_redactions(tmp_path: Path) -> None:
    home = Home(tmp_path)
    secret = "AKIA2345ABCDEFGHIJKL"
    with home.daemon:
        home.hook.turn("s1", "p1", "<private>둘만의 비밀</private> 키는 %s 야" % secret, "네, 적지 않았습니다.")
        home.daemon.settle()
    home.hook.forbid_background()
    home.hook("user_prompt_submit", "s1", "p2", prompt="<private>셋만의 비밀</private> 다시")  # without a daemon
    with home.daemon:
        home.daemon.settle()
        found = json.loads(home.cli("stats", "--json").stdout)
        said = home.cli("stats").stdout
    assert found["redacted"]["private"] == 2
    assert sum(count for kind, count in found["redacted"].items() if kind != "private") == 1
    assert "private spans taken out" in said and "secrets taken out" in said
    assert secret not in (home.path / "metrics.json").read_text()
