"""Citations that count: shown by recall, cited by answers, opened by look-ups."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.cli_process import Cli
from tests.support.mcp_client import McpServer
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
FACT = (
    "주문 이벤트는 어디에 저장해?",
    "Decided: order events live in ClickHouse, since the nightly reports timed out.",
)
QUESTION = "지난번에 주문 이벤트를 어디에 저장하기로 했지? order events"


class Told(NamedTuple):
    """A home whose session `old` settled a fact.

    The fact is in one of two projects.
    """

    home: Path
    hook: HookRunner
    other: HookRunner
    daemon: Daemon
    cli: Cli

    def citation(self) -> str:
        """The citation of the turn that settled it."""
        found = json.loads(self.cli("list", "conversation", "--session", "old", "--json").stdout)
        return str(found["memories"][0]["citation"])

    def cited(self, which: str = "newest") -> list[dict[str, Any]]:
        """Return the memories that `list --cited` lists."""
        listed = self.cli("list", "--cited", which, "--all-projects", "--json").stdout
        return list(json.loads(listed)["memories"])

    def used(self) -> dict[str, Any]:
        """Return the uses in `stats`."""
        return dict(json.loads(self.cli("stats", "--json").stdout)["used"])


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    home, project, other = tmp_path / "home", tmp_path / "가게", tmp_path / "other"
    hooks = []
    for folder in (project, other):
        folder.mkdir()
        hooks.append(HookRunner(ROOT, home, folder, python=getattr(sys, "_base_executable", sys.executable)))
        hooks[-1].forbid_background()
    with Daemon(ROOT, home) as daemon:
        hooks[0].turn("old", "p1", *FACT)
        daemon.settle()
        yield Told(home, *hooks, daemon, Cli(home, project))


def test_shown_then_cited_then_forgotten(told: Told) -> None:
    citation = told.citation()
    shown = told.hook("user_prompt_submit", "new", "p2", prompt=QUESTION).context
    assert f"[mem:{citation}]" in shown
    told.hook("stop", "new", "p2", last_assistant_message=f"ClickHouse 입니다 [mem:{citation}], see [mem:{citation}].")
    told.daemon.settle()
    assert told.used() == {"window_days": 30, "shown": 1, "cited": 1, "opened": 0, "cited_of_shown": 1}
    [memory] = told.cited()
    assert (memory["citation"], memory["cited"], memory["cited_sessions"], memory["shown_sessions"]) == (
        citation,
        1,
        1,
        1,
    )
    assert "Cited in 1 session: new (" in told.cli("show", citation).stdout
    with McpServer(told.home, told.cli.project) as server:
        assert "Cited in 1 session: new (" in server.call("mem-details", ids=[citation])
        assert "1 cited" in server.call("mem-stats")
    told.daemon.settle()
    assert told.used()["opened"] == 1  # the model's; a person's `show` is none
    assert "cited (100 % of those shown)" in told.cli("stats").stdout
    assert told.cli("forget", citation, "--yes").returncode == 0
    assert told.cited() == [] and told.used()["shown"] == 0


def test_lines_of_a_start_are_shown_to_nobody(told: Told) -> None:
    """Nobody asked for them: uncited, they are no reason to raise recall.min_chance."""
    told.cli("remember", "커밋 메시지는 영어로 쓴다, commit messages are English")
    told.daemon.settle()
    for session in ("a", "b", "c"):
        assert "[mem:" in told.hook("session_start", session, source="startup").context
        told.hook.turn(session, "p" + session, "안녕", "안녕하세요.")
    told.daemon.settle()
    assert told.used()["shown"] == 0
    assert told.hook("user_prompt_submit", "d", "pd", prompt=QUESTION).context
    told.hook("stop", "d", "pd", last_assistant_message="ClickHouse.")
    told.daemon.settle()
    assert told.used()["shown"] == 1 and "1 shown at prompts" in told.cli("stats").stdout


def test_sessions_are_counted_alike(told: Told, tmp_path: Path) -> None:
    told.cli("remember", "커밋 메시지는 영어로 쓴다")  # of no session
    told.hook("session_start", "silent", source="startup")
    told.daemon.settle()
    exported = json.loads(told.cli("export", str(tmp_path / "all.jsonl"), "--json").stdout)["sessions"]
    listed = json.loads(told.cli("sessions", "--all-projects", "--json").stdout)["total"]
    assert json.loads(told.cli("stats", "--json").stdout)["sessions"] == exported == listed


def test_citing_session_is_named_as_elsewhere(told: Told) -> None:
    """By its first eight characters, as in every list, so that `--session` takes them."""
    session = "b8af73c1-9d2e-4a51-8f00-0123456789ab"
    told.hook.turn(session, "p9", "주문 이벤트는?", f"ClickHouse [mem:{told.citation()}].")
    told.daemon.settle()
    assert "Cited in 1 session: b8af73c1 (" in told.cli("show", told.citation()).stdout


def test_forged_and_foreign_citations_count_nothing(told: Told) -> None:
    citation = told.citation()
    told.other.turn(
        "far", "p3", "그 결정 뭐였지?", f"It is [mem:{citation}] and [mem:zzzzzz] and [mem:{citation[:5]}]."
    )
    told.hook.turn("here", "p4", f"what is [mem:{citation}]?", "I do not cite it.")
    told.daemon.settle()
    assert told.cited() == [] and told.used()["cited"] == 0


def test_same_turn_told_twice_counts_once(told: Told) -> None:
    for _ in range(2):
        told.hook.turn("again", "p5", "order events?", f"ClickHouse [mem:{told.citation()}].")
        told.daemon.settle()
    assert told.used()["cited"] == 1


def test_own_listings_cite_nothing(told: Told) -> None:
    told.hook("user_prompt_submit", "cmd", "p6", prompt="/memory-search order events")
    told.hook("stop", "cmd", "p6", last_assistant_message=f"- [mem:{told.citation()}] found")
    told.daemon.settle()
    assert told.used()["cited"] == 0


def test_unused_and_popular(told: Told) -> None:
    for number in range(3):
        assert told.hook("user_prompt_submit", "s%d" % number, "q%d" % number, prompt=QUESTION).context
        told.hook("stop", "s%d" % number, "q%d" % number, last_assistant_message="ClickHouse.")
    told.daemon.settle()
    [unused] = told.cited("unused")
    assert unused["shown_sessions"] == 3 and unused["cited"] == 0
    told.hook.turn("s9", "q9", "order events?", f"ClickHouse [mem:{told.citation()}].")
    told.daemon.settle()
    assert told.cited("unused") == []
    assert told.cli("list", "--cited", "unused").stdout == "No memory was shown often and never cited.\n"
    assert [one["citation"] for one in told.cited("popular")] == [told.citation()]
    assert re.search(
        r"cited 1 time in 1 session, last \d{4}-\d\d-\d\d, shown to 4 sessions",
        told.cli("list", "--cited", "newest").stdout,
    )


def test_switched_off_nothing_is_recorded(told: Told) -> None:
    told.daemon.stop()
    told.daemon.settings["citations"] = {"track": False}
    told.daemon.start()
    told.hook.turn("new", "p7", "order events?", f"ClickHouse [mem:{told.citation()}].")
    told.daemon.settle()
    assert told.used() == {"window_days": 30, "shown": 0, "cited": 0, "opened": 0, "cited_of_shown": 0}


def test_export_carries_uses(told: Told, tmp_path: Path) -> None:
    told.hook.turn("new", "p8", "order events?", f"ClickHouse [mem:{told.citation()}].")
    told.daemon.settle()
    assert told.cli("export", str(tmp_path / "all.jsonl")).returncode == 0
    second = tmp_path / "second"
    with Daemon(ROOT, second) as daemon:
        cli = Cli(second, told.cli.project)
        daemon.settle()
        assert cli("import", str(tmp_path / "all.jsonl")).returncode == 0
        assert json.loads(cli("stats", "--json").stdout)["used_ever"] == {"cited": 1, "shown": 1}
