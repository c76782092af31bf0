"""Recorded stdin, played to the real hook scripts without a daemon: exit 0, nothing on stderr, the right spool."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import HookRunner

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
FIXTURES = Path(__file__).parent.parent / "fixtures"
REGISTERED = json.loads((Path(__file__).parents[2] / "hooks.json").read_text())["hooks"]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path: Path, hook: HookRunner) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    hook.environment.update(case.get("env", {}))
    for name, text in case.get("files", {}).items():
        (hook.project / name).write_text(text)
    stdin = base64.b64decode(case["stdin_base64"]) if "stdin_base64" in case else json.dumps(case["stdin"]).encode()

    done = hook.raw(case["hook"], stdin)

    assert (done.returncode, done.stderr, done.stdout.decode()) == (0, b"", case["stdout"])
    assert len(hook.spooled) == len(case["spool"])
    for event, expected in zip(hook.spooled, case["spool"], strict=True):
        without, contains = expected.pop("without", []), expected.pop("contains", [])
        assert {name: event[name] for name in expected} == expected
        assert event["project_dir"] == str(hook.project)
        raw = json.dumps(event, ensure_ascii=False)
        assert not [text for text in without if text in raw]
        assert not [text for text in contains if text not in event["text"]]
    log = hook.home / "logs" / "hook.log"
    lines = log.read_text().splitlines() if log.exists() else []
    logged = "\n".join(line for line in lines if "daemon absent" not in line)  # as it is in every case
    assert case.get("log", "") in logged
    assert bool(logged) == ("log" in case)


def test_recorded_session(hook: HookRunner) -> None:
    """The hooks' payloads of a session recorded from host 2.1.197, in its order, as hooks.json asks for them."""
    names = {
        "SessionStart": "session_start",
        "UserPromptSubmit": "user_prompt_submit",
        "PostToolUse": "post_tool_use",
        "PostToolUseFailure": "post_tool_use_failure",
        "Stop": "stop",
        "SessionEnd": "session_end",
    }
    recorded = (FIXTURES / "hook_stdin_2.1.197.jsonl").read_text().splitlines()
    for line in filter(None, recorded):
        payload = json.loads(line)
        event = payload["hook_event_name"]
        if event in names and re.search(REGISTERED[event][0].get("matcher", ""), payload.get("tool_name", "")):
            done = hook.raw(names[event], line.encode())
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    kinds = [(event["kind"], event["text"]) for event in hook.spooled]
    assert kinds == [
        ("session_start", ""),
        ("user", "Please do the work"),
        ("tool", "Bash: echo hi && ls\nhi\nCLAUDE.md\nhello.txt\ntook 161 ms"),
        ("tool", "Write: /home/dev/shop/new.txt\ncreate, 2 lines\ntook 19 ms"),
        ("tool", "Edit: /home/dev/shop/new.txt\n- line1\n+ LINE1\ntook 7 ms"),
        ("tool", "Bash failed: false\nExit code 1\ntook 15 ms"),
        ("assistant", "All done: final answer."),
        ("session_end", ""),
    ]


def test_the_same_event_twice_is_one_file_a_moment_and_one_id(hook: HookRunner) -> None:
    for _ in range(2):
        hook("user_prompt_submit", prompt_id="p1", prompt="한 번만 저장되어야 한다")
    assert len({event["id"] for event in hook.spooled}) == 1


def test_spool_is_for_this_user_only(hook: HookRunner) -> None:
    hook("user_prompt_submit", prompt_id="p1", prompt="x y z")
    spool = hook.home / "spool"
    assert spool.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in spool.iterdir()] == [0o600]
