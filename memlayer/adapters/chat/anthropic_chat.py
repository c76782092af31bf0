"""ChatProvider over the official Anthropic SDK: the Messages API."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memlayer.adapters.chat.endpoint import CONNECT_S, Endpoint, object_instead, object_of
from memlayer.adapters.chat.tool_calls import CallPart, arguments_text, tool_call
from memlayer.adapters.chat.waiting import Listener, Wait
from memlayer.adapters.llm import model_call
from memlayer.adapters.llm.anthropic_model import BASE_URL, NAME, REQUIREMENT
from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse, WireMessage

if TYPE_CHECKING:
    import anthropic

JsonObject = dict[str, Any]
CUT = ("max_tokens", "model_context_window_exceeded")
THINKING = ("thinking", "redacted_thinking")
# Rounds of tools repeat the whole talk: the part that is the same is read from the provider's cache.
EXTRAS: JsonObject = {"cache_control": {"type": "ephemeral"}}


def anthropic_endpoint(base_url: str, key_variable: str, *, is_key_named: bool, max_retries: int) -> Endpoint:
    """Return the way to Anthropic, or to a compatible server."""
    return Endpoint(NAME, BASE_URL, REQUIREMENT, base_url, key_variable, is_key_named, max_retries)


class AnthropicChat:
    """A talk over the Messages API. It has no temperature."""

    name = NAME

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._is_plain = False  # the server has refused parameters that only some know

    def supports_native_tools(self) -> bool:
        """See ChatProvider."""
        return True

    def check(self) -> None:
        """See ChatProvider."""
        self._endpoint.check()

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider."""
        self.check()
        endpoint, key = self._endpoint, self._endpoint.key()
        import anthropic  # takes a second and some 50 MB: not before it is needed
        import httpx2

        reading = _Reading()
        wait = endpoint.wait(request.model, on_wait, deadline_s, reading.doing)
        left_out: Any = dict.fromkeys(_foreign_headers(), anthropic.Omit())

        async def call() -> Reply:
            # Address and key are given: the SDK would otherwise look for them in variables and files of its own.
            async with anthropic.AsyncAnthropic(
                api_key=key,
                base_url=endpoint.url,
                timeout=anthropic.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s)),
                max_retries=endpoint.max_retries,
                default_headers=left_out,
                # A talk goes to the address that was named.
                http_client=anthropic.DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"response": [wait.note]}
                ),
            ) as client:
                body, extras = request_body(request), {} if self._is_plain else EXTRAS
                exchange = _Exchange(client, endpoint, request, reading, wait, Listener(on_text))
                try:
                    return await exchange.answer({**body, **extras})
                except anthropic.APIStatusError as bad:
                    if not extras or bad.status_code not in model_call.REFUSED:
                        raise
                    reply = await exchange.answer(body)
                    self._is_plain = True
                    return reply

        try:
            return endpoint.run(call, deadline_s, wait)
        except (anthropic.AnthropicError, httpx2.HTTPError, AttributeError, LookupError, TypeError, ValueError) as bad:
            raise endpoint.failure(bad, request) from bad


def _foreign_headers() -> list[str]:
    """Return the headers that the SDK takes from its own variable.

    They are meant for another address, and may hold its key.
    """
    lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
    return [line.partition(":")[0].strip() for line in lines if ":" in line]


def request_body(request: ChatRequest) -> JsonObject:
    """Return a request in the shape of the Messages API.

    Messages of one side that follow each other are joined. Without tools, calls and results of earlier turns are told
    as text: the API refuses their blocks then.
    """
    messages: list[JsonObject] = []
    for one in request.messages:
        if one.role == "system":
            continue
        blocks = _blocks(one, request.model) if request.tools else _told(one)
        role = "assistant" if one.role == "assistant" else "user"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    body: JsonObject = {"model": request.model, "max_tokens": request.max_tokens, "messages": messages}
    system = "\n\n".join(one.text for one in request.messages if one.role == "system" and one.text)
    if system:
        body["system"] = system
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}
            for tool in request.tools
        ]
    return body


def _blocks(message: WireMessage, model: str) -> list[JsonObject]:
    if message.role == "tool":
        result: JsonObject = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text or " "}
        return [{**result, "is_error": True} if message.is_error else result]
    blocks = _thinking_blocks(message.reasoning, model)
    if message.text.strip():
        blocks.append({"type": "text", "text": message.text})
    for call in message.calls:
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)})
    return blocks


def _told(message: WireMessage) -> list[JsonObject]:
    lines = [message.text] if message.text.strip() else []
    if message.role == "tool":
        lines = [f"[tool result]\n{message.text}"]
    for call in message.calls:
        lines.append(f"[tool call: {call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)}]")
    return [{"type": "text", "text": "\n".join(lines)}] if lines else []


def _thinking_blocks(reasoning: str, model: str) -> list[JsonObject]:
    """Return the blocks of a thought as they were given.

    They are signed for their model; another one does not take them.
    """
    try:
        found = json.loads(reasoning) if reasoning else {}
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, dict) or found.get("model") != model:
        return []
    return [block for block in found.get("blocks", []) if isinstance(block, dict) and block.get("type") in THINKING]


@dataclass
class _Reading:
    """An answer as it comes, in blocks."""

    text: str = ""
    calls: list[CallPart] = field(default_factory=list)
    thoughts: list[JsonObject] = field(default_factory=list)
    usage: dict[str, object] = field(default_factory=dict)
    stop: str = ""

    def take(self, event: Any) -> str:
        """Take an event of a stream; return its text."""
        if event.type == "message_start":
            self.count(event.message.usage)
        elif event.type == "content_block_start":
            return self.begin(event.content_block)
        elif event.type == "content_block_delta":
            return self.add(event.delta)
        elif event.type == "message_delta":
            self.count(event.usage)
            self.stop = event.delta.stop_reason or self.stop
        return ""

    def doing(self) -> str:
        """Describe a model that works without text, "" for nothing yet."""
        if self.calls:
            return f"writes a call of {self.calls[-1].name}"
        return "thinks" if self.thoughts else ""

    def begin(self, block: Any) -> str:
        """Take a block, or the beginning of one; return its text."""
        if block.type == "tool_use":
            said = arguments_text(block.input)
            self.calls.append(CallPart(block.id, block.name, "" if said == "{}" else said))
        elif block.type == "thinking":
            self.thoughts.append({"type": "thinking", "thinking": block.thinking, "signature": block.signature})
        elif block.type == "redacted_thinking":
            self.thoughts.append({"type": "redacted_thinking", "data": block.data})
        return self.add_text(block.text) if block.type == "text" else ""

    def add(self, delta: Any) -> str:
        """Take a part of the last block; return its text."""
        if delta.type == "input_json_delta":
            self.calls[-1].arguments += delta.partial_json
        elif delta.type == "thinking_delta":
            self.thoughts[-1]["thinking"] += delta.thinking
        elif delta.type == "signature_delta":
            self.thoughts[-1]["signature"] = (self.thoughts[-1]["signature"] or "") + delta.signature
        return self.add_text(delta.text) if delta.type == "text_delta" else ""

    def add_text(self, text: str) -> str:
        self.text += text
        return text

    def count(self, usage: Any) -> None:
        """Take counts; later ones replace earlier ones."""
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"):
            count = getattr(usage, name, None)
            if count is not None:
                self.usage[name] = count

    def reply(self, model: str) -> Reply:
        counts = self.usage.get
        use = TokenUse(
            model_call.tokens_of(
                counts("input_tokens"), counts("cache_creation_input_tokens"), counts("cache_read_input_tokens")
            ),
            model_call.tokens_of(counts("output_tokens")),
        )
        calls = tuple(tool_call(part, number) for number, part in enumerate(self.calls))
        thought = json.dumps({"model": model, "blocks": self.thoughts}, ensure_ascii=False) if self.thoughts else ""
        return Reply(self.text, calls, thought, use, self.stop in CUT)


@dataclass
class _Exchange:
    """A request and its answer, whole or in parts."""

    client: anthropic.AsyncAnthropic
    endpoint: Endpoint
    request: ChatRequest
    reading: _Reading
    wait: Wait
    listener: Listener

    async def answer(self, body: JsonObject) -> Reply:
        """Send a body, read its answer. Raises ChatError and the SDK's errors."""
        if self.listener.is_there:
            await self._stream(body)
        else:
            self._whole(await self.client.messages.create(**body))
        return self.reading.reply(body["model"])

    def _whole(self, answer: Any) -> str:
        """Read an answer in one piece; return its text."""
        if isinstance(answer, str):  # not called JSON
            answer = object_of(answer, self.endpoint) or answer
        if isinstance(answer, dict):
            answer = _message(answer)
        if not getattr(answer, "content", None) and getattr(answer, "error", None):
            raise self.endpoint.refused(answer.error, self.request)
        text = "".join([self.reading.begin(block) for block in answer.content])
        self.reading.count(answer.usage)
        self.reading.stop = answer.stop_reason or ""
        return text

    async def _stream(self, body: JsonObject) -> None:
        """Read an answer event by event. Raises ChatError without its end."""
        import httpx2

        stream: Any = await self.client.messages.create(**body, stream=True)
        is_whole = False
        try:
            answer = await object_instead(stream.response, self.endpoint)
            if answer is not None:
                self._show(self._whole(answer))
                return
            async for event in stream:
                await self.listener.go_on(stream.response)
                self._show(self.reading.take(event))
                is_whole = is_whole or event.type == "message_stop"
        except httpx2.HTTPError as bad:
            self.listener.check()
            raise self.endpoint.broken_off() from bad
        self.listener.check()
        if not is_whole:
            raise self.endpoint.broken_off()

    def _show(self, text: str) -> None:
        self.wait.has_text = self.wait.has_text or bool(text)
        self.listener.hear(text)


def _message(answer: JsonObject) -> Any:
    """Return an object as the SDK would."""
    from anthropic.types import Message

    return Message.construct(**{"usage": None, "stop_reason": None, **answer})
