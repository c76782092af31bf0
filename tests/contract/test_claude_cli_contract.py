"""Calls of the host's command line, with a program in its place."""

import json
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.config import Settings
from memlayer.errors import ConsolidationError
from memlayer.ports import Completion, ModelMissing
from memlayer.providers import claude_cli
from memlayer.providers.chosen import ClaudeQuestions, language_model
from tests.support.waiting import wait_for

GOOD = {
    "type": "result", "subtype": "success", "is_error": False, "result": "포트는 8443이다",
    "total_cost_usd": 0.00031, "usage": {"input_tokens": 12, "cache_creation_input_tokens": 600,
    "cache_read_input_tokens": 88, "output_tokens": 40},
}  # fmt: skip
Program = Callable[[str], Path]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """Install a `claude` with this Python body; return its writable folder."""
    folder = tmp_path / "bin 폴더"
    folder.mkdir()
    monkeypatch.setenv("PATH", "%s:/usr/bin:/bin" % folder)
    monkeypatch.setattr(claude_cli, "USUAL_PLACES", ())

    def make(body: str) -> Path:
        path = folder / "claude"
        path.write_text(
            "#!%s\nimport json, os, subprocess, sys, time\nat = %r\n%s" % (sys.executable, str(folder), body)
        )
        path.chmod(0o755)
        return folder

    return make


def haiku() -> ClaudeQuestions:
    """The reader of sessions, in the environment of a daemon."""
    return language_model(Settings.model_validate({"consolidation": {"provider": "claude-cli"}}))


def ask(model: ClaudeQuestions, deadline_s: float = 20.0) -> Completion:
    return model.complete("SYSTEM", "질문 text", max_tokens=900, deadline_s=deadline_s)


def says(found: object) -> str:
    return "sys.stdin.read()\nprint(json.dumps(%r))\n" % (found,)


def is_alive(pid: int) -> bool:
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.strip().startswith("Z")


def test_call_and_parsed_answer(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_SESSION_ID", "s"),
        ("SECRET", "x"),
        ("CLAUDE_CONFIG_DIR", "/집"),
    ):
        monkeypatch.setenv(name, value)
    folder = program(
        "said = {'argv': sys.argv[1:], 'env': dict(os.environ), 'cwd': os.getcwd(), 'in_cwd': os.listdir('.'),\n"
        "        'stdin': sys.stdin.read(), 'leads': os.getpgid(0) == os.getpid()}\n"
        "open(at + '/said', 'w').write(json.dumps(said))\n"
        "print(json.dumps(%r))" % GOOD
    )
    done = ask(haiku())
    assert done == Completion("포트는 8443이다", 700, 40, 0.00031)
    said = json.loads((folder / "said").read_text())
    assert said["argv"][:-1] == [
        "-p", "--setting-sources", "", "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
        "--no-session-persistence", "--output-format", "json", "--max-turns", "1", "--model", "haiku",
        "--system-prompt-file",
    ]  # fmt: skip
    assert said["stdin"] == "질문 text"
    assert said["leads"] and said["in_cwd"] == [] and not os.path.exists(said["cwd"])
    environment = said["env"]
    assert environment["MEMLAYER_DISABLE"] == "1" and environment["MAX_THINKING_TOKENS"] == "0"
    assert environment["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] == "900" and environment["CLAUDE_CONFIG_DIR"] == "/집"
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "SECRET"} & set(environment)


def test_no_claude_is_said_clearly(program: Program) -> None:
    with pytest.raises(ModelMissing, match="no `claude` on the daemon's PATH"):
        ask(haiku())


def test_unstartable_program_is_reported(program: Program) -> None:
    (program("") / "claude").write_text("#!/no/such/interpreter\n")
    with pytest.raises(ModelMissing, match="cannot be started"):
        ask(haiku())


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("sys.exit(3)", "ended with exit code 3 and no answer"),
        ("print('Error: no network')", "and no answer"),
        ("print('[1, 2]')", "and no answer"),
        ("sys.stdout.buffer.write(b'\\xff\\x00{')", "and no answer"),
        (
            says({**GOOD, "is_error": True, "result": "Invalid API key\n · Please run /login"}),
            "Invalid API key · Please",
        ),
        (says({**GOOD, "is_error": True, "result": "key sk-ant-api03-" + "a1B2c3D4e5" * 9}), "key .redacted"),
        (says({"type": "result", "subtype": "error_max_turns"}), "error_max_turns"),
        (says({**GOOD, "result": ""}), "success"),
        (says({**GOOD, "result": 7}), "success"),
    ],
)
def test_a_failed_call_is_one_line(program: Program, body: str, told: str) -> None:
    program(body)
    with pytest.raises(ConsolidationError, match=told) as bad:
        ask(haiku())
    assert "\n" not in str(bad.value) and len(str(bad.value)) < 200


@pytest.mark.parametrize("usage", [None, [], "x", {"input_tokens": "many", "output_tokens": -4}])
def test_missing_usage_is_unknown(program: Program, usage: object) -> None:
    program("sys.stdin.read()\nprint(%r)" % json.dumps({**GOOD, "usage": usage, "total_cost_usd": None}))
    assert ask(haiku()) == Completion("포트는 8443이다", 0, 0, 0.0)


HANGS = (
    "child = subprocess.Popen(['sleep', '600'])\n"
    "open(at + '/pids.tmp', 'w').write('%d %d' % (os.getpid(), child.pid))\n"
    "os.rename(at + '/pids.tmp', at + '/pids')\n"
)


def pids(folder: Path) -> list[int]:
    wait_for((folder / "pids").exists)
    return [int(pid) for pid in (folder / "pids").read_text().split()]


def test_deadline_kills_process_group(program: Program) -> None:
    folder = program(HANGS + "time.sleep(600)")
    began = time.monotonic()
    with pytest.raises(ConsolidationError, match="was killed"):
        ask(haiku(), deadline_s=3.0)
    assert time.monotonic() - began < 9
    wait_for(lambda: not any(map(is_alive, pids(folder))))


@pytest.mark.parametrize("piece", ["b'a' * 65536", "'가나다'.encode() * 20000", "b'{\"result\": \"' + b'x' * 99999"])
def test_answer_without_end_is_one_line_and_little_memory(program: Program, piece: str) -> None:
    folder = program(HANGS + "piece = %s\nwhile True: sys.stdout.buffer.write(piece)" % piece)
    tracemalloc.start()
    try:
        with pytest.raises(ConsolidationError, match=r"without end \(over 4 MB\) and was killed") as bad:
            ask(haiku(), deadline_s=40.0)
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()
    assert "\n" not in str(bad.value)
    wait_for(lambda: not any(map(is_alive, pids(folder))))


def test_leftover_children_are_killed(program: Program) -> None:
    folder = program(HANGS.replace("'600']", "'600'], stdout=subprocess.DEVNULL") + says(GOOD))
    assert ask(haiku()).text == GOOD["result"]
    wait_for(lambda: not any(map(is_alive, pids(folder))))


def test_close_kills_running_call(program: Program) -> None:
    folder = program(HANGS + "time.sleep(600)")
    model = haiku()
    ended: list[str] = []

    def call() -> None:
        try:
            ask(model, deadline_s=50)
        except ConsolidationError as bad:
            ended.append(str(bad))

    calling = threading.Thread(target=call)
    calling.start()
    running = pids(folder)
    model.close()
    calling.join(10)
    assert ended and not calling.is_alive()
    wait_for(lambda: not any(map(is_alive, running)))
    with pytest.raises(ModelMissing, match="leaving"):
        ask(model)


def test_one_process_at_a_time(program: Program) -> None:
    program(
        "sys.stdin.read()\n"
        "try: os.close(os.open(at + '/busy', os.O_CREAT | os.O_EXCL))\n"
        "except FileExistsError: sys.exit(9)\n"
        "time.sleep(0.2)\nos.unlink(at + '/busy')\nprint(json.dumps(%r))" % GOOD
    )
    models = [haiku() for _ in range(3)]
    texts: list[str] = []
    calls = [threading.Thread(target=lambda model=model: texts.append(ask(model).text)) for model in models]
    for call in calls:
        call.start()
    for call in calls:
        call.join(30)
    assert texts == [GOOD["result"]] * 3


def test_unread_prompt_is_harmless(program: Program) -> None:
    program("os.close(0)\nprint(json.dumps(%r))" % GOOD)
    model = haiku()
    assert model.complete("S", "가" * 300_000, max_tokens=9, deadline_s=20).text == GOOD["result"]
