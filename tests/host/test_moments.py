"""What the real host hands the model at a tool call."""

from __future__ import annotations

import pytest

from tests.support.host.claude_run import Claude, Run
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FAILS = "sh -c 'echo pay.go:{}:3: undefined: 정산계좌 of shop >&2; exit 1' pay build --tags 정산"
WORKS = "sh -c 'exit 0' pay build --tags 정산"


def session(claude: Claude, *commands: str) -> Run:
    """Run a session in which the model makes these calls, one after the other."""
    waiting = list(commands)

    def script(request: Request) -> Answer:
        if not request.is_turn or not waiting:
            return Answer(text="확인했습니다. 정산이 됩니다.")
        return Answer(tool_uses=(("Bash", {"command": waiting.pop(0), "description": "정산"}),))

    claude.api.script = script
    done = claude.run(["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", "Bash"], stdin="정산이 되는지 봐 줘")
    assert done.returncode == 0, done.stderr
    claude.settle()
    return done


def test_known_error_reaches_the_model_beside_the_result(claude: Claude) -> None:
    first = session(claude, FAILS.format(3), WORKS)
    assert not any("then this worked" in turn.text for turn in first.turns)
    second = session(claude, FAILS.format(71), "echo ok", FAILS.format(72))
    behind_failure = second.turns[1]
    assert "undefined: 정산계좌" in behind_failure.text
    assert behind_failure.text.count("came in an earlier session; then this worked: " + WORKS) == 1
    assert "PostToolUseFailure" in behind_failure.text
    assert second.turns[-1].text.count("then this worked") == 1
    assert claude.hook_failures() == []


def test_call_that_succeeds_is_told_nothing(claude: Claude) -> None:
    session(claude, FAILS.format(3), WORKS)
    second = session(claude, WORKS, "echo ok")
    assert "then this worked" not in second.turns[-1].text
