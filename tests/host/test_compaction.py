"""The real host compacts.

Memories are flushed before it, once a cycle, and the question to the model is no memory.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memlayer.daemon.tasks.flush import SUMMARIZER_PRESETS
from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FACT = "결제 재시도는 최대 세 번으로 하기로 했어. 토스 한도 때문이야."
ANSWER = "네, 재시도를 최대 세 번으로 제한했습니다. `app/pay/retry.py` 에 있습니다."
MODEL, WINDOW = "claude-haiku-4-5", 200_000  # the newest host's usual model has a larger one
SECTIONS = ("Task Overview", "Work Completed", "Important Context", "Current State")
LIMIT = WINDOW - 24_000


def settings(claude: Claude, **flush: Any) -> None:
    """Write the user's settings, and start a daemon with them.

    A hook that comes before it only keeps its event.
    """
    claude.memlayer_home.mkdir(mode=0o700, exist_ok=True)
    claude.extra_environ["ANTHROPIC_MODEL"] = MODEL
    chosen = {"flush": flush, "embedding": {"provider": "none"}}
    (claude.memlayer_home / "config.yaml").write_text(json.dumps(chosen), encoding="utf-8")
    claude.settle()


def record(claude: Claude) -> dict[str, Any]:
    """The only session's record on disk; {} before there is one."""
    found = list((claude.memlayer_home / "sessions").glob("*.json"))
    return dict(json.loads(found[0].read_text())) if found else {}


def wait_for(claude: Claude, condition: Callable[[dict[str, Any]], bool], timeout_s: float = 30.0) -> dict[str, Any]:
    """The record, once it says so."""
    ends = time.monotonic() + timeout_s
    while not condition(found := record(claude)):
        assert time.monotonic() < ends, (found, claude.logs())
        time.sleep(0.05)
    return found


def flushes(claude: Claude) -> list[str]:
    """Return the daemon's log entry of each flush."""
    log = claude.memlayer_home / "logs" / "daemon.log"
    return [line for line in Path(log).read_text("utf-8").splitlines() if "flushed a session" in line]


def answering(tokens: dict[str, int], text: str = ANSWER) -> Callable[[Request], Answer]:
    """Return a script whose usage is that of `tokens` at each moment."""

    def script(request: Request) -> Answer:
        return replace(Answer(text=text), input_tokens=tokens["now"] - 12)

    return script


def test_compact_counts_once(claude: Claude) -> None:
    settings(claude, summarizer_line="Keep every [mem:id] citation as it is.")
    claude.api.script = answering({"now": 5_000})
    with claude.chat() as chat:
        chat.say(FACT)
        chat.say("두 번째 질문: 정산은 언제 돌아?")
        assert wait_for(claude, lambda one: one.get("total_tokens", 0) == 5_000)["compaction_count"] == 0
        chat.say("/compact 결정 위주로")
        wait_for(claude, lambda one: one["compaction_count"] == 1 and one["compact_awaits"] == "")
        wait_for(claude, lambda one: one["memory_flush_compaction_count"] == 0 and one["memory_flush_at"] > 0)
        chat.say("세 번째 질문: 배포는?")
        chat.say("/compact")
        wait_for(claude, lambda one: one["compaction_count"] == 2 and one["compact_awaits"] == "")
        wait_for(claude, lambda one: one["memory_flush_compaction_count"] == 1)
    summarizer = [request.text for request in claude.api.requests if "Additional Instructions:" in request.text]
    assert summarizer
    assert all("Keep every [mem:id] citation as it is." in text for text in summarizer)
    assert len(flushes(claude)) == 2
    assert claude.hook_failures() == []


def test_structured_preset_reaches_summarizer(claude: Claude) -> None:
    settings(claude, summarizer_line="structured")
    with claude.chat() as chat:
        chat.say(FACT)
        chat.say("두 번째 질문: 정산은 언제 돌아?")
        chat.say("/compact 결정 위주로")
        wait_for(claude, lambda one: one["compaction_count"] == 1 and one["compact_awaits"] == "")
    summarizer = [request.text for request in claude.api.requests if "Additional Instructions:" in request.text]
    assert summarizer
    for text in summarizer:
        instructions = text.rpartition("Additional Instructions:")[2]
        assert "결정 위주로" in instructions
        assert SUMMARIZER_PRESETS["structured"] in instructions
        places = [instructions.index(title) for title in SECTIONS]
        assert places == sorted(places)
    assert claude.hook_failures() == []


def test_aborted_compact_ends_no_cycle(claude: Claude) -> None:
    settings(claude)
    with claude.chat() as chat:
        chat.say("/compact")
        chat.say(FACT)
        found = wait_for(claude, lambda one: bool(one))
    claude.settle()
    assert found["compaction_count"] == 0
    assert claude.hook_failures() == []


def test_high_usage_flushes_once(claude: Claude) -> None:
    settings(claude)
    tokens = {"now": LIMIT - 1}
    claude.api.script = answering(tokens)
    with claude.chat() as chat:
        chat.say(FACT)
        below = wait_for(claude, lambda one: one.get("total_tokens", 0) == LIMIT - 1)
        assert below["memory_flush_compaction_count"] == -1
        tokens["now"] = LIMIT
        chat.say("그럼 정산 배치도 세 번까지만 재시도하게 해줘")
        wait_for(claude, lambda one: one["memory_flush_compaction_count"] == 0)
        tokens["now"] = LIMIT + 900
        chat.say("로그도 남기자")
        wait_for(claude, lambda one: one["total_tokens"] == LIMIT + 900)
        assert len(flushes(claude)) == 1
    assert any("세 번" in text for text in claude.memory_texts())
    assert claude.hook_failures() == []


def test_model_asked_once_no_turn(claude: Claude) -> None:
    settings(claude, ask_model=True)

    def script(request: Request) -> Answer:
        is_asked = "memlayer asks" in request.last_user_text
        return replace(Answer(text="NO_REPLY" if is_asked else ANSWER), input_tokens=LIMIT)

    claude.api.script = script
    with claude.chat() as chat:
        first = chat.say(FACT)
        second = chat.say("로그도 남기자, 재시도할 때마다")
    asked = [request for request in [*first, *second] if "memlayer asks" in request.last_user_text]
    assert len(asked) == 1, [request.last_user_text[:200] for request in [*first, *second]]
    assert "memlayer remember" in asked[0].last_user_text
    texts = claude.memory_texts()
    assert any("세 번" in text for text in texts)
    assert not [text for text in texts if "NO_REPLY" in text or "memlayer asks" in text]
    # How the host writes down that it went on.
    assert [one["type"] for one in claude.hook_failures()] == ["hook_blocking_error"]


def test_next_session_gets_summary(claude: Claude) -> None:
    settings(claude)
    edit = {"command": "printf 'retry = 3' > retry.toml"}

    def script(request: Request) -> Answer:
        if request.is_turn and not request.has_tool_result and "retry.toml" in request.last_user_text:
            return Answer(text="파일을 쓰겠습니다.", tool_uses=(("Bash", edit),))
        return Answer(text="재시도 횟수를 3으로 적었습니다.")

    claude.api.script = script
    allowed = ["-p", "--plugin-dir", str(claude.plugin), "--allowedTools", "Bash"]
    claude.run(allowed, stdin="결제 재시도 횟수를 retry.toml 에 적어줘")
    claude.settle()
    wait_for(claude, lambda one: one.get("summarized_ms", 0) > 0)
    claude.api.script = lambda request: Answer(text="네.")
    started = claude("안녕").turn.injected("SessionStart")
    assert "결제 재시도 횟수를 retry.toml 에 적어줘" in started, started
