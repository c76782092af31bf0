"""A daemon that has a language model read after each turn.

Capture does not wait for it, `stats` counts, the rules stand by.
"""

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_api import Asked, ModelApi, Said, chat_answer
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
PROMPT = "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어. 정산 주기 때문이야."
ANSWER = "알겠습니다. 웹훅 포트는 8443으로 두었습니다."
STATEMENT = "결제 모듈은 토스페이먼츠가 아니라 포트원을 쓰기로 정했다."
SUMMARY = "결제 모듈을 토스페이먼츠에서 포트원으로 바꾸기로 했다."
NOTE = {
    "kind": "decision", "text": STATEMENT, "quote": "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어", "turn": 1,
}  # fmt: skip
GOOD = json.dumps({"summary": SUMMARY, "notes": [NOTE], "tasks": [], "drop": []}, ensure_ascii=False)


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as served:
        yield served


@pytest.fixture
def reading(api: ModelApi, home: Path) -> Iterator[Callable[..., Daemon]]:
    """Start a daemon whose turns a scripted model reads."""
    running: list[Daemon] = []

    def start(**settings: object) -> Daemon:
        chosen: dict[str, Any] = {
            "provider": "openai",
            "model": "tiny",
            "base_url": api.url + "/v1",
            "reads": "turn",
            **settings,
        }
        found = Daemon(ROOT, home, {"embedding": {"provider": "none"}, "consolidation": chosen})
        running.append(found)
        return found.start()

    yield start
    for one in running:
        one.stop()


def core(daemon: Daemon, category: str = "core") -> list[str]:
    return [one["text"] for one in daemon.call("list", category=category)["memories"]]


def spent(daemon: Daemon) -> dict[str, Any]:
    return dict(daemon.call("stats")["daemon"]["language_model"])


def test_model_reads_a_turn_of_a_session_that_goes_on(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner
) -> None:
    api.script = lambda asked: Said(chat_answer(GOOD))
    daemon = reading()
    hook.turn("s1", "p1", PROMPT, ANSWER)
    daemon.settle()
    daemon.wait_for(lambda: STATEMENT in core(daemon), "core memory")
    daemon.wait_for(lambda: SUMMARY in core(daemon, "daily"), "summary")
    assert core(daemon) == [STATEMENT]
    [asked] = api.asked
    assert PROMPT in asked.body["messages"][1]["content"]
    said = spent(daemon)
    assert (said["provider"], said["model"], said["is_on"], said["lacks"]) == ("openai", "tiny", True, "")
    assert said["today"] == {"calls": 1, "tokens": 760, "cost_usd": 0.0} == said["all"]
    assert (said["reads"], said["daily_tokens"], said["problem"]) == ("turn", 200_000, "")
    hook.turn("s1", "p2", "고마워!", "천만에요.")
    hook("session_end", session_id="s1", reason="other")
    daemon.settle()
    assert len(api.asked) == 1


def test_slow_model_delays_nothing(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    asked_for, answer = threading.Event(), threading.Event()

    def slow(asked: Asked) -> Said:
        asked_for.set()
        answer.wait(30)
        return Said(chat_answer(GOOD))

    api.script = slow
    daemon = reading()
    hook.turn("s1", "p1", PROMPT, ANSWER)
    daemon.settle()
    assert asked_for.wait(20)
    hook.turn("s1", "p2", "The API listens on port 9443 from now on, Kim owns it.", "Noted: port 9443, owner Kim.")

    def is_found() -> bool:
        found = daemon.call("search", query="9443", project_dir=str(hook.project))["hits"]
        return any("9443" in hit["snippet"] for hit in found)

    daemon.wait_for(is_found, "turn in the store")
    assert not answer.is_set() and STATEMENT not in core(daemon)
    assert daemon.stop() == 0  # within its time, although a call runs
    answer.set()
    daemon.start()  # the turn was not read: it is now
    daemon.wait_for(lambda: STATEMENT in core(daemon), "core memory after a restart")
    assert spent(daemon)["all"]["calls"] >= 2


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Said({}, 500), "the server fails: it is asked again later (HTTP 500)"),
        (Said(chat_answer("I'd rather not.")), "not the JSON"),
    ],
)
def test_useless_model_leaves_the_rules(
    reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner, said: Said, problem: str
) -> None:
    api.script = lambda asked: said
    daemon = reading()
    hook.turn("s1", "p1", PROMPT, ANSWER)
    daemon.settle()
    daemon.wait_for(lambda: spent(daemon)["problem"], "failure")
    assert "포트원" in core(daemon)[0] and core(daemon) != [STATEMENT]
    assert problem in spent(daemon)["problem"]


def test_missing_key_sends_nothing(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    daemon = reading(base_url="", api_key_env="NO_SUCH_KEY")
    hook.turn("s1", "p1", PROMPT, ANSWER)
    daemon.settle()
    daemon.wait_for(lambda: core(daemon), "core memory by rules")
    said = spent(daemon)
    assert "NO_SUCH_KEY is not set" in said["lacks"] and said["all"]["calls"] == 0
    assert api.asked == []


def test_earlier_turns_are_not_sent(reading: Callable[..., Daemon], api: ModelApi, hook: HookRunner) -> None:
    api.script = lambda asked: Said(chat_answer(GOOD))
    daemon = reading(provider="rules")
    hook.turn("s1", "p1", "The staging database is called osprey, we settled on that name.", "Noted: osprey.")
    daemon.settle()
    daemon.wait_for(lambda: core(daemon), "core memory by rules")
    daemon.stop()
    daemon = reading()
    hook.turn("s1", "p2", PROMPT, ANSWER)  # at once, as the daemon opens its store
    daemon.settle()
    daemon.wait_for(lambda: STATEMENT in core(daemon), "core memory")
    daemon.stop()
    daemon = reading(model="another")
    hook.turn("s1", "p3", "From now on the API listens on port 9443, we settled on that.", "Noted: port 9443.")
    daemon.settle()
    daemon.wait_for(lambda: len(api.asked) == 2, "second call")
    turns = [asked.body["messages"][1]["content"].partition("\n<session-")[2] for asked in api.asked]
    assert PROMPT in turns[0] and "9443" in turns[1]
    assert not any("osprey" in turn for turn in turns) and PROMPT not in turns[1]
    assert daemon.call("stats")["to_consolidate"] == 0
