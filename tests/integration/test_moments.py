"""Notes at tool calls, through real hooks and a daemon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memlayer.model import turn_memory_id
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ERROR = "Exit code 1\n# shop/e2e\ncmd/e2e/testenv.go:%d:26: undefined: defaultAgent"
BUILD, TEST = "go build -tags=e2e ./cmd/e2e/...", "go test -tags=e2e -c ./cmd/e2e/... -o /dev/null"
KOREAN_ERROR = "Exit code 1\n오류: 샌드박스 상점 %s 에 접속할 권한이 없습니다"


def called(hook: HookRunner, session: str, number: int, command: str, error: str = "", tool: str = "Bash") -> str:
    """Send a tool call; return what the model is told."""
    given: dict[str, Any] = {"command": command} if tool == "Bash" else {"file_path": command}
    more: dict[str, Any] = {"error": error} if error else {"tool_response": {"stdout": "ok", "stderr": ""}}
    done = hook(
        "post_tool_use_failure" if error else "post_tool_use", session, session + "-p", tool_name=tool,
        tool_input=given, tool_use_id="toolu_%s_%d" % (session, number), **more,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    answer = json.loads(done.stdout)["hookSpecificOutput"]
    assert answer["hookEventName"] == ("PostToolUseFailure" if error else "PostToolUse")
    return str(answer["additionalContext"])


def session(hook: HookRunner, name: str, *calls: tuple[str, str]) -> list[str]:
    """Play a session with these calls; return what each was told."""
    hook("session_start", name, source="startup")
    hook("user_prompt_submit", name, name + "-p", prompt="e2e 테스트가 컴파일되는지 봐 줘")
    told = [called(hook, name, place, *call) for place, call in enumerate(calls)]
    hook("stop", name, name + "-p", last_assistant_message="확인했습니다. 컴파일됩니다.")
    hook("session_end", name, reason="other")
    return told


def test_known_error_is_told_once(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    assert session(hook, "s1", (BUILD, ERROR % 40), (TEST, "")) == ["", ""]
    daemon.settle()
    told = session(hook, "s2", (BUILD, ERROR % 83), (BUILD + " -v", ERROR % 84), (TEST, ""))
    assert told[0].startswith("[Memory context]\n")
    assert "came in an earlier session; then this worked: " + TEST in told[0]
    assert told[0].count("\n- [mem:") == 1
    assert told[1:] == ["", ""]  # the same error a second time, and a call that worked
    daemon.settle()
    printed = Cli(home, project)("given").stdout
    assert "failed call" in printed
    assert "this error was met in an earlier session" in printed
    daemon.settle()
    assert "in 2 earlier sessions" in session(hook, "s3", (BUILD, ERROR % 9))[0]


def test_korean_error_of_any_tool(hook: HookRunner, daemon: Daemon) -> None:
    failed, worked = "pay --shop test-shop-2 정산 실행", "pay --shop test-shop-2 --as 관리자 정산 실행"
    session(hook, "s1", (failed, KOREAN_ERROR % "test-shop-2"), (worked, ""))
    daemon.settle()
    assert worked in session(hook, "s2", (failed, KOREAN_ERROR % "test-shop-7"))[0]


def test_forgotten_cure_is_gone(hook: HookRunner, daemon: Daemon) -> None:
    session(hook, "s1", (BUILD, ERROR % 40), (TEST, ""))
    daemon.settle()
    hook("session_start", "s2", source="startup")
    daemon.settle()
    daemon.call("forget", session_id="s1")
    assert called(hook, "s2", 1, BUILD, ERROR % 83) == ""


def test_silent_where_nothing_worked(hook: HookRunner, daemon: Daemon) -> None:
    session(hook, "s1", (BUILD, ERROR % 40), ("ls", ""))
    daemon.settle()
    assert session(hook, "s2", (BUILD, ERROR % 83))[0] == ""


def test_switch_and_read(home: Path, hook: HookRunner, project: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    settings = {"embedding": {"provider": "none"}, "moments": {"failing_calls": False}}
    with Daemon(root, home, settings) as daemon:
        session(hook, "s1", (BUILD, ERROR % 40), (TEST, ""))
        daemon.settle()
        assert session(hook, "s2", (BUILD, ERROR % 83))[0] == ""


def test_failed_read_is_kept(hook: HookRunner, daemon: Daemon) -> None:
    hook("session_start", "s1", source="startup")
    hook("user_prompt_submit", "s1", "s1-p", prompt="설정 파일을 읽어 줘")
    called(hook, "s1", 1, "/w/.golangci.yml", "File does not exist. Did you mean .golangci.yaml?", "Read")
    hook("stop", "s1", "s1-p", last_assistant_message="설정 파일은 .golangci.yaml 입니다.")
    daemon.settle()
    [shown] = daemon.call("show", ids=[turn_memory_id("s1", "s1-p")])["matches"]
    assert [event["text"].split("\n")[1] for event in shown["events"] if event["kind"] == "tool"] == [
        "File does not exist. Did you mean .golangci.yaml?"
    ]
