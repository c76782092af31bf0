"""The way to a provider's server, and its failures in a line."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memlayer.adapters.chat.failures import is_page, is_too_long, message_in, presentable, refuses_tools, server_message
from memlayer.adapters.chat.waiting import Wait
from memlayer.adapters.llm import model_call
from memlayer.chat import ChatRequest, OnWait
from memlayer.errors import ChatError, ConsolidationError, ContextTooLong

T = TypeVar("T")
JsonObject = dict[str, Any]
CONNECT_S = 15.0
NO_KEY = "none"  # the SDKs insist on one; a server of one's own does not look at it
UNREACHED = ("ConnectError", "ConnectTimeout")


class NotCharged(ChatError):
    """A request that no model has read: nothing is to be paid."""


class ToolsRefused(NotCharged):
    """A request that the server refuses for its tools."""


class TooLong(NotCharged, ContextTooLong):
    """A request that the server refuses for its length."""


@dataclass(frozen=True)
class Endpoint:
    """Address and key of a provider.

    base_url "": own_url, the provider's own. key_variable: the environment variable with the key. is_key_named: the
    person chose that variable; another address is sent no key otherwise, since a key that lies about belongs to the
    provider's own. requirement: the SDK.
    """

    name: str
    own_url: str
    requirement: str
    base_url: str = ""
    key_variable: str = ""
    is_key_named: bool = False
    max_retries: int = 2

    @property
    def url(self) -> str:
        """Address that requests go to."""
        return self.base_url or self.own_url

    @property
    def is_own(self) -> bool:
        """True for the provider's own server."""
        return urlsplit(self.url).hostname == urlsplit(self.own_url).hostname

    def key(self) -> str:
        """Return the key. Raises NotCharged when it is needed and unset."""
        if not self.is_own and not self.is_key_named:
            return NO_KEY
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise NotCharged(f"{self.key_variable} is not set: export it, or name another one in agent.api_key_env")
        if not (key.isascii() and key.isprintable()):
            raise NotCharged(f"{self.key_variable} does not hold a key: it has other characters than a header may have")
        return key

    def check(self) -> None:
        """Look for package and key. Raises NotCharged."""
        command = model_call.install_command(self.name, self.requirement)
        if command:
            raise NotCharged(f"the {self.name} package is not installed: run {command}")
        self.key()

    def wait(self, model: str, tell: OnWait | None, deadline_s: float, doing: Callable[[], str]) -> Wait:
        """Return the wait for an answer; see Wait."""
        return Wait(f"{self.name} ({model} at {self.url})", tell, deadline_s, doing)

    def run(self, call: Callable[[], Awaitable[T]], deadline_s: float, wait: Wait) -> T:
        """Return the call's result. Raises ChatError at the deadline."""

        async def told() -> T:
            wait.begin()
            return await call()

        try:
            return model_call.run(told, deadline_s, self.name)
        except ConsolidationError as late:
            raise ChatError(f"{late}: ask again, or raise agent.timeout_s") from late

    def broken_off(self) -> ChatError:
        """Return the error for an answer that ends in the middle."""
        return ChatError(f"{self.name}: the answer broke off in the middle: ask again")

    def failure(self, bad: Exception, request: ChatRequest) -> ChatError:
        """Return an SDK's error as one line, with the server's message.

        Without any text of the request and without the key, which that message may repeat.
        """
        status = getattr(bad, "status_code", None)
        body = getattr(bad, "body", None)
        message = server_message(bad, texts_of(request), self._sent_key())
        if isinstance(status, int) and status >= 300:
            read = f"{bad} {message_in(body)}".lower()
            if isinstance(body, str) and is_page(body) and status < 500 and status not in (401, 403, 429):
                return self.web_page(body, f" (HTTP {status})")
            refused = ToolsRefused if request.tools and refuses_tools(status, read) else NotCharged
            kind_of = TooLong if is_too_long(status, read) else refused
            advice = f"{self.name}: {self._advice(status, request.model, read)} (HTTP {status})"
            return kind_of(with_message(advice, message))
        kind = type(bad).__name__
        if kind == "APITimeoutError" or kind == "APIConnectionError":
            is_late = kind == "APITimeoutError" and type(bad.__cause__).__name__ not in UNREACHED
            if is_late:
                return ChatError(f"{self.name} did not answer in time: ask again, or raise agent.timeout_s")
            unreached = type(bad.__cause__).__name__ in UNREACHED
            return (NotCharged if unreached else ChatError)(self._unreached())
        if isinstance(bad, json.JSONDecodeError) and is_page(bad.doc):
            return self.web_page(bad.doc)
        if isinstance(bad, (AttributeError, TypeError, ValueError, LookupError)):
            return ChatError(f"{self.name}: {self.url} gives no answer of its interface ({kind}): see agent.base_url")
        return ChatError(with_message(f"{self.name}: the answer broke off ({kind}): ask again", message))

    def web_page(self, page: str, status: str = "") -> ChatError:
        """Return the error for a web page in an answer's place."""
        what = presentable(page, key=self._sent_key())
        return NotCharged(f"{self.name}: {self.url} answers with {what}, not as a model{status}: see agent.base_url")

    def refused(self, body: object, request: ChatRequest) -> ChatError:
        """Return the error that came with a status of success."""
        message = presentable(message_in(body), texts_of(request), self._sent_key())
        return ChatError(with_message(f"{self.name}: the server gives no answer: see agent.model", message))

    def _sent_key(self) -> str:
        with contextlib.suppress(ChatError):
            key = self.key()
            return "" if key == NO_KEY else key
        return ""

    def _unreached(self) -> str:
        if self.is_own:
            return f"{self.name}: no connection to {self.url}: is this machine online?"
        return f"{self.name}: no connection: is the server running at {self.url}? See agent.base_url"

    def _advice(self, status: int, model: str, message: str) -> str:
        """Return how to go on.

        message: the server's, in lower case.
        """
        if status in (401, 403):
            if not self.is_own and not self.is_key_named:
                return "the server wants a key: name the variable that holds it in agent.api_key_env"
            return f"the key in {self.key_variable} is refused: set a valid one"
        if status < 400:
            return "the server sends the talk elsewhere, where it does not go: correct agent.base_url"
        if status == 404:
            see = "agent.model" if self.is_own else "agent.model and agent.base_url"
            return f"no model {model!r} there: see {see}"
        if is_too_long(status, message):
            return "the talk is too long for the model: lower agent.max_context_tokens"
        if status == 429:
            return "too many requests, or the quota is used up: wait, or look at your plan"
        if refuses_tools(status, message):
            return "the server takes no tools: set agent.tool_dispatcher to xml"
        if status >= 500:
            return "the server fails: ask again later"
        return "the request is refused: see agent.model and agent.max_tokens"


def with_message(advice: str, message: str) -> str:
    """Return advice with the server's message behind it, if any."""
    return f"{advice}. The server says: {message}" if message else advice


def texts_of(request: ChatRequest) -> list[str]:
    """Return the texts that a request sends."""
    texts = [text for one in request.messages for text in (one.text, one.reasoning)]
    texts += [json.dumps(dict(call.arguments), ensure_ascii=False) for one in request.messages for call in one.calls]
    return texts


async def object_instead(response: Any, endpoint: Endpoint) -> JsonObject | None:
    """Return the object given instead of a stream, None for a stream.

    Read as a whole where it is not called a stream; a stream by another name can still be read. Raises ChatError for a
    web page.
    """
    if "event-stream" in response.headers.get("content-type", ""):
        return None
    await response.aread()
    return object_of(response.text, endpoint)


def object_of(text: str, endpoint: Endpoint) -> JsonObject | None:
    """Return the JSON object of an answer, None for another text.

    Raises ChatError for a web page.
    """
    if is_page(text):
        raise endpoint.web_page(text)
    with contextlib.suppress(ValueError, RecursionError):
        answer = json.loads(text)
        return answer if isinstance(answer, dict) else None
    return None
