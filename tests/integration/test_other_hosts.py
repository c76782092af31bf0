"""Hooks of other hosts through a daemon: kept under their host, never mixed, never doubled."""

import json
from pathlib import Path
from typing import Any

from memlayer.adapters.lance.store import LanceStore
from memlayer.edge.home import paths
from memlayer.model import Event
from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

DECISION = "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야."


def send(hook: HookRunner, name: str, host: str = "", **fields: Any) -> bytes:
    done = hook.raw(name, json.dumps({"cwd": str(hook.project), **fields}, ensure_ascii=False).encode(), host=host)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def stored(home: Path, session: str) -> list[Event]:
    return LanceStore(Path(paths.store(str(home))), 384).events(session_id=session, limit=100)


def turn_of_codex(hook: HookRunner, prompt: str, turn: str = "t1") -> bytes:
    told = send(hook, "user_prompt_submit", "codex", session_id="x1", turn_id=turn, prompt=prompt)
    send(hook, "stop", "codex", session_id="x1", turn_id=turn, last_assistant_message="그렇게 하겠습니다.")
    return told


def test_codex_without_a_daemon_is_kept_the_same(hook: HookRunner) -> None:
    hook.forbid_background()
    turn_of_codex(hook, DECISION)
    assert [(event["host"], event["prompt_id"]) for event in hook.spooled] == [("codex", "t1")] * 2


def test_one_memory_under_two_hosts(daemon: Daemon, hook: HookRunner, cli: Cli) -> None:
    hook.turn("s1", "p1", DECISION, "네, 바꾸겠습니다.")
    daemon.settle()
    hook.environment |= {
        "CLAUDE_PROJECT_DIR": "/nowhere",
        "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
    }  # Codex within Claude Code
    told = json.loads(turn_of_codex(hook, "결제모듈을 뭘로 바꾸기로 했지?"))
    assert "포트원" in told["hookSpecificOutput"]["additionalContext"]
    daemon.settle()
    rows = json.loads(cli("sessions", "--all-projects", "--json").stdout)["sessions"]
    assert {row["id"]: (row["host"], row["is_run"]) for row in rows} == {"s1": ("", False), "x1": ("codex", False)}


def test_hook_called_twice_keeps_one_event(daemon: Daemon, hook: HookRunner) -> None:
    for _ in range(2):  # by the plugin, and by settings that the program reads as well
        send(hook, "user_prompt_submit", sessionId="v1", hookEventName="UserPromptSubmit", prompt="버튼 색을 바꿔 줘")
        send(hook, "user_prompt_submit", conversation_id="c1", generation_id="g1", prompt="버튼 색을 바꿔 줘")
    daemon.settle()
    for session in ("v1", "c1"):
        assert [event.kind for event in stored(hook.home, session)] == ["user"]


def test_failed_command_of_codex_is_a_failure(daemon: Daemon, hook: HookRunner, tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    item = {"type": "CommandExecution", "id": "call_9", "exit_code": 2}
    rollout.write_text(json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": item}}) + "\n")
    call = {"tool_name": "Bash", "tool_input": {"command": "make 배포"}, "tool_response": "권한 없음\n"}
    send(
        hook, "post_tool_use", "codex", session_id="x1", turn_id="t1", tool_use_id="call_9",
        transcript_path=str(rollout), **call,
    )  # fmt: skip
    daemon.settle()
    assert [event.text for event in stored(hook.home, "x1")] == ["Bash failed: make 배포\n권한 없음"]
