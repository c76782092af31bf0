"""Chat completions by the OpenAI SDK: OpenAI, llama.cpp, Ollama, vLLM."""

import json
from dataclasses import dataclass, field
from typing import Any

from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse, WireMessage
from memlayer.errors import ChatError
from memlayer.providers.endpoint import NO_KEY, Endpoint, ToolsRefused
from memlayer.providers.sdk_chat import AnswerReading, JsonObject, Sdk, SdkChat, tokens_of
from memlayer.providers.tools import CallPart, ToolFindings, arguments_text, asks_for_tools

# Fields in which servers return a model's reasoning.
REASONING = ("reasoning_content", "reasoning")


class OpenAIChat(SdkChat):
    """A talk over chat completions.

    model: asked about when the server is asked for tools. findings: earlier answers to that.
    """

    def __init__(self, endpoint: Endpoint, model: str, findings: ToolFindings) -> None:
        super().__init__(endpoint)
        self._model, self._findings = model, findings
        self._takes_tools = True if endpoint.is_own else self._findings.get(endpoint.url, model)

    @property
    def asks_server(self) -> bool:
        """Whether the question for tools will cost a request."""
        return self._takes_tools is None

    def supports_native_tools(self) -> bool:
        """See ChatProvider.

        Asks a server of another address once, with at most one short request. False, and to be asked again, while it
        cannot be asked: a model that is told of tools in the prompt needs nothing of its server.
        """
        if self._takes_tools is None:
            try:
                self.check()
                key = self._endpoint.key()
            except ChatError:
                return False
            self._takes_tools = asks_for_tools(self._endpoint.url, self._model, "" if key == NO_KEY else key)
            self._findings.put(self._endpoint.url, self._model, self._takes_tools)
        return bool(self._takes_tools)

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider."""
        try:
            return super().chat(request, deadline_s=deadline_s, on_text=on_text, on_wait=on_wait)
        except ToolsRefused:
            self._findings.put(self._endpoint.url, self._model, None)  # the next talk asks again
            raise

    def load(self) -> Sdk:
        """See SdkChat."""
        import openai

        return Sdk(openai, openai.AsyncOpenAI, openai.OpenAIError)

    async def create(self, client: Any, body: JsonObject) -> Any:
        """See SdkChat."""
        return await client.chat.completions.create(**body)

    def body(self, request: ChatRequest) -> JsonObject:
        """See SdkChat."""
        return request_body(request, self._endpoint)

    def extras(self, request: ChatRequest, *, is_stream: bool) -> JsonObject:
        """See SdkChat."""
        extras: JsonObject = {} if request.temperature is None else {"temperature": request.temperature}
        return {**extras, "stream_options": {"include_usage": True}} if is_stream else extras

    def reading(self, model: str) -> AnswerReading:
        """See SdkChat."""
        return _OpenaiReading(model)

    def construct(self, answer: JsonObject) -> Any:
        """See SdkChat."""
        from openai.types.chat import ChatCompletion

        return ChatCompletion.construct(**{"usage": None, **answer})


def request_body(request: ChatRequest, endpoint: Endpoint) -> JsonObject:
    """Return a request in the shape of chat completions."""
    length = endpoint.known(max_tokens=request.max_tokens, max_completion_tokens=request.max_tokens)
    body = {"model": request.model, "messages": [_message(message) for message in request.messages], **length}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
            }
            for tool in request.tools
        ]
    return body


def _message(message: WireMessage) -> JsonObject:
    if message.role == "tool":
        text = f"Error: {message.text}" if message.is_error else message.text  # no field says so here
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    sent: JsonObject = {"role": message.role, "content": message.text}
    if message.reasoning:
        sent["reasoning_content"] = message.reasoning
    if message.calls:
        sent["content"] = message.text or None
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments), ensure_ascii=False)},
            }
            for call in message.calls
        ]
    return sent


def _text_of(content: object) -> str:
    """Return the text of an answer; some servers give it in parts."""
    if isinstance(content, list):
        return "".join(map(_text_of, content))
    content = content.get("text") if isinstance(content, dict) else getattr(content, "text", content)
    return content if isinstance(content, str) else ""


@dataclass
class _OpenaiReading(AnswerReading):
    """An answer in deltas."""

    reasoning: str = ""
    by_index: dict[int, CallPart] = field(default_factory=dict)

    def take(self, event: Any) -> str:
        """See AnswerReading."""
        self._count(getattr(event, "usage", None))
        text = ""
        for choice in (getattr(event, "choices", None) or [])[:1]:
            text = self._take_message(getattr(choice, "delta", None))
            self.stop = getattr(choice, "finish_reason", None) or self.stop
        self.is_whole = bool(self.stop)
        return text

    def take_whole(self, answer: Any) -> str:
        """See AnswerReading."""
        text = self._take_message(answer.choices[0].message)
        self.stop = answer.choices[0].finish_reason or "stop"
        self._count(answer.usage)
        return text

    def _take_message(self, message: Any) -> str:
        """Take a message, or a part of one; return its text."""
        for name in REASONING:
            thought = getattr(message, name, None)
            if isinstance(thought, str):
                self.reasoning += thought
                break
        for place, call in enumerate(filter(None, getattr(message, "tool_calls", None) or [])):
            index = getattr(call, "index", None)
            self._take_call(call, place if index is None else index)
        text = _text_of(getattr(message, "content", None))
        self.text += text
        return text

    def _take_call(self, call: Any, index: int) -> None:
        """Add a part to its call.

        Some servers count every call as the first: a part with another id is another call.
        """
        part = self.by_index.get(index)
        if part is None or (call.id and part.id and call.id != part.id):
            part = self.by_index[index] = CallPart()
            self.calls.append(part)
        part.id = part.id or call.id or ""
        part.name = part.name or call.function.name or ""
        part.arguments += arguments_text(call.function.arguments)

    def _count(self, usage: Any) -> None:
        if usage is not None:
            counts = (tokens_of(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
            self.use = TokenUse(*counts)

    def thought(self) -> str:
        """See AnswerReading."""
        return self.reasoning

    @property
    def is_cut(self) -> bool:
        """See AnswerReading."""
        return self.stop == "length"
