"""Tool calls through real hooks and a daemon.

Kept with their turn, shown and forgotten with it, never recalled.
"""

import json
from pathlib import Path
from typing import Any

from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.home import paths
from memlayer.model import Event, turn_memory_id
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
ERROR = "ModuleNotFoundError: No module named 'geopandas'"


def tool(hook: HookRunner, number: int, name: str, given: dict[str, Any], **more: Any) -> None:
    done = hook(
        "post_tool_use_failure" if "error" in more else "post_tool_use", "s1", "p1", tool_name=name, tool_input=given,
        tool_use_id="toolu_%d" % number, **more,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def work(hook: HookRunner) -> None:
    """Send a turn with an edit, commands, a failure and a look.

    One of the commands is a sub-agent's.
    """
    hook("session_start", "s1", source="startup")
    hook("user_prompt_submit", "s1", "p1", prompt="지도 화면의 타일 서버 주소를 바꿔 줘")
    tool(hook, 1, "Read", {"file_path": "/w/tiles.py"}, tool_response={"type": "text"})
    tool(hook, 2, "Edit", {"file_path": "/w/tiles.py", "old_string": "http", "new_string": "https"}, tool_response={})
    tool(hook, 3, "Bash", {"command": "pytest tests/tiles"}, error=ERROR)
    output = {"stdout": "12 passed", "stderr": "", "interrupted": False}
    tool(hook, 4, "Bash", {"command": "pip install geopandas && pytest"}, tool_response=output)
    tool(
        hook, 5, "Bash", {"command": "rm -rf build"}, tool_response=output, agent_id="a1", agent_type="general-purpose"
    )
    hook("stop", "s1", "p1", last_assistant_message="타일 서버를 https 로 바꾸고 테스트를 통과시켰습니다.")


def events(home: Path) -> list[Event]:
    """The tool events of a store that no daemon holds."""
    store = LanceStore.open(Path(paths.store(str(home))), 0)
    try:
        return store.events(session_id="s1", kind="tool")
    finally:
        store.close()


def test_turn_holds_its_tool_calls(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    work(hook)
    daemon.settle()
    [shown] = daemon.call("show", ids=[turn_memory_id("s1", "p1")])["matches"]
    said = [(event["kind"], event["text"].split("\n")[0]) for event in shown["events"]]
    assert sorted(said) == [
        ("assistant", "타일 서버를 https 로 바꾸고 테스트를 통과시켰습니다."),
        ("tool", "Bash failed: pytest tests/tiles"),
        ("tool", "Bash: pip install geopandas && pytest"),
        ("tool", "Edit: /w/tiles.py"),
        ("user", "지도 화면의 타일 서버 주소를 바꿔 줘"),
    ]
    assert "geopandas" not in shown["memory"]["text"]
    printed = Cli(home, project)("show", turn_memory_id("s1", "p1")).stdout
    assert "- http" in printed
    assert ERROR in printed


def test_tools_leave_index_words_alone(hook: HookRunner, daemon: Daemon, project: Path) -> None:
    work(hook)
    daemon.settle()
    found = daemon.call("search", query="타일 서버", project_dir=str(project))["hits"]
    assert [hit["snippet"] for hit in found if hit["category"] == "conversation"] == [
        "지도 화면의 타일 서버 주소를 바꿔 줘 타일 서버를 https 로 바꾸고 테스트를 통과시켰습니다."
    ]
    assert not [hit for hit in found if "12 passed" in hit["snippet"] or "tiles.py" in hit["snippet"]]


def test_late_tool_event_joins_turn(hook: HookRunner, daemon: Daemon) -> None:
    work(hook)
    daemon.settle()
    tool(hook, 9, "Bash", {"command": "make docs"}, tool_response={"stdout": "built"})
    hook("post_tool_use", "s1", "never asked", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")
    hook("post_tool_use", "s1", tool_name="Bash", tool_input={"command": "pwd"}, tool_use_id="u")
    daemon.settle()
    [shown] = daemon.call("show", ids=[turn_memory_id("s1", "p1")])["matches"]
    assert [event["text"] for event in shown["events"]][-1] == "Bash: make docs\nbuilt"
    turns = [one for one in daemon.call("list", all_projects=True)["memories"] if one["category"] == "conversation"]
    assert len(turns) == 1
    assert daemon.call("status")["job_errors"] == 0


def test_tool_events_wait_in_spool(hook: HookRunner, home: Path) -> None:
    work(hook)
    assert [event["kind"] for event in hook.spooled] == ["session_start", "user", *["tool"] * 4, "assistant"]
    assert not (home / "daemon.sock").exists()
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
    assert [event.detail for event in events(home)] == ["Edit", "Bash failed", "Bash"]  # not Read: see ToolRules


def test_excluded_tools_are_dropped(hook: HookRunner, home: Path) -> None:
    work(hook)  # no daemon: no settings were read
    settings = {"embedding": {"provider": "none"}, "tools": {"enabled": False}}
    with Daemon(ROOT, home, settings) as daemon:
        daemon.settle()
        tool(hook, 8, "Bash", {"command": "make"}, tool_response={"stdout": "x"})
        assert hook.spooled == []
        daemon.settle()
    assert events(home) == []


def test_listed_tools_and_failures_are_kept(hook: HookRunner, home: Path) -> None:
    settings = {"embedding": {"provider": "none"}, "tools": {"kept": ["mcp__docs__*"]}}
    with Daemon(ROOT, home, settings) as daemon:
        work(hook)
        tool(
            hook, 7, "mcp__docs__find", {"q": "지도"}, tool_response={"content": [{"type": "text", "text": "가" * 900}]}
        )
        daemon.settle()
    assert {event.detail for event in events(home)} == {"mcp__docs__find", "Bash failed"}


def test_forget_turn_forgets_tools(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    work(hook)
    daemon.settle()
    done = Cli(home, project)("forget", turn_memory_id("s1", "p1"), "--yes", "--json")
    assert json.loads(done.stdout)["removed"]["events"] == 5
    daemon.stop()
    assert events(home) == []
    needle = b"geopandas"
    assert not [path for path in (home / "store").rglob("*") if path.is_file() and needle in path.read_bytes()]


def test_search_finds_tools_recall_not(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    work(hook)
    daemon.settle()
    cli = Cli(home, project)
    for query in ("/w/tiles.py", "No module named 'geopandas'", "PIP INSTALL"):
        [done] = json.loads(cli("search", query, "--json").stdout)["done"]
        assert done["id"] == turn_memory_id("s1", "p1")
        assert "Done in" in cli("search", query).stdout
    assert json.loads(cli("search", "no such words anywhere", "--json").stdout)["done"] == []
    assert json.loads(cli("search", "geopandas", "--project", str(home), "--json").stdout)["done"] == []
    assert hook("user_prompt_submit", "s2", "q1", prompt="what was wrong with geopandas?").context == ""
