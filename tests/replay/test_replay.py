"""Recorded stdin, played to the real hook scripts without a daemon: exit 0, nothing on stderr, the right spool."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from tests.support.processes import HookRunner

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
FIXTURES = Path(__file__).parent.parent / "fixtures"
BROKEN = (
    (b"", "not JSON"),
    (b'{"session_id": "x", ', "not JSON"),
    (b"\xff\xfe\x00{", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b"[1, 2]", "not a JSON object"),
)
REGISTERED = json.loads((Path(__file__).parents[2] / "hooks.json").read_text())["hooks"]
STEMS = {event: re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower() for event in REGISTERED}
SILENT = ("user_prompt_expansion", "subagent_start", "pre_tool_use")  # keep no event


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


@pytest.mark.parametrize("stem", STEMS.values())
def test_broken_stdin_of_every_hook_is_passed_over_and_logged(stem: str, hook: HookRunner) -> None:
    for stdin, problem in BROKEN:
        done = hook.raw(stem, stdin)
        assert (done.returncode, done.stderr, done.stdout, hook.spooled) == (0, b"", b"", [])
        log = hook.home / "logs" / "hook.log"
        assert stem in SILENT or problem in log.read_text()


def test_recorded_session(hook: HookRunner) -> None:
    """The hooks' payloads of a session recorded from host 2.1.197, in its order, as hooks.json asks for them."""
    recorded = (FIXTURES / "hook_stdin_2.1.197.jsonl").read_text().splitlines()
    for line in filter(None, recorded):
        payload = json.loads(line)
        event = payload["hook_event_name"]
        if event in STEMS and re.search(REGISTERED[event][0].get("matcher", ""), payload.get("tool_name", "")):
            done = hook.raw(STEMS[event], line.encode())
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


@pytest.mark.parametrize("version", ["2.1.197", "2.1.332"])
def test_recorded_commands_tasks_and_subagent(version: str, hook: HookRunner) -> None:
    """An own command's words, tasks made and closed, a subagent, as both hosts send them; 2.1.332 the prompt first."""
    for line in (FIXTURES / "host" / ("hook_stdin_commands_%s.jsonl" % version)).read_text().splitlines():
        payload = json.loads(line)
        done = hook.raw(STEMS[payload["hook_event_name"]], line.encode())
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        if payload["hook_event_name"] == "UserPromptExpansion":
            words = spool.take_typed(str(hook.home), payload["session_id"], spool.own_command(payload["command_name"]))
            assert words is not None and (words["text"], words["problem"]) == (payload["command_args"], "")
    kept = [(event["kind"], event["text"]) for event in hook.spooled if not event["text"].startswith("<task-not")]
    assert kept[:3] == [
        ("user", "/memlayer:memory-remember 배포는 항상 화요일 오전에 한다, use `make deploy`"),
        ("user", "/memory-search deploy 화요일"),
        ("user", "MAINTASK: 정리해 줘"),
    ]
    assert [(kind, *json.loads(text)["observed"]) for kind, text in kept[3:]] == [
        ("task", {"wish": wish, "ref": "1", "title": "정산 rounding 고치기"}) for wish in ("created", "done")
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
