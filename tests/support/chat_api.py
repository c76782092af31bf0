"""Answers of a talk in both providers' interfaces: texts, tool calls, thoughts; whole, or as a stream of events."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.model_api import Asked, Said

JsonObject = dict[str, Any]
LONG_CHARS, PART_CHARS = 400, 16  # each event costs its reader a third of a millisecond


@dataclass(frozen=True)
class Call:
    """A tool call as a server gives it: its arguments are text, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class Spoken:
    """A model's answer, in the shape of neither interface."""

    text: str = ""
    calls: Sequence[Call] = ()
    thought: str = ""
    read: int = 700
    written: int = 60
    is_cut: bool = False
    piece_bytes: int = 0  # of the network; 0: an event each


def openai_said(spoken: Spoken) -> Said:
    """Return an answer of chat completions."""
    message: JsonObject = {"role": "assistant", "content": spoken.text or None}
    if spoken.thought:
        message["reasoning_content"] = spoken.thought
    if spoken.calls:
        message["tool_calls"] = [_openai_call(call) for call in spoken.calls]
    choice = {"index": 0, "finish_reason": _finish(spoken), "message": message}
    return Said(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
         "usage": _openai_usage(spoken)}
    )  # fmt: skip


def openai_streamed(spoken: Spoken, *, until: int | None = None) -> Said:
    """Return an answer of chat completions as events. until: the stream is cut after so many."""
    deltas: list[JsonObject] = [{"role": "assistant", "content": ""}]
    deltas += [{"reasoning_content": part} for part in spoken.thought]
    deltas += [{"content": part} for part in _parts(spoken.text)]
    for index, call in enumerate(spoken.calls):
        begun = {"index": index, **_openai_call(Call(call.id, call.name, ""))}
        deltas.append({"tool_calls": [begun]})
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": part}}]} for part in call.arguments]
    chunks = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    chunks.append(_chunk([{"index": 0, "delta": {}, "finish_reason": _finish(spoken)}]))
    chunks.append({**_chunk([]), "usage": _openai_usage(spoken)})
    events = [_event(chunk) for chunk in chunks] + [b"data: [DONE]\n\n"]
    return _streamed(events, spoken, until)


def anthropic_said(spoken: Spoken) -> Said:
    """Return an answer of the Messages API; arguments must be JSON."""
    blocks: list[JsonObject] = [{"type": "thinking", "thinking": spoken.thought, "signature": "sig=="}]
    blocks = blocks if spoken.thought else []
    if spoken.text:
        blocks.append({"type": "text", "text": spoken.text})
    blocks += [_tool_use(call, json.loads(call.arguments)) for call in spoken.calls]
    return Said({**_anthropic_frame(spoken), "content": blocks, "stop_reason": _stop(spoken)})


def anthropic_streamed(spoken: Spoken, *, until: int | None = None) -> Said:
    """Return an answer of the Messages API as events. until: the stream is cut after so many."""
    frame = _anthropic_frame(spoken)
    begun = {**frame, "content": [], "stop_reason": None, "usage": {**frame["usage"], "output_tokens": 1}}
    events: list[JsonObject] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    blocks: list[tuple[JsonObject, list[JsonObject]]] = []
    if spoken.thought:
        parts: list[JsonObject] = [{"type": "thinking_delta", "thinking": part} for part in spoken.thought]
        parts.append({"type": "signature_delta", "signature": "sig=="})
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, parts))
    if spoken.text:
        blocks.append(
            ({"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in _parts(spoken.text)])
        )
    for call in spoken.calls:
        pieces = [{"type": "input_json_delta", "partial_json": part} for part in ["", *call.arguments]]
        blocks.append((_tool_use(call, {}), pieces))
    for index, (block, deltas) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": _stop(spoken), "stop_sequence": None}
    events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": spoken.written}}]
    events += [{"type": "message_stop"}]
    return _streamed([b"event: %s\n" % one["type"].encode() + _event(one) for one in events], spoken, until)


@dataclass
class ChatScript:
    """A server's script: its answers in turn, the last one repeated.

    Whether they come whole or as a stream is up to the request. An answer that is Said already is given as it is.
    """

    answers: Sequence[Spoken | Said]
    other: Callable[[Asked], Said] = lambda asked: Said({}, 404)  # paths that are not the chat's
    given: int = field(default=0)

    def __call__(self, asked: Asked) -> Said:
        is_anthropic = asked.path.endswith("/v1/messages")
        if not is_anthropic and not asked.path.endswith("/chat/completions"):
            return self.other(asked)
        answer = self.answers[min(self.given, len(self.answers) - 1)]
        self.given += 1
        if isinstance(answer, Said):
            return answer
        if asked.body.get("stream"):
            return anthropic_streamed(answer) if is_anthropic else openai_streamed(answer)
        return anthropic_said(answer) if is_anthropic else openai_said(answer)


def _parts(text: str) -> list[str]:
    """Cut a text as a model speaks it: by characters, a long one by words of some."""
    size = 1 if len(text) < LONG_CHARS else PART_CHARS
    return [text[at : at + size] for at in range(0, len(text), size)]


def _event(found: JsonObject) -> bytes:
    return b"data: %s\n\n" % json.dumps(found, ensure_ascii=False).encode()


def _streamed(events: list[bytes], spoken: Spoken, until: int | None) -> Said:
    whole = b"".join(events[:until])
    size = spoken.piece_bytes or len(whole)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    return Said(chunks=pieces, is_cut=until is not None)


def _chunk(choices: list[JsonObject]) -> JsonObject:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}


def _openai_call(call: Call) -> JsonObject:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _openai_usage(spoken: Spoken) -> JsonObject:
    read, written = spoken.read, spoken.written
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _finish(spoken: Spoken) -> str:
    return "length" if spoken.is_cut else "tool_calls" if spoken.calls else "stop"


def _anthropic_frame(spoken: Spoken) -> JsonObject:
    usage = {"input_tokens": spoken.read - 500, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 300,
             "output_tokens": spoken.written}  # fmt: skip
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None, "usage": usage}


def _tool_use(call: Call, arguments: JsonObject) -> JsonObject:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _stop(spoken: Spoken) -> str:
    return "max_tokens" if spoken.is_cut else "tool_use" if spoken.calls else "end_turn"
