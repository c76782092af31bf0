"""The way to a provider's server, and its failures in a line."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import urlsplit

from memlayer.adapters.llm import model_call
from memlayer.errors import ChatError, ConsolidationError, ContextTooLong

T = TypeVar("T")
CONNECT_S = 15.0
NO_KEY = "none"  # the SDKs insist on one; a server of one's own does not look at it
# How servers say that a request does not fit into the model's context. Looked for, never shown.
TOO_LONG = (
    "context_length", "context length", "context size", "context_size", "context window", "prompt is too long",
    "maximum context",
)  # fmt: skip
UNREACHED = ("ConnectError", "ConnectTimeout")


class NotCharged(ChatError):
    """A request that no model has read: nothing is to be paid."""


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

    def run(self, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        """Return the call's result. Raises ChatError at the deadline."""
        try:
            return model_call.run(call, deadline_s, self.name)
        except ConsolidationError as late:
            raise ChatError(f"{late}: ask again, or raise agent.timeout_s") from late

    def broken_off(self) -> ChatError:
        """Return the error for an answer that ends in the middle."""
        return ChatError(f"{self.name}: the answer broke off in the middle: ask again")

    def failure(self, bad: Exception, model: str) -> ChatError:
        """Return an SDK's error as one line, without its text.

        That may repeat the request or a key.
        """
        status = getattr(bad, "status_code", None)
        if isinstance(status, int) and status >= 300:
            said = str(bad).lower()
            kind_of = TooLong if is_too_long(status, said) else NotCharged
            return kind_of(f"{self.name}: {self._advice(status, model, said)} (HTTP {status})")
        kind = type(bad).__name__
        if kind == "APITimeoutError" or kind == "APIConnectionError":
            is_late = kind == "APITimeoutError" and type(bad.__cause__).__name__ not in UNREACHED
            if is_late:
                return ChatError(f"{self.name} did not answer in time: ask again, or raise agent.timeout_s")
            unreached = type(bad.__cause__).__name__ in UNREACHED
            return (NotCharged if unreached else ChatError)(self._unreached())
        if isinstance(bad, (AttributeError, TypeError, ValueError, LookupError)):
            return ChatError(f"{self.name}: {self.url} gives no answer of its interface ({kind}): see agent.base_url")
        return ChatError(f"{self.name}: the answer broke off ({kind}): ask again")

    def _unreached(self) -> str:
        if self.is_own:
            return f"{self.name}: no connection to {self.url}: is this machine online?"
        return f"{self.name}: no connection: is the server running at {self.url}? See agent.base_url"

    def _advice(self, status: int, model: str, said: str) -> str:
        """Return how to go on.

        said: the server's text, in lower case.
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
        if is_too_long(status, said):
            return "the talk is too long for the model: lower agent.max_context_tokens"
        if status == 429:
            return "too many requests, or the quota is used up: wait, or look at your plan"
        if refuses_tools(status, said):
            return "the server takes no tools: set agent.tool_dispatcher to xml"
        if status >= 500:
            return "the server fails: ask again later"
        return "the request is refused: see agent.model and agent.max_tokens"


def is_too_long(status: int, said: str) -> bool:
    """Return whether a server's error is about the length of the request."""
    return status == 413 or (status not in (401, 403, 404) and any(sign in said for sign in TOO_LONG))


def refuses_tools(status: int, said: str) -> bool:
    """Return whether a server's error is about tools.

    Old versions of llama.cpp answer 500 (Unsupported param: tools).
    """
    return "tool" in said and (status in (400, 422, 501) or (status == 500 and "param" in said))
