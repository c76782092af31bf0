"""The SDKs' chat providers against scripted servers: talks, tools, streams and failures."""

import importlib.util
import json
import logging
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.chat import ChatRequest, ToolCall, WireMessage
from memlayer.errors import ChatError, ContextTooLong
from memlayer.providers.endpoint import NotCharged
from tests.support.chat_api import Call, ChatScript, Spoken, anthropic_streamed, openai_streamed
from tests.support.model_api import Asked, ModelApi, Said
from tests.support.tables import tables
from tests.support.talks import KEY, PROMPT, SDKS, SEARCH, TALK, ask, talk, tokens_today

TABLES = tables("contract/chat_providers")

LONG = "포트원으로 바꾸기로 했습니다 🎉 — 각설하고, 配置는 그대로입니다."
ROUND = (
    *TALK,
    WireMessage("assistant", "찾아볼게요.", (ToolCall("t1", "memory_search", {"query": "결제"}), ToolCall("t2", "ls"))),
    WireMessage("tool", "포트원 [mem:a7Bc3x]", call_id="t1"),
    WireMessage("tool", "no such folder", call_id="t2", is_error=True),
    WireMessage("user", "그래서?"),
)

pytestmark = [
    pytest.mark.usefixtures("foreign_variables"),
    pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in SDKS), reason="the SDKs are optional"),
]


def streamed(provider: str, spoken: Spoken, until: int | None = None) -> Said:
    make = anthropic_streamed if provider == "anthropic" else openai_streamed
    return make(spoken, until=until)


@pytest.mark.parametrize("is_stream", [False, True])
def test_talk_and_its_tokens(provider: str, api: ModelApi, home: Path, is_stream: bool) -> None:
    api.script = ChatScript([Spoken(LONG)])
    heard: list[str] = []
    reply = ask(talk(provider, api, home), on_text=heard.append if is_stream else None)
    assert (reply.text, reply.calls, reply.reasoning, reply.is_cut) == (LONG, (), "", False)
    assert (reply.use.input_tokens, reply.use.output_tokens) == (700, 60)
    assert "".join(heard) == (LONG if is_stream else "") and (len(heard) > 10) == is_stream
    assert tokens_today(home) == 760
    [asked] = api.asked
    assert asked.headers["authorization"] == "Bearer " + KEY
    assert asked.body["model"] == "tiny" and asked.body["max_tokens"] == 900
    assert bool(asked.body.get("stream")) == is_stream and "tools" not in asked.body
    if provider == "anthropic":
        assert asked.body["system"] == "You are terse." and "temperature" not in asked.body
        assert asked.body["messages"] == [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]
    else:
        assert asked.body["temperature"] == 0.0
        assert [one["role"] for one in asked.body["messages"]] == ["system", "user"]


@pytest.mark.parametrize("piece_bytes", [1, 2, 5, 64])
def test_stream_cut_within_characters(provider: str, api: ModelApi, home: Path, piece_bytes: int) -> None:
    api.script = ChatScript(
        [Spoken(LONG, [Call("t1", "memory_search", '{"query": "결제 🎉"}')], piece_bytes=piece_bytes)]
    )
    heard: list[str] = []
    reply = ask(talk(provider, api, home), tools=(SEARCH,), on_text=heard.append)
    assert reply.text == "".join(heard) == LONG
    assert reply.calls == (ToolCall("t1", "memory_search", {"query": "결제 🎉"}),)


@pytest.mark.parametrize("is_stream", [False, True])
def test_two_tool_calls_and_a_thought(provider: str, api: ModelApi, home: Path, is_stream: bool) -> None:
    calls = [Call("t1", "memory_search", '{"query": "결제"}'), Call("t2", "ls", "{}")]
    spoken = Spoken("찾아볼게요.", calls, thought="무엇을 찾을까")
    api.script = ChatScript([spoken, Spoken("끝")])
    chat = talk(provider, api, home)
    reply = ask(chat, tools=(SEARCH,), on_text=(lambda text: None) if is_stream else None)
    assert reply.text == "찾아볼게요."
    assert reply.calls == (ToolCall("t1", "memory_search", {"query": "결제"}), ToolCall("t2", "ls", {}))
    assert "무엇을 찾을까" in reply.reasoning
    again = WireMessage("assistant", reply.text, reply.calls, reasoning=reply.reasoning)
    ask(chat, (*TALK, again, *ROUND[3:5]), tools=(SEARCH,))
    assistant = next(one for one in api.asked[1].body["messages"] if one["role"] == "assistant")
    if provider == "anthropic":
        assert assistant["content"][0] == {"type": "thinking", "thinking": "무엇을 찾을까", "signature": "sig=="}
        other = ChatRequest("other", (*TALK, again), (SEARCH,))
        chat.chat(other, deadline_s=10)
        assert [block["type"] for block in api.asked[2].body["messages"][1]["content"]] == [
            "text",
            "tool_use",
            "tool_use",
        ]
    else:
        assert assistant["reasoning_content"] == "무엇을 찾을까"


def test_tools_and_results_go_out_in_the_interface(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Spoken("네")])
    ask(talk(provider, api, home), ROUND, tools=(SEARCH,))
    body = api.asked[0].body
    if provider == "openai":
        assert body["tools"][0]["function"] == {
            "name": "memory_search", "description": "Searches 기억.", "parameters": dict(SEARCH.parameters)
        }  # fmt: skip
        assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "tool", "tool", "user"]
        first, second = body["messages"][3:5]
        assert (first["tool_call_id"], first["content"]) == ("t1", "포트원 [mem:a7Bc3x]")
        assert second["content"] == "Error: no such folder"
        called = body["messages"][2]["tool_calls"][0]["function"]
        assert (called["name"], json.loads(called["arguments"])) == ("memory_search", {"query": "결제"})
    else:
        assert body["tools"] == [
            {"name": "memory_search", "description": "Searches 기억.", "input_schema": dict(SEARCH.parameters)}
        ]
        assert [one["role"] for one in body["messages"]] == ["user", "assistant", "user"]
        results = body["messages"][2]["content"]
        assert [one["type"] for one in results] == ["tool_result", "tool_result", "text"]
        assert results[1] == {
            "type": "tool_result", "tool_use_id": "t2", "content": "no such folder", "is_error": True
        }  # fmt: skip


def test_history_of_tools_goes_out_without_tools(api: ModelApi, home: Path) -> None:
    """A summary is asked for without tools; the Messages API refuses tool blocks then."""
    api.script = ChatScript([Spoken("요약")])
    ask(talk("anthropic", api, home), ROUND)
    sent = json.dumps(api.asked[0].body["messages"], ensure_ascii=False)
    assert "tool_use" not in sent and "tool_result" not in sent
    assert "memory_search" in sent and "포트원 [mem:a7Bc3x]" in sent


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("arguments", ['{"query": "결제', "[1]", "결제", "{'query': 1}"])
def test_malformed_arguments_are_a_problem_of_the_call(
    api: ModelApi, home: Path, arguments: str, is_stream: bool
) -> None:
    api.script = ChatScript([Spoken("", [Call("t1", "memory_search", arguments)], is_cut=True)])
    on_text = (lambda text: None) if is_stream else None
    for name in ("openai", "anthropic") if is_stream else ("openai",):
        reply = ask(talk(name, api, home), tools=(SEARCH,), on_text=on_text)
        [call] = reply.calls
        assert call.problem.startswith("the arguments are not") and call.arguments == {} and reply.is_cut


def test_calls_without_ids_and_with_objects(api: ModelApi, home: Path) -> None:
    """Some compatible servers give neither an id nor arguments as text."""
    call = {"type": "function", "function": {"name": "ls", "arguments": {"folder": "문서"}}}
    message = {"role": "assistant", "content": "", "tool_calls": [call, call]}
    api.script = ChatScript([Said({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})])
    reply = ask(talk("openai", api, home), tools=(SEARCH,))
    assert [one.id for one in reply.calls] == ["call_0", "call_1"]
    assert reply.calls[1].arguments == {"folder": "문서"}
    assert 0 < tokens_today(home) < 200  # estimated: no usage was told


CONTENTS: list[Any] = TABLES["contents"]


@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
def test_content_in_parts_is_read(api: ModelApi, home: Path, content: Any) -> None:
    """Some compatible servers give a list where OpenAI gives a text."""
    message = {"role": "assistant", "content": content, "tool_calls": None}
    api.script = ChatScript([Said({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})])
    assert ask(talk("openai", api, home)).text == "포트는 9440"


@pytest.mark.parametrize("content", [CONTENTS[0], CONTENTS[2]], ids=["text", "parts"])
@pytest.mark.parametrize(
    "odd",
    [
        {"choices": None}, {"choices": []}, {}, {"choices": [None]}, {"choices": [{"delta": None}]},
        {"choices": [{"delta": None, "index": 0, "finish_reason": None}], "usage": None}, {"choices": [{"index": 0}]},
        {"choices": [{"delta": {"content": None, "tool_calls": [None]}}]}, {"choices": [{"delta": {"role": None}}]},
        {"usage": {}}, {"choices": [{"delta": {"content": []}}]},
    ],
    ids=json.dumps,
)  # fmt: skip
def test_events_without_an_answer_are_passed_over(api: ModelApi, home: Path, odd: dict[str, Any], content: Any) -> None:
    told = {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}]}
    end = {"choices": [{"index": 0, "delta": None, "finish_reason": "stop"}]}
    chunks = [b"data: %s\n\n" % json.dumps(event).encode() for event in (odd, told, odd, end, odd)]
    api.script = ChatScript([Said(chunks=[*chunks, b"data: [DONE]\n\n"])])
    heard: list[str] = []
    assert ask(talk("openai", api, home), on_text=heard.append).text == "포트는 9440" == "".join(heard)


@pytest.mark.parametrize("kind", ["content_block_delta", "message_delta"])
def test_delta_of_nothing_is_passed_over(api: ModelApi, home: Path, kind: str) -> None:
    [whole] = streamed("anthropic", Spoken("포트는 9440")).chunks
    events = whole.split(b"\n\n")
    odd = json.dumps({"type": kind, "index": 0, "delta": None, "usage": {"output_tokens": 3}})
    events.insert(5, b"event: %s\ndata: %s" % (kind.encode(), odd.encode()))
    api.script = ChatScript([Said(chunks=[b"\n\n".join(events)])])
    assert ask(talk("anthropic", api, home), on_text=lambda text: None).text == "포트는 9440"


def test_streamed_calls_that_all_count_as_the_first(api: ModelApi, home: Path) -> None:
    parts = [{"index": 0, "id": one, "type": "function", "function": {"name": one, "arguments": "{}"}} for one in "ab"]
    ends = (None, "tool_calls")
    choices = [
        {"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": end}
        for part, end in zip(parts, ends, strict=True)
    ]
    chunks = [b"data: %s\n\n" % json.dumps({"choices": [choice]}).encode() for choice in choices]
    api.script = ChatScript([Said(chunks=[*chunks, b"data: [DONE]\n\n"])])
    reply = ask(talk("openai", api, home), tools=(SEARCH,), on_text=lambda text: None)
    assert [one.name for one in reply.calls] == ["a", "b"]


def test_busy_server_is_asked_again_when_it_says(provider: str, api: ModelApi, home: Path) -> None:
    busy = Said({"error": {"message": "slow down"}}, 429, headers={"retry-after": "1"})
    api.script = ChatScript([busy, Spoken("네")])
    began = time.monotonic()
    assert ask(talk(provider, api, home)).text == "네"
    assert len(api.asked) == 2 and time.monotonic() - began >= 1.0


def test_failing_server_is_asked_three_times(provider: str, api: ModelApi, home: Path) -> None:
    failing = Said({"error": {"message": PROMPT + KEY}}, 500)
    api.script = ChatScript([failing, failing, Spoken("네")])
    assert ask(talk(provider, api, home), on_text=lambda text: None).text == "네"
    api.script = ChatScript([failing])
    with pytest.raises(ChatError, match=r"the server fails: ask again later \(HTTP 500\)"):
        ask(talk(provider, api, home, max_retries=1))
    assert len(api.asked) == 3 + 2
    assert tokens_today(home) == 760  # an answer that never came costs nothing


@pytest.mark.parametrize(("status", "said", "told"), TABLES["failure_is_one_line_with_advice"])
def test_failure_is_one_line_with_advice(
    provider: str, api: ModelApi, home: Path, caplog: pytest.LogCaptureFixture, status: int, said: str, told: str
) -> None:
    caplog.set_level(logging.DEBUG)
    api.script = ChatScript([Said({"error": {"type": "x", "message": f"{said} {PROMPT}{KEY}"}}, status)])
    with pytest.raises(NotCharged) as bad:
        ask(talk(provider, api, home, max_retries=0), tools=(SEARCH,))
    assert told in str(bad.value) and f"(HTTP {status})" in str(bad.value)
    assert isinstance(bad.value, ContextTooLong) == (told == "lower agent.max_context_tokens")
    for secret in (KEY, PROMPT, "\n"):
        assert secret not in str(bad.value)
    assert KEY not in caplog.text
    assert tokens_today(home) == 0


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    "body", [b"", b"<html>gateway</html>", b"{}", b"[]", b"null", b'{"content": 7, "choices": []}']
)
def test_answer_in_another_shape_is_an_error(
    provider: str, api: ModelApi, home: Path, body: bytes, is_stream: bool
) -> None:
    api.script = ChatScript([Said(body)])
    with pytest.raises(ChatError) as bad:
        ask(talk(provider, api, home), on_text=(lambda text: None) if is_stream else None)
    assert "\n" not in str(bad.value) and PROMPT not in str(bad.value)


@pytest.mark.parametrize("until", [3, 8])
def test_cut_stream_is_an_error_and_counted(provider: str, api: ModelApi, home: Path, until: int) -> None:
    heard: list[str] = []
    api.script = ChatScript([streamed(provider, Spoken(LONG), until)])
    with pytest.raises(ChatError, match="the answer broke off in the middle: ask again"):
        ask(talk(provider, api, home), on_text=heard.append)
    assert LONG.startswith("".join(heard)) and tokens_today(home) > 900


def test_stream_that_ends_too_early_is_an_error(provider: str, api: ModelApi, home: Path) -> None:
    """The connection ends as it should, the answer does not."""
    whole = streamed(provider, Spoken(LONG), 9)
    api.script = ChatScript([Said(chunks=whole.chunks)])
    with pytest.raises(ChatError, match="broke off"):
        ask(talk(provider, api, home), on_text=lambda text: None)


def test_error_within_a_stream_is_told(provider: str, api: ModelApi, home: Path) -> None:
    event = b'event: error\ndata: {"type": "error", "error": {"type": "overloaded_error", "message": "%s"}}\n\n'
    first = b"".join(streamed(provider, Spoken("네"), 2).chunks)
    api.script = ChatScript([Said(chunks=[first, event % PROMPT.encode()])])
    with pytest.raises(ChatError, match="broke off") as bad:
        ask(talk(provider, api, home), on_text=lambda text: None)
    assert PROMPT not in str(bad.value)


def test_dripping_server_meets_the_deadline(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Said(drip_s=0.05)])
    chat = talk(provider, api, home)
    began = time.monotonic()
    with pytest.raises(ChatError, match=r"did not answer within 1 s: ask again"):
        ask(chat, deadline_s=1.0)
    assert 0.9 < time.monotonic() - began < 5


def test_nobody_listens(provider: str, home: Path) -> None:
    with ModelApi() as gone:
        pass
    with pytest.raises(NotCharged, match=r"is the server running at http://127.0.0.1") as bad:
        ask(talk(provider, gone, home, max_retries=0))
    assert "\n" not in str(bad.value) and tokens_today(home) == 0


def test_ctrl_c_ends_the_call(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Said(drip_s=0.05)])
    chat = talk(provider, api, home)
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(chat, deadline_s=30)
    assert time.monotonic() - began < 10
    assert tokens_today(home) > 900  # it may have been answered


def test_unknown_parameters_are_dropped_for_good(provider: str, api: ModelApi, home: Path) -> None:
    known = {"model", "max_tokens", "messages", "system", "stream", "tools"}
    good = ChatScript([Spoken("네")])

    def picky(asked: Asked) -> Said:
        extra = set(asked.body) - known
        return Said({"error": {"message": f"unknown: {extra}"}}, 400) if extra else good(asked)

    api.script = picky
    chat = talk(provider, api, home)
    for _ in range(2):
        assert ask(chat, on_text=lambda text: None).text == "네"
    assert [bool(set(asked.body) - known) for asked in api.asked] == [True, False, False]
