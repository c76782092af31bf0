"""Sessions named by the start of their id, in every verb and tool that takes one.

Real hooks, daemon, store, command line and MCP server.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.test_main_job import ROOT
from tests.support.cli_process import Run, runner
from tests.support.mcp_client import McpServer
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

WHOLE = "11111111-2222-4333-8444-555555555555"
TWINS = ("2222aaaa-1", "2222bbbb-1")
AGENT = "agent-77aa00112233"
SAID = {
    WHOLE: ("결제 모듈은 어느 포트를 쓰지?", "결제 모듈은 포트 5433을 쓰기로 결정했다."),
    TWINS[0]: ("When do we deploy?", "Decided: we deploy on Tuesday mornings."),
    TWINS[1]: ("Which cache do we use?", "Decided: the cache is Redis on port 6380."),
    AGENT: ("색인은 어디에 두지?", "색인은 ClickHouse에 두기로 했다."),
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Path, Path]]:
    base = tmp_path_factory.mktemp("short")
    home, project = base / "home", base / "상점 shop"
    project.mkdir()
    hook = HookRunner(ROOT, home, project)
    hook.forbid_background()
    with Daemon(ROOT, home) as daemon:
        for number, (session, (prompt, answer)) in enumerate(SAID.items()):
            hook.turn(session, "p%d" % number, prompt, answer)
        daemon.settle()
        yield runner(home, project), home, project


@pytest.fixture
def run(told: tuple[Run, Path, Path]) -> Run:
    return told[0]


@pytest.mark.parametrize(
    "verb", [("list",), ("list", "--all-projects"), ("search", "결제 포트"), ("forget", "--dry-run")]
)
def test_printed_start_finds_session(run: Run, verb: tuple[str, ...]) -> None:
    for name in ("11111111", WHOLE, "111"):
        shown = run(*verb, "--session", name).stdout
        assert "5433" in shown and "Tuesday" not in shown, name


def test_session_is_found_from_other_folder(run: Run, told: tuple[Run, Path, Path], tmp_path: Path) -> None:
    elsewhere = runner(told[1], tmp_path)
    for verb in (("list",), ("search", "결제 포트"), ("forget", "--dry-run")):
        assert "5433" in elsewhere(*verb, "--session", "11111111").stdout
    said = elsewhere("list", "--session", "11111111", "--project", str(tmp_path), code=1).stderr
    assert "in this project" in said and "sessions --all-projects" in said


@pytest.mark.parametrize("verb", tables("integration/short_ids")["matches_of_ambiguous_start_are_shown"])
def test_matches_of_ambiguous_start_are_shown(run: Run, verb: tuple[str, ...]) -> None:
    said = run(*verb, "2222", code=1).stderr
    assert "2 sessions begin with '2222'" in said and said.count("\n") == 1
    assert all(twin in said for twin in TWINS) and "Give more of the id" in said
    if verb[0] not in ("remember",):
        assert "shop" in said


def test_unknown_session_is_named_with_way_out(run: Run) -> None:
    for verb in (("list",), ("search", "deploy"), ("search", "--as-prompt", "deploy?"), ("forget", "--yes")):
        said = run(*verb, "--session", "없는세션", code=1).stderr
        assert "No session is known by '없는세션'" in said and "`memlayer sessions --all-projects`" in said


def test_agent_talks_are_told_apart(run: Run) -> None:
    printed = [row.split()[0] for row in run("sessions").stdout.splitlines()[1:]]
    assert "agent-77aa0011" in printed
    for name in ("agent-77aa0011", "77aa00"):
        assert "ClickHouse" in run("list", "--session", name).stdout
    assert "session agent-77aa0011" in run("list").stdout


def test_every_printed_session_is_one(run: Run) -> None:
    for row in run("sessions").stdout.splitlines()[1:]:
        [session] = json.loads(run("sessions", row.split()[0], "--json").stdout)["sessions"]
        assert session["id"] in SAID


def test_model_gives_printed_start(told: tuple[Run, Path, Path], tmp_path: Path) -> None:
    _, home, project = told
    with McpServer(home, project) as client:
        found = client.call("mem-search", query="결제 포트", session="11111111")
        assert "5433" in found and "Tuesday" not in found
        citation = found.split("[mem:")[1][:6]
        assert "session 11111111" in client.call("mem-details", ids=[citation])
        said = client.call("mem-search", query="deploy", session="2222")
        assert all(twin in said for twin in TWINS)
    with McpServer(home, tmp_path) as other:  # another project learns of no session
        said = other.call("mem-search", query="결제 포트", session="11111111")
        assert "No session is known by '11111111' in this project" in said and "5433" not in said


def test_statement_belongs_to_named_session(run: Run) -> None:
    run("remember", "포트 5433은 결제 모듈의 것이다", "--session", "11111111")
    sessions = {memory["session_id"] for memory in json.loads(run("list", "--json").stdout)["memories"]}
    assert sessions <= {*SAID}
