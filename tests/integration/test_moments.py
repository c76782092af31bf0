"""Errors met before and the history of a file, through real hooks and a daemon."""

from pathlib import Path
from typing import Any

from memlayer.model import turn_memory_id
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ERROR = "Exit code 1\n# shop/e2e\ncmd/e2e/testenv.go:%d:26: undefined: defaultAgent"
BUILD, TEST = "go build -tags=e2e ./cmd/e2e/...", "go test -tags=e2e -c ./cmd/e2e/... -o /dev/null"
KOREAN_ERROR = "Exit code 1\n오류: 샌드박스 상점 %s 에 접속할 권한이 없습니다"


def called(hook: HookRunner, session: str, number: int, command: str, error: str = "", tool: str = "Bash") -> None:
    """Send a tool call: the model is told nothing."""
    given: dict[str, Any] = {"command": command} if tool == "Bash" else {"file_path": command}
    more: dict[str, Any] = {"error": error} if error else {"tool_response": {"stdout": "ok", "stderr": ""}}
    done = hook(
        "post_tool_use_failure" if error else "post_tool_use", session, session + "-p", tool_name=tool,
        tool_input=given, tool_use_id="toolu_%s_%d" % (session, number), **more,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def session(hook: HookRunner, name: str, *calls: tuple[str, str]) -> None:
    """Play a session with these calls."""
    hook("session_start", name, source="startup")
    hook("user_prompt_submit", name, name + "-p", prompt="e2e 테스트가 컴파일되는지 봐 줘")
    for place, call in enumerate(calls):
        called(hook, name, place, *call)
    hook("stop", name, name + "-p", last_assistant_message="확인했습니다. 컴파일됩니다.")
    hook("session_end", name, reason="other")


def test_forgotten_cure_is_gone(hook: HookRunner, daemon: Daemon, project: Path) -> None:
    failed, worked = "pay --shop test-shop-2 정산 실행", "pay --shop test-shop-2 --as 관리자 정산 실행"
    session(hook, "s1", (failed, KOREAN_ERROR % "test-shop-2"), (worked, ""))
    daemon.settle()
    asked = {"error": KOREAN_ERROR % "test-shop-7", "project_dir": str(project)}
    assert worked in daemon.call("mem.search", **asked)["text"]
    daemon.call("forget", session_id="s1")
    assert worked not in daemon.call("mem.search", **asked)["text"]


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


def test_fix_and_search_by_error(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    session(hook, "s1", (BUILD, ERROR % 40), (TEST, ""))
    daemon.settle()
    cli = Cli(home, project)
    assert TEST in cli("search", "--error", "other.go:3:9: undefined: defaultAgent").stdout
    session(hook, "s2", ("pay 정산", "오류: 정산 계좌의 이체 한도를 넘었습니다 (%d)" % 7), ("pay --as 관리자 정산", ""))
    daemon.settle()
    for part in ("정산 계좌의 이체 한도", "계좌의 이체 한도를 넘었"):  # a part of a line, the last word cut
        assert ": pay --as 관리자 정산\n" in cli("search", "--error", part).stdout
    assert "No session has met this error" in cli("search", "--error", "오류: 정산 계좌가 잠겨 있습니다").stdout
    searched = daemon.call("mem.search", error=ERROR % 7, project_dir=str(project))
    assert "this worked: " + TEST in searched["text"]
    assert searched["ids"]


def test_fix_says_where_nothing_worked(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    session(hook, "s1", (BUILD, ERROR % 40))
    daemon.settle()
    printed = Cli(home, project)("search", "--error", "undefined: defaultAgent").stdout
    assert "It came in 1 session, and nothing is known to have worked." in printed


def test_blame_of_a_file(hook: HookRunner, daemon: Daemon, home: Path, project: Path) -> None:
    hook("session_start", "s1", source="startup")
    hook("user_prompt_submit", "s1", "s1-p", prompt="정산 반올림을 고쳐 줘")
    edit = {"file_path": str(project / "결제" / "정산.py"), "old_string": "round(x)", "new_string": "floor(x)"}
    hook("post_tool_use", "s1", "s1-p", tool_name="Edit", tool_input=edit, tool_use_id="toolu_1", tool_response={})
    hook("stop", "s1", "s1-p", last_assistant_message="반올림을 내림으로 고쳤습니다.")
    daemon.settle()
    text = "정산.py 의 반올림은 내림이어야 한다: 은행이 내림으로 받는다."
    daemon.call(
        "mem.remember", text=text, kind="decision", files=["결제/정산.py"], at_ms=1, project_dir=str(project),
        session_id="s1",
    )  # fmt: skip
    cli = Cli(home, project)
    printed = cli("show", "--file", "정산.py").stdout
    assert "은행이 내림으로" in printed and "1 edit" in printed
    assert "Nothing is kept about" in cli("show", "--file", "checkout.py").stdout
    assert "은행이 내림으로" in daemon.call("mem.search", file="결제/정산.py", project_dir=str(project))["text"]
