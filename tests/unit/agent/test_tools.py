"""The tools of a talk: which there are, and a person's own."""

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from memlayer.agent.execution import Toolbox
from memlayer.agent.memory import TalkMemory
from memlayer.agent.tools import MemoryRemember, MemorySearch, installed_tools, tools_of
from memlayer.chat import ToolCall
from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError, UserError
from tests.support.scripted_tool import ScriptedTool

READY = ScriptedTool("과제", "과제 세 개")


def made() -> ScriptedTool:
    """A function that an entry point names."""
    return ScriptedTool("fetch_assignments", "과제 두 개")


def broken() -> ScriptedTool:
    """Another one, of a package that is not well."""
    raise ValueError("설정이 없다")


def talk(tmp_path: Path, **fields: bool) -> TalkMemory:
    """A talk without a daemon."""
    project = tmp_path / "가게"
    project.mkdir(exist_ok=True)
    home = str(tmp_path / "home")

    class Absent(Client):
        def _spawn(self) -> None:
            """Start nothing."""

    return TalkMemory(home, str(project), lambda: Absent(home, "", "", wait_s=0.1), **fields)


def points(*names: str) -> list[EntryPoint]:
    """Entry points of this module."""
    return [EntryPoint(name, "%s:%s" % (__name__, name), "memlayer.tools") for name in names]


def test_entry_points_are_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, __name__, sys.modules[made.__module__])
    tools, problems = installed_tools(points("made", "READY", "broken", "nothing"))
    assert [tool.name for tool in tools] == ["과제", "fetch_assignments"]
    assert [tool.run({}) for tool in tools] == ["과제 세 개", "과제 두 개"]
    assert [problem.split(":")[0] for problem in problems] == [
        "the tool broken cannot be loaded", "the tool nothing cannot be loaded",
    ]  # fmt: skip


def test_memory_tools_go_with_memory(tmp_path: Path) -> None:
    names = [tool.name for tool in tools_of(talk(tmp_path), lambda question, details: None)[0]]
    assert names == [
        "memory_search", "memory_details", "memory_timeline", "memory_remember", "read_file", "write_file", "edit_file",
        "shell",
    ]  # fmt: skip
    names = [tool.name for tool in tools_of(talk(tmp_path, is_on=False), lambda question, details: None)[0]]
    assert names == ["read_file", "write_file", "edit_file", "shell"]


def test_remembered_text_is_kept_without_daemon(tmp_path: Path) -> None:
    kept = MemoryRemember(talk(tmp_path)).run(
        {"text": "배포는 화요일이다. 키는 ghp_16C7e42F292c6912E7710c838347Ae178B4a"}
    )
    assert kept.startswith("Kept on disk")
    (path,) = (tmp_path / "home" / "spool").glob("*.json")
    event = json.loads(path.read_text())
    assert event["kind"] == "remember" and event["detail"] == "model"
    assert "배포는 화요일" in event["text"] and "ghp_" not in event["text"]


def test_private_text_is_not_remembered(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="private"):
        MemoryRemember(talk(tmp_path)).run({"text": "<private>두루미</private>"})
    with pytest.raises(UserError, match="too long"):
        MemoryRemember(talk(tmp_path)).run({"text": "가" * 100_000})
    assert not (tmp_path / "home").exists()


def test_search_without_daemon_says_so(tmp_path: Path) -> None:
    with pytest.raises(DaemonError):
        MemorySearch(talk(tmp_path)).run({"query": "배포"})
    with pytest.raises(UserError, match="switched off"):
        MemorySearch(talk(tmp_path, is_on=False)).run({"query": "배포"})


def test_example_of_the_documentation_is_a_tool() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "agent.md").read_text(encoding="utf-8")
    example = page.partition("```python\n")[2].partition("```")[0]
    named: dict[str, Any] = {}
    exec(example, named)
    tool = named["FetchAssignments"]()
    (result,) = Toolbox([tool]).run([ToolCall("1", tool.name, {"course": "수학"})])
    assert (result.text, result.is_error) == ("수학: 보고서, 3월 22일까지", False)
