"""ChatProvider over the OpenAI SDK: OpenAI, llama.cpp, Ollama, vLLM."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memlayer.adapters.chat.endpoint import CONNECT_S, NO_KEY, Endpoint, ToolsRefused, object_instead, object_of
from memlayer.adapters.chat.tool_calls import CallPart, arguments_text, given_arguments, tool_call
from memlayer.adapters.chat.tool_findings import ToolFindings
from memlayer.adapters.chat.tool_support import asks_for_tools
from memlayer.adapters.chat.waiting import Listener, Wait
from memlayer.adapters.llm import model_call
from memlayer.adapters.llm.openai_model import BASE_URL, NAME, REQUIREMENT
from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse, WireMessage
from memlayer.errors import ChatError

if TYPE_CHECKING:
    import openai

JsonObject = dict[str, Any]
# Fields in which servers return a model's reasoning.
REASONING = ("reasoning_content", "reasoning")


def openai_endpoint(base_url: str, key_variable: str, *, is_key_named: bool, max_retries: int) -> Endpoint:
    """Return the way to OpenAI, or to a compatible server."""
    return Endpoint(NAME, BASE_URL, REQUIREMENT, base_url, key_variable, is_key_named, max_retries)


class OpenAIChat:
    """A talk over chat completions.

    model: asked about when the server is asked for tools. findings: earlier answers to that.
    """

    name = NAME

    def __init__(self, endpoint: Endpoint, model: str, findings: ToolFindings | None = None) -> None:
        self._endpoint, self._model, self._findings = endpoint, model, findings or ToolFindings()
        self._is_plain = False  # the server has refused parameters that only some know
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

    def check(self) -> None:
        """See ChatProvider."""
        self._endpoint.check()

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider."""
        self.check()
        endpoint, key = self._endpoint, self._endpoint.key()
        import httpx2
        import openai  # takes a second and some 50 MB: not before it is needed

        reading = _Reading()
        wait = endpoint.wait(request.model, on_wait, deadline_s, reading.doing)

        async def call() -> Reply:
            # Address and key are given: the SDK would otherwise look for them in variables of its own.
            async with openai.AsyncOpenAI(
                api_key=key,
                base_url=endpoint.url,
                timeout=openai.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s)),
                max_retries=endpoint.max_retries,
                # A talk goes to the address that was named.
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False, event_hooks={"response": [wait.note]}
                ),
            ) as client:
                body = request_body(request, is_own=endpoint.is_own)
                extras = {} if self._is_plain else _extras(request, is_stream=on_text is not None)
                exchange = _Exchange(client, endpoint, request, reading, wait, Listener(on_text))
                try:
                    return await exchange.answer({**body, **extras})
                except openai.APIStatusError as bad:
                    if not extras or bad.status_code not in model_call.REFUSED:
                        raise
                    reply = await exchange.answer(body)
                    self._is_plain = True
                    return reply

        try:
            return endpoint.run(call, deadline_s, wait)
        except (openai.OpenAIError, httpx2.HTTPError, AttributeError, LookupError, TypeError, ValueError) as bad:
            failure = endpoint.failure(bad, request)
            if isinstance(failure, ToolsRefused):
                self._findings.put(endpoint.url, self._model, None)  # the next talk asks again
            raise failure from bad


def _extras(request: ChatRequest, *, is_stream: bool) -> JsonObject:
    """Return parameters that some servers and models refuse."""
    extras: JsonObject = {} if request.temperature is None else {"temperature": request.temperature}
    return {**extras, "stream_options": {"include_usage": True}} if is_stream else extras


def request_body(request: ChatRequest, *, is_own: bool) -> JsonObject:
    """Return a request in the shape of chat completions."""
    body: JsonObject = {
        "model": request.model,
        "messages": [_message(one) for one in request.messages],
        # Many compatible servers know the old name alone; newer models refuse it.
        "max_completion_tokens" if is_own else "max_tokens": request.max_tokens,
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in request.tools
        ]
    return body


def _message(message: WireMessage) -> JsonObject:
    if message.role == "tool":
        text = f"Error: {message.text}" if message.is_error else message.text  # no field says so here
        return {"role": "tool", "tool_call_id": message.call_id, "content": text}
    found: JsonObject = {"role": message.role, "content": message.text}
    if message.reasoning:
        found["reasoning_content"] = message.reasoning
    if message.calls:
        found["content"] = message.text or None
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": given_arguments(call)},
            }
            for call in message.calls
        ]
    return found


@dataclass
class _Reading:
    """An answer as it comes."""

    text: str = ""
    reasoning: str = ""
    calls: list[CallPart] = field(default_factory=list)
    by_index: dict[int, CallPart] = field(default_factory=dict)
    use: TokenUse = field(default_factory=TokenUse)
    stop: str = ""

    def take(self, said: Any) -> str:
        """Take a message, or a part of one; return its text."""
        for name in REASONING:
            thought = getattr(said, name, None)
            if isinstance(thought, str):
                self.reasoning += thought
                break
        for place, call in enumerate(said.tool_calls or []):
            index = getattr(call, "index", None)
            self._take_call(call, place if index is None else index)
        text = said.content or ""
        self.text += text
        return str(text)

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

    def doing(self) -> str:
        """Describe a model that works without text, "" for nothing yet."""
        if self.calls:
            return f"writes a call of {self.calls[-1].name}"
        return "thinks" if self.reasoning else ""

    def count(self, usage: Any) -> None:
        if usage is not None:
            self.use = TokenUse(
                model_call.tokens_of(usage.prompt_tokens), model_call.tokens_of(usage.completion_tokens)
            )

    def reply(self) -> Reply:
        calls = tuple(tool_call(part, number) for number, part in enumerate(self.calls))
        return Reply(self.text, calls, self.reasoning, self.use, self.stop == "length")


@dataclass
class _Exchange:
    """A request and its answer, whole or in parts."""

    client: openai.AsyncOpenAI
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
            self._whole(await self.client.chat.completions.create(**body))
        return self.reading.reply()

    def _whole(self, answer: Any) -> str:
        """Read an answer in one piece; return its text."""
        if isinstance(answer, str):  # not called JSON
            answer = object_of(answer, self.endpoint) or answer
        if isinstance(answer, dict):
            answer = _completion(answer)
        if not getattr(answer, "choices", None) and getattr(answer, "error", None):
            raise self.endpoint.refused(answer.error, self.request)
        text = self.reading.take(answer.choices[0].message)
        self.reading.stop = answer.choices[0].finish_reason or "stop"
        self.reading.count(answer.usage)
        return text

    async def _stream(self, body: JsonObject) -> None:
        """Read an answer part by part. Raises ChatError without its end."""
        import httpx2
        import openai

        stream: Any = await self.client.chat.completions.create(**body, stream=True)
        try:
            answer = await object_instead(stream.response, self.endpoint)
            if answer is not None:
                self._show(self._whole(answer))
                return
            async for chunk in stream:
                await self.listener.go_on(stream.response)
                self.reading.count(getattr(chunk, "usage", None))
                for choice in chunk.choices[:1]:
                    text = self.reading.take(choice.delta)
                    self.reading.stop = choice.finish_reason or self.reading.stop
                    self._show(text)
        except (openai.APIConnectionError, httpx2.HTTPError) as bad:
            self.listener.check()
            raise self.endpoint.broken_off() from bad
        self.listener.check()
        if not self.reading.stop:
            raise self.endpoint.broken_off()

    def _show(self, text: str) -> None:
        self.wait.has_text = self.wait.has_text or bool(text)
        self.listener.hear(text)


def _completion(answer: JsonObject) -> Any:
    """Return an object as the SDK would."""
    from openai.types.chat import ChatCompletion

    return ChatCompletion.construct(**{"usage": None, **answer})
