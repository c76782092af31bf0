"""Cached answers: only for the very same request, bounded."""

from dataclasses import replace
from typing import Any

import pytest

from memlayer.agent.loop import ResponseCache, cache_key
from memlayer.chat import ChatRequest, Reply, TokenUse, ToolCall, ToolSpec, WireMessage

TOOL = ToolSpec("read", "읽기", {"type": "object"})
CALL = WireMessage("assistant", "", (ToolCall("1", "read", {"path": "가"}),))
REQUEST = ChatRequest("m", (WireMessage("user", "질문"), CALL), (TOOL,), 0.0)


def test_same_request_costs_nothing() -> None:
    cache = ResponseCache()
    assert cache.get(REQUEST) is None
    cache.put(REQUEST, Reply("답", use=TokenUse(100, 5, 0.1)))
    assert cache.get(replace(REQUEST)) == Reply("답")


@pytest.mark.parametrize(
    "change",
    [
        {"model": "other"},
        {"messages": (WireMessage("user", "질문 "), CALL)},
        {"messages": (WireMessage("user", "질문"),)},
        {"messages": (WireMessage("system", "질문"), CALL)},
        {"messages": (WireMessage("user", "질문"), replace(CALL, calls=(ToolCall("1", "read", {"path": "나"}),)))},
        {"tools": ()},
        {"tools": (replace(TOOL, description="쓰기"),)},
        {"tools": (replace(TOOL, parameters={"type": "object", "required": ["path"]}),)},
        {"max_tokens": 1},
    ],
)
def test_any_difference_is_another_request(change: dict[str, Any]) -> None:
    cache = ResponseCache()
    cache.put(REQUEST, Reply("답"))
    other = replace(REQUEST, **change)
    assert cache_key(other) != cache_key(REQUEST)
    assert cache.get(other) is None


@pytest.mark.parametrize("temperature", [None, 0.1, 1.0])
def test_only_at_temperature_zero(temperature: float | None) -> None:
    cache, request = ResponseCache(), replace(REQUEST, temperature=temperature)
    cache.put(request, Reply("답"))
    cache.put(REQUEST, Reply("영"))
    assert cache.get(request) is None


def test_cut_answers_are_not_kept() -> None:
    cache = ResponseCache()
    cache.put(REQUEST, Reply("잘린", is_cut=True))
    assert cache.get(REQUEST) is None


def test_number_of_answers_is_bounded() -> None:
    cache = ResponseCache(max_answers=2)
    requests = [replace(REQUEST, model=str(i)) for i in range(3)]
    cache.put(requests[0], Reply("0"))
    cache.put(requests[1], Reply("1"))
    assert cache.get(requests[0]) is not None  # used, so the other one goes
    cache.put(requests[2], Reply("2"))
    assert [cache.get(one) is not None for one in requests] == [True, False, True]


def test_size_is_bounded() -> None:
    cache = ResponseCache(max_chars=500)
    for number in range(5):
        cache.put(replace(REQUEST, model=str(number)), Reply("가" * 80))
        cache.put(replace(REQUEST, model=str(number)), Reply("나" * 80))
    assert [cache.get(replace(REQUEST, model=str(i))) is not None for i in range(5)] == [False] * 3 + [True] * 2
    cache.put(REQUEST, Reply("가" * 501))
    assert cache.get(REQUEST) is None
