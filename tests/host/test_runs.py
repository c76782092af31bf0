"""Sessions of the real host that a person types, and those that `claude -p` begins."""

import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import termios
import time
from contextlib import suppress
from typing import Any

import pytest

from tests.host.test_claude_cli_model import settle, with_host
from tests.host.test_notes import ANSWER, PROMPT, is_reading
from tests.support.host.claude_run import AS_RUN, Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(400)]

WISH = "정산 테스트는 샌드박스 상점 test-shop-2에서만 돌린다."
QUOTE = "정산 테스트는 샌드박스 상점 test-shop-2에서만 돌려"
RUN = "정산 쪽 테스트 설정을 점검하고 고칠 것을 고쳐줘. 결과는 표로 정리해줘."
FOUND = "정산 테스트를 test-shop-9에서 돌리도록 설정을 고쳤고, 열두 개가 모두 통과했습니다. " * 3
CLAIMED = "정산 테스트를 test-shop-9에서"
CLAIM = "정산 테스트는 test-shop-9에서 돌린다."
RULE = "앞으로 모든 커밋 메시지는 영어로 써줘"
SCREEN = struct.pack("HHHH", 40, 120, 0, 0)


def listed(claude: Claude) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = claude.memlayer("list", "core")["memories"]
    return rows


def cores(claude: Claude) -> list[str]:
    return [row["text"] for row in listed(claude)]


def test_run_claims_and_replaces_no_word_of_a_person(claude: Claude) -> None:
    def script(request: Request) -> Answer:
        if not is_reading(request):
            return Answer(text=FOUND if RUN in request.text else ANSWER)
        note = {"kind": "fact", "text": WISH, "quote": QUOTE, "turn": 1}
        cited = [row["citation"] for row in listed(claude) if row["text"] == WISH]
        if cited:
            note = {"kind": "fact", "text": CLAIM, "quote": CLAIMED, "turn": 1, "replaces": cited}
        answer = {"summary": "정산 테스트의 상점을 정함.", "notes": [note], "tasks": [], "drop": cited}
        return Answer(text=json.dumps(answer, ensure_ascii=False))

    claude.api.script = script
    claude.extra_environ["PATH"] = with_host(claude)
    claude.memlayer_home.mkdir(mode=0o700)
    (claude.memlayer_home / "config.yaml").write_text("embedding: {provider: none}\n")
    claude.memlayer("notes", "on", "--provider", "claude-cli", "--yes")
    claude(PROMPT)
    claude.settle()
    assert settle(lambda: WISH in cores(claude)), json.dumps(claude.memlayer("notes", "status"))
    claude(RUN, environ=AS_RUN)
    claude.settle()
    assert settle(lambda: "실행의 주장: " + CLAIM in cores(claude)), json.dumps(claude.memlayer("notes", "status"))
    assert WISH in cores(claude)
    assert claude.hook_failures() == []


def test_session_that_is_typed_is_no_run(claude: Claude) -> None:
    """Also one that `claude -p` began, once a person resumes it."""
    claude.api.script = lambda request: Answer(text="네.")
    claude(RUN, session="11111111-1111-4111-8111-111111111111", environ=AS_RUN)
    claude.settle()
    [begun] = claude.memlayer("sessions")["sessions"]
    assert (begun["is_run"], begun["run_by"]) == (True, "sdk-cli")
    type_into(claude, ["--resume", begun["id"]], "이어서 요일만 정하자")
    claude.settle()
    [resumed] = claude.memlayer("sessions")["sessions"]
    assert (resumed["id"], resumed["is_run"]) == (begun["id"], False)
    assert resumed["said_ms"] > begun["said_ms"]


@pytest.mark.parametrize("entry", ["cli", "sdk-py", "claude-desktop"])
def test_prompt_of_a_run_is_no_rule(claude: Claude, entry: str) -> None:
    """Of the host's own name for it, by its hooks and by an import of its transcript."""
    claude.api.script = lambda request: Answer(text="네.")
    claude(RULE, environ={"CLAUDE_CODE_ENTRYPOINT": entry})
    claude.settle()
    rules = [RULE] if entry == "claude-desktop" else []
    assert cores(claude) == rules
    claude.memlayer("daemon", "stop")
    shutil.rmtree(claude.memlayer_home)
    [transcript] = claude.transcripts()
    os.utime(transcript, (1, 1))  # one of the last minute may go on
    assert claude.memlayer("import", str(transcript))["new_turns"] == 1
    assert cores(claude) == rules


def type_into(claude: Claude, arguments: list[str], prompt: str) -> None:
    """Type a prompt into the host on a terminal, and end it."""
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [claude.environ["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {str(claude.project): project},
    }
    (claude.home / ".claude.json").write_text(json.dumps(known))
    command = [str(claude.host.claude), "--plugin-dir", str(claude.plugin), *arguments]
    asked = len(claude.api.requests)
    child, screen = pty.fork()
    if child == 0:
        os.chdir(claude.project)
        os.execve(command[0], command, {**claude.environ, **AS_RUN, "TERM": "xterm-256color"})
    fcntl.ioctl(screen, termios.TIOCSWINSZ, SCREEN)
    try:
        shown = read_for(screen, 8)
        os.write(screen, prompt.encode())
        shown += read_for(screen, 1)
        os.write(screen, b"\r")
        ends = time.monotonic() + 30
        while not any(prompt in row.text for row in claude.api.requests[asked:]) and time.monotonic() < ends:
            shown += read_for(screen, 0.5)
        shown += read_for(screen, 2)
        assert any(prompt in row.text for row in claude.api.requests[asked:]), shown[-3000:]
    finally:
        os.kill(child, signal.SIGTERM)
        read_for(screen, 3)
        with suppress(ChildProcessError):
            os.waitpid(child, 0)
        os.close(screen)


def read_for(screen: int, seconds: float) -> bytes:
    """Return the output of a terminal for so long, so that it never fills."""
    out, ends = b"", time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        if select.select([screen], [], [], left)[0]:
            try:
                out += os.read(screen, 65536)
            except OSError:
                return out
    return out
