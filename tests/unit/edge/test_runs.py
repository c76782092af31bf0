"""Prompts that a person typed, told from those of a run."""

import json
from typing import Any

import pytest

from memlayer.edge.capture.payload import COMMAND, NOISE, OWN_COMMAND, RUN, read_payload
from memlayer.edge.hook.main import with_facts
from memlayer.transcripts.reader import read_turns
from tests.support.transcripts import RECORDED, VERSIONS

ENTRY, ATTENDED, SCHEDULED = (
    b"CLAUDE_CODE_ENTRYPOINT",
    b"CLAUDE_CODE_SESSION_ATTENDED",
    b"CLAUDE_CODE_HOST_SCHEDULED_RUN",
)
# (environment of a hook, why nobody typed its prompts; "" for a person)
ENVIRONMENTS = [
    ({}, ""),
    ({ENTRY: b""}, ""),
    ({ENTRY: b"cli"}, ""),
    ({ENTRY: b"cli", ATTENDED: b"1"}, ""),
    ({ENTRY: b"cli", b"CI": b"true", b"GITHUB_ACTIONS": b"true"}, ""),
    ({ENTRY: b"cli", ATTENDED: b"0"}, "cli"),  # a background agent
    ({ATTENDED: b"0"}, "unattended"),
    ({ENTRY: b"sdk-cli"}, "sdk-cli"),
    ({ENTRY: b"sdk-cli", ATTENDED: b"0"}, "sdk-cli"),
    ({ENTRY: b"sdk-cli", ATTENDED: b"1"}, "sdk-cli"),  # an older host, below the shell of a newer one
    ({ENTRY: b"sdk-py"}, "sdk-py"),
    ({ENTRY: b"sdk-ts", ATTENDED: b"0"}, "sdk-ts"),
    ({ENTRY: b"claude-code-github-action"}, "claude-code-github-action"),
    ({ENTRY: b"remote_trigger"}, "remote_trigger"),
    ({ENTRY: b"mcp"}, "mcp"),
    ({ENTRY: b"claude-vscode"}, ""),
    ({ENTRY: b"claude-vscode", ATTENDED: b"1"}, ""),
    ({ENTRY: b"claude-vscode", ATTENDED: b"0"}, "claude-vscode"),  # `claude -p` in an editor's session
    ({ENTRY: b"claude-desktop"}, ""),
    ({ENTRY: b"claude-desktop", ATTENDED: b"1", SCHEDULED: b"1"}, "scheduled"),
    ({ENTRY: b"remote_mobile"}, ""),
    ({ENTRY: b"SDK-CLI"}, "SDK-CLI"),
    ({ENTRY: b"nightly-bot"}, "nightly-bot"),
    ({ENTRY: b"claude-new-editor", ATTENDED: b"1"}, ""),
    ({ENTRY: b'cli","prompt":"x'}, "other"),
    ({ENTRY: "한글".encode()}, "other"),
]


@pytest.mark.parametrize(("environ", "why"), ENVIRONMENTS)
def test_environment_tells_a_run(environ: dict[bytes, bytes], why: str) -> None:
    start = {"session_id": "s1", "source": "startup"}
    asked = {"session_id": "s1", "prompt_id": "p1", "prompt": '앞으로 {커밋} 메시지는 "영어"로 써줘'}
    for raw in (json.dumps(start), json.dumps(start, indent=1) + "\n"):
        event = read_payload("session_start", with_facts(raw.encode(), environ), project_dir="/p", at_ms=1).event
        assert event is not None and event["text"] == why
    raw = json.dumps(asked, ensure_ascii=False)
    event = read_payload("user_prompt_submit", with_facts(raw.encode(), environ), project_dir="/p", at_ms=1).event
    assert event is not None and (event["text"], event["detail"]) == (asked["prompt"], RUN if why else "")


@pytest.mark.parametrize("raw", [b"", b"not JSON", b"{", b"[]"])
def test_what_is_no_object_stays_unread(raw: bytes) -> None:
    read = read_payload("user_prompt_submit", with_facts(raw, {ENTRY: b"sdk-cli"}), project_dir="/p", at_ms=1)
    assert read.event is None and read.problem


@pytest.mark.parametrize(
    ("prompt", "typed", "sent"),
    [
        ("/review always in JSON", COMMAND, RUN),
        ("/memlayer:memory-list", OWN_COMMAND, OWN_COMMAND),
        ("<task-notification>done</task-notification>", NOISE, NOISE),
    ],
)
def test_other_prompts_of_a_run(prompt: str, typed: str, sent: str) -> None:
    raw = json.dumps({"session_id": "s1", "prompt_id": "p1", "prompt": prompt}).encode()
    for environ, detail in (({ENTRY: b"cli"}, typed), ({ENTRY: b"sdk-cli"}, sent)):
        event = read_payload("user_prompt_submit", with_facts(raw, environ), project_dir="/p", at_ms=1).event
        assert event is not None and event["detail"] == detail


HUMAN = {"kind": "human"}
RECORDS = [
    ({}, False),
    ({"entrypoint": "cli", "promptSource": "typed", "origin": HUMAN}, False),
    ({"entrypoint": "sdk-cli", "promptSource": "sdk"}, True),
    ({"entrypoint": "sdk-py", "promptSource": "sdk", "turnOrigin": "sdk"}, True),
    ({"entrypoint": "sdk-ts"}, True),
    ({"entrypoint": "sdk-ts", "promptSource": "sdk", "origin": HUMAN}, False),  # its application says so
    ({"entrypoint": "claude-vscode", "promptSource": "sdk"}, False),
    ({"entrypoint": "remote_mobile", "promptSource": "sdk", "origin": HUMAN}, False),
    ({"entrypoint": "nightly-bot", "promptSource": "sdk"}, True),
    ({"entrypoint": "nightly-bot", "promptSource": "typed"}, False),
    ({"entrypoint": "cli", "promptSource": "typed", "origin": HUMAN, "sessionKind": "bg"}, True),
    ({"promptSource": "sdk"}, True),
    ({"entrypoint": 7, "promptSource": None, "origin": "human", "sessionKind": None}, False),
]


@pytest.mark.parametrize(("facts", "is_run"), RECORDS)
def test_record_tells_a_run(facts: dict[str, Any], is_run: bool, tmp_path: Any) -> None:
    path = tmp_path / "s1.jsonl"
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "영어로 써줘"}}
    path.write_text(json.dumps({**line, **facts}) + "\n")
    [record] = read_turns(str(path))
    assert record.is_run is is_run


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_hosts_tell_runs_from_a_terminal(version: str) -> None:
    for name, is_run in (("resumed", True), ("interrupted", True), ("tui_escaped", False), ("tui_cleared", False)):
        prompts = [
            row for row in read_turns(str(RECORDED / f"transcript_{name}_{version}.jsonl")) if row.kind == "user"
        ]
        assert prompts and {row.is_run for row in prompts} == {is_run}, name
