"""The real host as a language model.

The request that reaches the API, and that nothing else happens.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.config import Settings
from memlayer.config.consolidation import ConsolidationSettings
from memlayer.errors import ConsolidationError
from memlayer.notes.request import system_prompt
from memlayer.providers.chosen import ClaudeQuestions, language_model
from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, MessagesApi, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

TURN = "User: 결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어.\nAssistant: 웹훅 포트는 8443입니다."
SUMMARY = "결제 모듈을 토스페이먼츠에서 포트원으로 바꾸기로 했다."
DECISION = "결제 모듈은 토스페이먼츠가 아니라 포트원을 쓴다고 정했다."
NOTE = {
    "kind": "decision",
    "text": DECISION,
    "quote": "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어",
    "turn": 1,
}
SAID = json.dumps({"summary": SUMMARY, "notes": [NOTE], "tasks": [], "drop": []}, ensure_ascii=False)
SYSTEM = system_prompt()
CLI = Settings(consolidation=ConsolidationSettings(provider="claude-cli"))


@pytest.fixture
def model(claude: Claude, monkeypatch: pytest.MonkeyPatch) -> ClaudeQuestions:
    """Return the adapter with the environment of this user's daemon."""
    for name, value in claude.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", with_host(claude))
    return language_model(CLI)


def with_host(claude: Claude) -> str:
    return "%s:%s" % (claude.host.claude.parent, claude.environ["PATH"])


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content, and the folders."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"" for path in found}


def processes(word: str) -> list[str]:
    """Command lines of live processes that hold this word."""
    listed = subprocess.run(["ps", "-A", "-o", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if word in line and not line.startswith("Z")]


def settle(condition: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 10
    while not condition() and time.monotonic() < ends:
        time.sleep(0.05)
    return condition()


def test_request_holds_two_texts_only(claude: Claude, api: MessagesApi, model: ClaudeQuestions) -> None:
    """Hooks in the user's settings and a CLAUDE.md are present.

    A plain call would take notice of them.
    """
    ran = claude.home.parent / "hook ran"
    hook = {"hooks": [{"type": "command", "command": "touch '%s'" % ran}]}
    (claude.home / ".claude").mkdir()
    told = {"hooks": {event: [hook] for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")}}
    (claude.home / ".claude" / "settings.json").write_text(json.dumps(told))
    (claude.home / ".claude" / "CLAUDE.md").write_text("Always mention bananas.")
    claude.is_plugin_loaded = False
    claude("hello")  # the user's own call: there the hook runs, so its silence below means something
    assert ran.exists()
    ran.unlink()
    mine = len(api.requests)
    api.script = lambda request: Answer(text=SAID)
    before = files(claude.home)
    done = model.complete(SYSTEM, TURN, max_tokens=1500, deadline_s=60)

    assert json.loads(done.text) == json.loads(SAID)
    assert done.input_tokens == 12 and done.output_tokens > 0 and done.cost_usd > 0
    [request] = api.requests[mine:]
    assert not request.body.get("tools")
    assert "haiku" in request.body["model"]
    assert request.body["max_tokens"] <= 1500
    system = json.dumps(request.body["system"], ensure_ascii=False)
    assert "You are the memory of a software project" in system and "They are data" in system
    assert len(json.dumps(request.body, ensure_ascii=False)) < 2500 + len(json.dumps(SYSTEM, ensure_ascii=False)) + len(
        TURN
    )
    assert TURN in request.text
    assert "bananas" not in json.dumps(request.body)
    assert not ran.exists()
    after = files(claude.home)
    assert set(after) == set(before)
    # The newest versions keep a counter of their built-in plugins, with the number of the session and nothing else.
    changed = {path for path in after if after[path] != before[path]}
    assert {str(Path(path).parent) for path in changed} <= {".claude/plugins/store"}
    assert not any("포트원".encode() in content for content in after.values())


@pytest.mark.parametrize(
    ("status", "told"), [(401, "Failed to authenticate"), (404, "selected model"), (500, "API Error: 500")]
)
def test_api_error_is_one_line(api: MessagesApi, model: ClaudeQuestions, status: int, told: str) -> None:
    api.script = lambda request: Answer(text="no way", status=status)
    with pytest.raises(ConsolidationError, match="claude-cli: .*" + told) as bad:
        model.complete("S-%d" % os.getpid(), TURN, max_tokens=900, deadline_s=20)
    assert "\n" not in str(bad.value) and "포트원" not in str(bad.value)
    assert settle(lambda: not processes("S-%d" % os.getpid()))


def test_hanging_api_killed_at_deadline(api: MessagesApi, model: ClaudeQuestions) -> None:
    api.script = lambda request: Answer(hang=True)
    system = "HANG-%d" % os.getpid()
    began = time.monotonic()
    with pytest.raises(ConsolidationError, match="was killed"):
        model.complete(system, TURN, max_tokens=900, deadline_s=12)
    assert time.monotonic() - began < 20
    assert api.requests, "it had not got as far as the API"
    assert settle(lambda: not processes(system))


def test_host_call_is_no_turn(claude: Claude, api: MessagesApi) -> None:
    """The plugin, its daemon and the nested call of a user."""

    def script(request: Request) -> Answer:
        is_ours = "You are the memory of a software project" in json.dumps(request.body.get("system", ""))
        return Answer(text=SAID if is_ours else "웹훅 포트는 8443으로 두었습니다.")

    api.script = script
    claude.extra_environ["PATH"] = with_host(claude)
    claude.memlayer_home.mkdir(mode=0o700)
    (claude.memlayer_home / "config.yaml").write_text(
        "consolidation: {provider: claude-cli, reads: turn}\nembedding: {provider: none}\n"
    )
    claude.memlayer("daemon", "restart")
    claude("결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야.")
    claude.settle()

    def memories(category: str) -> list[str]:
        return [one["text"] for one in claude.memlayer("list", category)["memories"]]

    assert settle(lambda: memories("core") == [DECISION]), memories("core")
    assert settle(lambda: SUMMARY in memories("daily")), memories("daily")
    [ours] = [
        one
        for one in api.requests
        if "You are the memory of a software project" in json.dumps(one.body.get("system", ""))
    ]
    assert "포트원" in ours.text and "Memory context" not in ours.text
    assert len(memories("conversation")) == 1
    spent = claude.memlayer("stats")["daemon"]["language_model"]
    assert spent["today"]["calls"] == spent["all"]["calls"] == 1
    assert 0 < spent["today"]["tokens"] < 6000 and spent["problem"] == ""
    assert claude.hook_failures() == []
