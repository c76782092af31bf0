"""A call that failed in an earlier session is told of its cure before it is made again, through the real hooks."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

KOREAN = "Exit code 1\n오류: 샌드박스 상점 3 에 접속할 권한이 없습니다"
ODD = [b"", b"{", b"[]", b'{"tool_input": 3}', b'{"tool_name": "Bash", "tool_input": {"command": 7}}']


def called(hook: HookRunner, session: str, command: str, error: str = "") -> str:
    """Make a call; return the line that the model is told behind it."""
    more: dict[str, Any] = {"error": error} if error else {"tool_response": {"stdout": "ok", "stderr": ""}}
    name = "post_tool_use_failure" if error else "post_tool_use"
    return told(hook(name, session, session + "-p", **fields(command), **more).stdout)


def about_to(hook: HookRunner, session: str, command: str) -> str:
    """Return the line that the model is told before a call."""
    done = hook("pre_tool_use", session, session + "-p", **fields(command))
    assert (done.returncode, done.stderr) == (0, b"")
    return told(done.stdout)


def fields(command: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_%d" % len(command)}


def told(printed: bytes) -> str:
    if not printed:
        return ""
    answer = json.loads(printed)
    assert answer.keys() == {"hookSpecificOutput"}  # never a decision
    return str(answer["hookSpecificOutput"]["additionalContext"])


def begin(hook: HookRunner, name: str) -> None:
    hook("session_start", name, source="startup")
    hook("user_prompt_submit", name, name + "-p", prompt="의존성을 설치하고 테스트를 돌려 줘")


def end(hook: HookRunner, daemon: Daemon, name: str) -> None:
    hook("stop", name, name + "-p", last_assistant_message="설치했습니다.")
    hook("session_end", name, reason="other")
    daemon.settle()


@pytest.fixture
def learnt(hook: HookRunner, daemon: Daemon) -> tuple[str, str, str]:
    """A first session that failed, and found what works. In English: tests/unit/give/test_at_action.py."""
    failed, worked, error = "pay 상점2 정산", "pay 상점2 --as 관리자 정산", KOREAN
    begin(hook, "s1")
    assert about_to(hook, "s1", failed) == "" and called(hook, "s1", failed, error) == ""
    called(hook, "s1", worked)
    end(hook, daemon, "s1")
    return failed, worked, error


def test_day_with_the_same_mistake(
    hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str], home: Path, project: Path
) -> None:
    failed, worked, _ = learnt
    assert about_to(hook, "s1", failed) == ""  # its own session knows
    begin(hook, "s2")
    line = about_to(hook, "s2", failed)
    assert worked in line and "[mem:" in line and "\n" not in line and len(line) <= 200
    assert about_to(hook, "s2", failed) == ""  # once a session
    assert about_to(hook, "s2", worked) == "" and about_to(hook, "s2", "ls -la") == ""
    called(hook, "s2", worked)
    end(hook, daemon, "s2")
    cli = Cli(home, project)
    assert "before a call" in cli("given", "--session", "s2").stdout
    assert failed.encode() not in (home / "given.jsonl").read_bytes()
    assert "1 line told; what followed: 1 changed and worked" in cli("doctor").stdout
    begin(hook, "s3")
    assert worked in about_to(hook, "s3", failed)


def test_session_that_began_without_a_daemon_is_told(
    hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str]
) -> None:
    failed, worked, _ = learnt
    daemon.stop()
    daemon.start()
    daemon.settle()
    lines = (about_to(hook, "s2", failed) for _ in range(50))
    assert worked in next(filter(None, lines), "")


def test_failed_call_is_told_the_cure(hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str]) -> None:
    _, worked, error = learnt
    begin(hook, "s2")
    assert worked in called(hook, "s2", "make all", error)
    assert called(hook, "s2", "make all", error) == ""


def test_forgotten_failure_is_told_no_more(hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str]) -> None:
    failed, *_ = learnt
    daemon.call("forget", session_id="s1")
    begin(hook, "s2")
    assert about_to(hook, "s2", failed) == ""
    assert failed.split()[0] not in (Path(daemon.home) / "actions").read_text("utf-8")


def test_call_that_works_later_is_told_no_more(hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str]) -> None:
    failed, *_ = learnt
    begin(hook, "s2")
    called(hook, "s2", failed)
    end(hook, daemon, "s2")
    assert about_to(hook, "s3", failed) == ""


def test_switched_off(hook: HookRunner, daemon: Daemon, learnt: tuple[str, str, str], home: Path) -> None:
    (home / "config.yaml").write_text("embedding: {provider: none}\nmoments: {at_action: false}\n")
    begin(hook, "s2")
    assert about_to(hook, "s2", learnt[0]) == "" and called(hook, "s2", "make all", learnt[2]) == ""


def test_odd_input_is_answered_with_nothing(hook: HookRunner, daemon: Daemon, home: Path) -> None:
    (home / "actions").write_bytes(b"tool\n")
    for sent in ODD:
        done = hook.raw("pre_tool_use", sent)
        assert (done.returncode, done.stdout) == (0, b""), sent
