"""The Messages API by the official Anthropic SDK."""

import json
import os
from dataclasses import dataclass, field
from typing import Any

from memlayer.chat import ChatRequest, TokenUse, WireMessage
from memlayer.providers.sdk_chat import AnswerReading, JsonObject, Sdk, SdkChat, tokens_of
from memlayer.providers.tools import CallPart, arguments_text

CUT = ("max_tokens", "model_context_window_exceeded")
THINKING = ("thinking", "redacted_thinking")
READ = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicChat(SdkChat):
    """A talk over the Messages API. It has no temperature."""

    def load(self) -> Sdk:
        """See SdkChat."""
        import anthropic

        return Sdk(anthropic, anthropic.AsyncAnthropic, anthropic.AnthropicError)

    async def create(self, client: Any, body: JsonObject) -> Any:
        """See SdkChat."""
        return await client.messages.create(**body)

    def body(self, request: ChatRequest) -> JsonObject:
        """See SdkChat."""
        return request_body(request)

    def extras(self, request: ChatRequest, *, is_stream: bool) -> JsonObject:
        """See SdkChat.

        Rounds of tools repeat the whole talk: the part that is the same is read from the provider's cache.
        """
        return {"cache_control": {"type": "ephemeral"}}

    def reading(self, model: str) -> AnswerReading:
        """See SdkChat."""
        return _AnthropicReading(model)

    def construct(self, answer: JsonObject) -> Any:
        """See SdkChat."""
        from anthropic.types import Message

        return Message.construct(**{"usage": None, "stop_reason": None, **answer})

    def foreign_headers(self) -> list[str]:
        """See SdkChat. They are meant for another address, with its key."""
        lines = os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n")
        return [line.partition(":")[0].strip() for line in lines if ":" in line]


def request_body(request: ChatRequest) -> JsonObject:
    """Return a request in the shape of the Messages API.

    Messages of one side that follow each other are joined. Without tools, calls and results of earlier turns are told
    as text: the API refuses their blocks then.
    """
    messages: list[JsonObject] = []
    for message in request.messages:
        if message.role == "system":
            continue
        blocks = _blocks(message, request.model) if request.tools else _told(message)
        role = "assistant" if message.role == "assistant" else "user"
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        elif blocks:
            messages.append({"role": role, "content": blocks})
    body: JsonObject = {"model": request.model, "max_tokens": request.max_tokens, "messages": messages}
    system = "\n\n".join(message.text for message in request.messages if message.role == "system" and message.text)
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
    """Return a thought's blocks; they are signed for their model alone."""
    try:
        thought = json.loads(reasoning) if reasoning else {}
    except (ValueError, RecursionError):
        return []
    if not isinstance(thought, dict) or thought.get("model") != model:
        return []
    return [block for block in thought.get("blocks", []) if isinstance(block, dict) and block.get("type") in THINKING]


@dataclass
class _AnthropicReading(AnswerReading):
    """An answer in blocks."""

    thoughts: list[JsonObject] = field(default_factory=list)
    usage: dict[str, object] = field(default_factory=dict)

    def take(self, event: Any) -> str:
        """See AnswerReading."""
        if event.type == "message_start":
            self.count(event.message.usage)
        elif event.type == "content_block_start":
            return self.begin(event.content_block)
        elif event.type == "content_block_delta" and event.delta:
            return self.add(event.delta)
        elif event.type == "message_delta":
            self.count(event.usage)
            self.stop = getattr(event.delta, "stop_reason", None) or self.stop
        self.is_whole = self.is_whole or event.type == "message_stop"
        return ""

    def take_whole(self, answer: Any) -> str:
        """See AnswerReading."""
        text = "".join([self.begin(block) for block in answer.content])
        self.count(answer.usage)
        self.stop = answer.stop_reason or ""
        return text

    def begin(self, block: Any) -> str:
        """Take a block, or the beginning of one; return its text."""
        if block.type == "tool_use":
            arguments = arguments_text(block.input)
            self.calls.append(CallPart(block.id, block.name, "" if arguments == "{}" else arguments))
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
        for name in (*READ, "output_tokens"):
            count = getattr(usage, name, None)
            if count is not None:
                self.usage[name] = count
        self.use = TokenUse(tokens_of(*map(self.usage.get, READ)), tokens_of(self.usage.get("output_tokens")))

    def thought(self) -> str:
        """See AnswerReading: with the model whose signature the thoughts have."""
        return json.dumps({"model": self.model, "blocks": self.thoughts}, ensure_ascii=False) if self.thoughts else ""

    @property
    def is_cut(self) -> bool:
        """See AnswerReading."""
        return self.stop in CUT
