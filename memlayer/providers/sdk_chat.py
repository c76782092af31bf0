"""ChatProvider over an official SDK; both of them are built alike."""

import contextlib
import importlib.util
import json
import shlex
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse
from memlayer.config.providers import Provider
from memlayer.edge.bootstrap import extras
from memlayer.providers.endpoint import Endpoint, NotSent
from memlayer.providers.failures import Listener, Wait, is_page
from memlayer.providers.tools import CallPart, tool_call

JsonObject = dict[str, Any]
CONNECT_S = 15.0
REFUSED = (400, 422)  # a server's answer to an unknown parameter


@dataclass(frozen=True)
class Sdk:
    """A loaded SDK: its module, client class and root error."""

    module: Any
    client: Any
    error: type[Exception]


@dataclass
class AnswerReading(ABC):
    """An answer as it comes.

    model: that was asked. stop: why it ended, "" for not yet. is_whole: a stream has had its end.
    """

    model: str
    text: str = ""
    calls: list[CallPart] = field(default_factory=list)
    use: TokenUse = field(default_factory=TokenUse)
    stop: str = ""
    is_whole: bool = False

    @abstractmethod
    def take(self, event: Any) -> str:
        """Take an event of a stream; return its text."""

    @abstractmethod
    def take_whole(self, answer: Any) -> str:
        """Take an answer in one piece; return its text."""

    @abstractmethod
    def thought(self) -> str:
        """Return the model's reasoning, as it is given back."""

    @property
    @abstractmethod
    def is_cut(self) -> bool:
        """True for an answer that ended at its bound."""

    def doing(self) -> str:
        """Describe a model that works without text, "" for nothing yet."""
        if self.calls:
            return f"writes a call of {self.calls[-1].name}"
        return "thinks" if self.thought() else ""

    def reply(self) -> Reply:
        """Return the answer."""
        calls = tuple(tool_call(part, number) for number, part in enumerate(self.calls))
        return Reply(self.text, calls, self.thought(), self.use, self.is_cut)


class SdkChat(ABC):
    """A talk by an SDK's client.

    It goes to the address that was named, by no redirect, with the key that was named: an SDK would otherwise look for
    both in variables and files of its own. Parameters that only some servers know are left out once one was refused.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._is_plain = False  # the server has refused parameters that only some know

    @property
    def name(self) -> str:
        """See ChatProvider."""
        return self._endpoint.name

    def supports_native_tools(self) -> bool:
        """See ChatProvider."""
        return True

    def check(self) -> None:
        """See ChatProvider."""
        provider = self._endpoint.provider
        command = install_command(provider)
        if command:
            raise NotSent(f"the {provider.package} package is not installed: run {command}")
        self._endpoint.check()

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider."""
        self.check()
        endpoint, key, sdk = self._endpoint, self._endpoint.key(), self.load()
        import httpx2

        reading = self.reading(request.model)
        wait = endpoint.wait(request.model, on_wait, deadline_s, reading.doing)

        async def call() -> Reply:
            async with sdk.client(
                api_key=key,
                base_url=endpoint.url,
                timeout=sdk.module.Timeout(deadline_s, connect=min(CONNECT_S, deadline_s)),
                max_retries=endpoint.max_retries,
                default_headers=dict.fromkeys(self.foreign_headers(), sdk.module.Omit()),
                http_client=endpoint.client(
                    sdk.module.DefaultAsyncHttpxClient, httpx2.AsyncClient, httpx2.InvalidURL, wait.note
                ),
            ) as client:
                body = self.body(request)
                more = {} if self._is_plain else self.extras(request, is_stream=on_text is not None)
                exchange = _Exchange(self, client, endpoint, request, reading, wait, Listener(on_text))
                try:
                    return await exchange.answer({**body, **more})
                except sdk.module.APIStatusError as bad:
                    if not more or bad.status_code not in REFUSED:
                        raise
                    reply = await exchange.answer(body)
                    self._is_plain = True
                    return reply

        try:
            return endpoint.run(call, deadline_s, wait)
        except (sdk.error, httpx2.HTTPError, AttributeError, LookupError, TypeError, ValueError) as bad:
            raise endpoint.failure(bad, request) from bad

    @abstractmethod
    def load(self) -> Sdk:
        """Load the SDK, in a second and some 50 MB."""

    @abstractmethod
    async def create(self, client: Any, body: JsonObject) -> Any:
        """Have a client send a body."""

    @abstractmethod
    def body(self, request: ChatRequest) -> JsonObject:
        """Return a request in the interface's shape."""

    @abstractmethod
    def extras(self, request: ChatRequest, *, is_stream: bool) -> JsonObject:
        """Return parameters that some servers and models refuse."""

    @abstractmethod
    def reading(self, model: str) -> AnswerReading:
        """Return an answer before its first part."""

    @abstractmethod
    def construct(self, answer: JsonObject) -> Any:
        """Return an object as the SDK would."""

    def foreign_headers(self) -> list[str]:
        """Return headers that the SDK takes from its own variable."""
        return []


@dataclass
class _Exchange:
    """A request and its answer, whole or in parts."""

    chat: SdkChat
    client: Any
    endpoint: Endpoint
    request: ChatRequest
    reading: AnswerReading
    wait: Wait
    listener: Listener

    async def answer(self, body: JsonObject) -> Reply:
        """Send a body, read its answer. Raises ChatError and the SDK's errors."""
        if self.listener.is_there:
            await self._stream(body)
        else:
            self._whole(await self.chat.create(self.client, body))
        return self.reading.reply()

    def _whole(self, answer: Any) -> str:
        """Read an answer in one piece; return its text."""
        if isinstance(answer, str):  # not called JSON
            answer = object_of(answer, self.endpoint) or answer
        if isinstance(answer, dict):
            answer = self.chat.construct(answer)
        is_empty = not (getattr(answer, "content", None) or getattr(answer, "choices", None))
        if is_empty and getattr(answer, "error", None):
            raise self.endpoint.refused(answer.error, self.request)
        return self.reading.take_whole(answer)

    async def _stream(self, body: JsonObject) -> None:
        """Read an answer part by part. Raises ChatError without its end."""
        import httpx2

        stream = await self.chat.create(self.client, {**body, "stream": True})
        try:
            answer = await object_instead(stream.response, self.endpoint)
            if answer is not None:
                self._show(self._whole(answer))
                return
            async for event in stream:
                await self.listener.go_on(stream.response)
                self._show(self.reading.take(event))
        except (self.chat.load().module.APIConnectionError, httpx2.HTTPError) as bad:
            self.listener.check()
            raise self.endpoint.broken_off() from bad
        self.listener.check()
        if not self.reading.is_whole:
            raise self.endpoint.broken_off()

    def _show(self, text: str) -> None:
        self.wait.has_text = self.wait.has_text or bool(text)
        self.listener.hear(text)


async def object_instead(response: Any, endpoint: Endpoint) -> JsonObject | None:
    """Return the object given instead of a stream, None for a stream.

    Read as a whole where it is not called a stream. A stream by another name can still be read. Raises ChatError for a
    web page.
    """
    if "event-stream" in response.headers.get("content-type", ""):
        return None
    await response.aread()
    return object_of(response.text, endpoint)


def object_of(text: str, endpoint: Endpoint) -> JsonObject | None:
    """Return an answer's JSON object or None. Raises ChatError for HTML."""
    if is_page(text):
        raise endpoint.web_page(text)
    with contextlib.suppress(ValueError, RecursionError):
        answer = json.loads(text)
        return answer if isinstance(answer, dict) else None
    return None


def install_command(provider: Provider) -> str:
    """Return the command that installs an SDK, "" for an installed one."""
    try:
        if importlib.util.find_spec(provider.package) is not None:
            return ""
    except ValueError:  # it is being kept out
        pass
    command = extras.command_for(provider.name)
    if command:
        return command
    python, requirement = shlex.quote(sys.executable), extras.EXTRAS[provider.name]
    with_pip = importlib.util.find_spec("pip") is not None
    return f"{python} -m pip install '{requirement}'" if with_pip else f"uv pip install -p {python} '{requirement}'"


def tokens_of(*counts: object) -> int:
    """Sum token counts of a provider; invalid counts are 0."""
    return sum(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)
