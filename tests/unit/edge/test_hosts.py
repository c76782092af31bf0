"""Payloads of other hosts under our names, and the output each reads."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture.hosts import CLAUDE, CODEX, CURSOR, HOSTS, VSCODE, host_of, read_fields
from memlayer.edge.capture.payload import read_payload

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "host"
RECORDED = (FIXTURES / "codex_hook_stdin_0.171.0.jsonl").read_text(encoding="utf-8").splitlines()
CLAUDES = [
    line for path in sorted(FIXTURES.glob("hook_stdin_*.jsonl")) for line in path.read_text("utf-8").splitlines()
]
FAILED = {"type": "event_msg", "payload": {"item": {"type": "CommandExecution", "id": "call_2", "exit_code": 3}}}


def read(hook: str, **fields: Any) -> Any:
    raw = json.dumps({"cwd": "/", **fields}, ensure_ascii=False).encode()
    return read_payload(hook, raw, project_dir="", at_ms=1)


def of_codex(hook: str, **fields: Any) -> Any:
    return read(hook, host="codex", session_id="s1", turn_id="t1", **fields)


def test_recorded_codex_payloads_become_events() -> None:
    kinds = Counter[str]()
    for line in RECORDED:
        sent = json.loads(line)
        hook = CODEX.hooks[sent["hook_event_name"]][0]
        if hook in ("pre_tool_use", "subagent_start"):
            continue
        payload = read(hook, **{**sent, "cwd": "/", "host": "codex"})
        event = payload.event
        if "agent_id" in sent or sent["hook_event_name"] == "Interrupt":
            assert (event, payload.problem) == (None, "sub-agent" if "agent_id" in sent else "no answer")
            continue
        assert event is not None and event["host"] == "codex"
        assert event["prompt_id"] == (sent["turn_id"] if event["kind"] in ("user", "assistant", "tool") else "")
        kinds[str(event["kind"])] += 1
    assert kinds == {
        "session_start": 3, "user": 3, "assistant": 3, "tool": 2, "session_end": 2, "pre_compact": 1, "post_compact": 1,
    }  # fmt: skip


def test_claude_codes_own_payloads_name_no_other_host() -> None:
    assert len(CLAUDES) > 100
    assert {host_of(json.loads(line)).title for line in CLAUDES} == {"Claude Code"}


def test_unknown_name_is_no_host() -> None:
    assert host_of({"host": "rm -rf"}) is host_of({"host": 7}) is host_of({"host": ["codex"]}) is CLAUDE


@pytest.mark.parametrize(
    ("response", "is_failed"),
    [("Exit code: 0\n출력", False), ("Exit code: 2\n없는 파일", True),
     ("Wall time: 1\nProcess exited with code 1\n", True), ({"isError": True, "content": []}, True),
     ({"content": [{"type": "text", "text": "ok"}]}, False)],
)  # fmt: skip
def test_exit_code_in_the_output_is_read(response: object, is_failed: bool) -> None:
    call = {"tool_name": "Bash", "tool_input": {"command": "make 배포"}, "tool_use_id": "call_1"}
    event = of_codex("post_tool_use", tool_response=response, **call).event
    assert event["detail"] == ("Bash failed" if is_failed else "Bash")


@pytest.mark.parametrize(("call_id", "detail"), [("call_2", "Bash failed"), ("call_1", "Bash"), ("call", "Bash")])
def test_exit_code_of_the_transcript_is_read(tmp_path: Path, call_id: str, detail: str) -> None:
    rollout = tmp_path / "rollout.jsonl"
    ok = json.loads(json.dumps(FAILED).replace("call_2", "call_1").replace("3", "0"))
    rollout.write_text("".join(json.dumps(line) + "\n" for line in (ok, FAILED)) + '{"id":"call_2","exit_code"')
    call = {"tool_name": "Bash", "tool_input": {"command": "make 배포"}, "tool_response": "없음\n"}
    event = of_codex("post_tool_use", tool_use_id=call_id, transcript_path=str(rollout), **call).event
    assert event["detail"] == detail and event["text"].endswith("없음")


@pytest.mark.parametrize(("source", "detail"), [("exec", "run"), ("mcp", "run"), ("cli", ""), ("vscode", "")])
def test_program_that_begins_a_session_types_nothing(tmp_path: Path, source: str, detail: str) -> None:
    rollout = tmp_path / "rollout.jsonl"
    meta = {"cwd": '/x/"source":"exec"', "source": source, "base_instructions": {"text": '"source":"exec"'}}
    rollout.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")
    event = of_codex("user_prompt_submit", prompt="앞으로 커밋은 영어로", transcript_path=str(rollout)).event
    assert event["detail"] == detail


def test_patch_becomes_an_edit_of_its_file() -> None:
    patch = "*** Begin Patch\n*** Update File: src/장바구니.py\n@@\n-합계 = 1\n+합계 = 0\n*** End Patch\n"
    call = {"tool_name": "apply_patch", "tool_input": {"command": patch}, "tool_response": "Exit code: 0\n"}
    event = of_codex("post_tool_use", tool_use_id="c", **call).event
    assert event["text"] == "Edit: /src/장바구니.py\n- 합계 = 1\n+ 합계 = 0"


def test_vs_code_is_known_by_its_spelling() -> None:
    sent = {"sessionId": "v1", "hookEventName": "UserPromptSubmit", "prompt": "버튼 색을 바꿔"}
    payload = read("user_prompt_submit", **sent)
    assert (payload.host, payload.session_id, payload.event["host"]) == (VSCODE, "v1", "vscode")
    call = {"toolName": "run_in_terminal", "toolInput": {"command": "npm 빌드"}, "toolResponse": "끝", "toolUseId": "u"}
    assert read("post_tool_use", sessionId="v1", **call).event["text"] == "Bash: npm 빌드\n끝"
    call = {"tool_name": "create_file", "tool_input": {"filePath": "/x/가.ts", "content": "1\n"}, "tool_use_id": "u2"}
    assert read("post_tool_use", sessionId="v1", **call).event["text"] == "Write: /x/가.ts\nwrite, 1 lines"


def test_cursor_is_known_by_its_conversation(tmp_path: Path) -> None:
    sent = {"conversation_id": "c1", "generation_id": "g1", "workspace_roots": [str(tmp_path)], "cwd": None}
    payload = read("user_prompt_submit", prompt="결제 모듈 고쳐", **sent)
    assert (payload.host, payload.session_id, payload.prompt_id) == (CURSOR, "c1", "g1")
    assert payload.event["project_dir"] == str(tmp_path)
    assert read("user_prompt_submit", prompt="결제 모듈 고쳐", **sent).event["id"] == payload.event["id"]


def test_call_without_a_session_is_kept_nowhere() -> None:
    for sent in ({"hookEventName": "Stop"}, {"generation_id": "g"}, {"host": "codex", "turn_id": "t"}):
        assert read("user_prompt_submit", prompt="안녕하세요", **sent).problem == "no session_id"


def test_context_stays_within_the_bytes_of_codex() -> None:
    context = "\n".join("줄 %d: 가나다라마바사" % n for n in range(400))
    told = json.loads(CODEX.output("session_start", context))["hookSpecificOutput"]["additionalContext"]
    assert 9_900 < len(told.encode()) <= 10_000 and context.startswith(told + "\n")
    assert json.loads(CLAUDE.output("session_start", context))["hookSpecificOutput"]["additionalContext"] == context


def test_only_known_fields_are_printed() -> None:
    hooks = {hook for hook, _, _ in CODEX.hooks.values()}
    for host in HOSTS.values():
        for hook in hooks:
            printed = host.output(hook, "기억", "알림: /memlayer:memory-review")
            if host is CLAUDE and hook == "pre_compact":
                assert printed == "기억".encode()
                continue
            said = json.loads(printed or b"{}")
            assert set(said) <= {"hookSpecificOutput", "systemMessage"}
            assert ("hookSpecificOutput" in said) == (hook in host.reads)
            own = "/memlayer:memory-review" if host is CLAUDE else "memlayer review"
            assert said.get("systemMessage", "알림: " + own) == "알림: " + own
    assert CODEX.output("session_end", "기억", "알림") == CODEX.output("pre_compact", "기억", "알림") == b""


@pytest.mark.parametrize("raw", [b"", b"[]", b"\xff{", b'{"host": "codex"', b"7"])
def test_no_object_is_told(raw: bytes) -> None:
    with pytest.raises(ValueError, match="stdin is not"):
        read_fields(raw)


def test_odd_values_do_no_harm() -> None:
    for value in (7, [], {}, None, True):
        sent = {
            name: value for name in ("turn_id", "transcript_path", "tool_name", "tool_input", "tool_response", "cwd")
        }
        for hook in ("post_tool_use", "user_prompt_submit", "stop", "session_start"):
            read(hook, **{**sent, "host": "codex", "session_id": "s", "sessionId": value, "conversation_id": value})
