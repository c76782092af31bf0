"""The way to a provider's server, and its failures in a line."""

import asyncio
import contextlib
import functools
import json
import os
import ssl
import sys
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from memlayer.chat import ChatRequest, OnWait
from memlayer.config.providers import NETWORK_VARIABLES, Provider, is_loopback, network_problem, proxy_variable
from memlayer.errors import ChatError, ContextTooLong
from memlayer.providers.failures import Wait, is_page, is_too_long, message_in, presentable, refuses_tools

ACCEPTED = "gzip"
MOST_BYTES = 32 << 20  # of the longest answer as events. Requests may ask for less
MOST_BYTES_KEY = "memlayer_most_bytes"  # in the extensions of a request
_PIECE_BYTES = 1 << 16
T = TypeVar("T")
NO_KEY = "none"  # the SDKs insist on one. A server of one's own does not look at it
UNREACHED = frozenset({"ConnectError", "ConnectTimeout", "ProxyError", "UnsupportedProtocol"})


class BodyRefused(ChatError):
    """A body that is not read on, and why."""


def refusal_in(bad: BaseException) -> BodyRefused | None:
    """Return why an error refuses an answer; None for others.

    One that is no HTTP counts, one that ends too soon does not.
    """
    cause: BaseException | None = bad
    while cause is not None and not isinstance(cause, BodyRefused):
        is_foreign = type(cause).__name__ == "RemoteProtocolError"
        if is_foreign and not any(word in str(cause) for word in ("disconnected", "peer closed")):
            return BodyRefused("is no HTTP, or its head has no end")
        cause = cause.__cause__ or cause.__context__
    return cause


def bound(response: Any) -> None:
    """Bound the reading of a response; a hook of a client.

    Raises BodyRefused for another encoding, as reading it does at the limit.
    """
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", ACCEPTED):
        raise BodyRefused("is packed as nobody asked for")
    response.headers.pop("content-length", None)
    most = response.request.extensions.get(MOST_BYTES_KEY, MOST_BYTES)
    response.stream = _stream_class(type(response).__module__.partition(".")[0])(
        response.stream, _Meter(encoding, most)
    )


async def bound_later(response: Any) -> None:
    """As bound, for an asynchronous client."""
    bound(response)


class _Meter:
    """Unpacks pieces of a body, and counts them."""

    def __init__(self, encoding: str, most_bytes: int) -> None:
        self._left, self._most = most_bytes, most_bytes
        self._unzip = zlib.decompressobj(31) if encoding == ACCEPTED else None

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        while raw:
            piece, rest = raw, b""
            if self._unzip is not None:
                try:
                    piece, rest = self._unzip.decompress(raw, _PIECE_BYTES), self._unzip.unconsumed_tail
                except zlib.error as bad:
                    raise BodyRefused("is no " + ACCEPTED) from bad
            self._left -= len(piece) or len(raw)
            if self._left < 0:
                raise BodyRefused(f"has no end (over {self._most >> 10:,} kB)")
            if piece:
                yield piece
            raw = rest


@functools.cache
def _stream_class(package: str) -> Any:
    """Return the class of bounded streams that a package accepts."""
    http = sys.modules[package]

    class Bounded(http.AsyncByteStream, http.SyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, inner: Any, meter: _Meter) -> None:
            self._inner, self._meter = inner, meter
            self.elapsed = None  # the packages note it here
            self.close, self.aclose = getattr(inner, "close", None), getattr(inner, "aclose", None)

        def __iter__(self) -> Iterator[bytes]:
            for raw in self._inner:
                yield from self._meter.pieces(raw)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for raw in self._inner:
                for piece in self._meter.pieces(raw):
                    yield piece

    return Bounded


class NotCharged(ChatError):
    """A request that no model has read: nothing is to be paid."""


class NotSent(NotCharged):
    """A request that was not sent: no program, package, key or way."""


class ToolsRefused(NotCharged):
    """A request that the server refuses for its tools."""


class TooLong(NotCharged, ContextTooLong):
    """A request that the server refuses for its length."""


@dataclass(frozen=True)
class Asker:
    """The settings on whose behalf a provider is asked.

    group: their name. is_daemon: the daemon asks, in an environment of its own, and nobody waits: failures do not
    repeat the server's words, which may hold a turn's.
    """

    group: str
    is_daemon: bool = True

    @property
    def again(self) -> str:
        """Advice after a failure that may pass."""
        return "it is asked again later" if self.is_daemon else "ask again"


@dataclass(frozen=True)
class Endpoint:
    """Address and key of a provider.

    base_url "": the provider's own server. key_variable: the environment variable with the key to send, "" for none.
    """

    provider: Provider
    asker: Asker
    base_url: str = ""
    key_variable: str = ""
    max_retries: int = 0

    @property
    def name(self) -> str:
        """The provider, as settings name it."""
        return self.provider.name

    @property
    def url(self) -> str:
        """Address that requests go to."""
        return self.base_url or self.provider.url

    @property
    def host(self) -> str:
        """Host, and port where one is given."""
        return urlsplit(self.url).netloc

    @property
    def is_own(self) -> bool:
        """True for the provider's own server."""
        return self.provider.is_own(self.base_url)

    def known(self, **parameters: Any) -> dict[str, Any]:
        """Return those of a request's parameters that this server is sent."""
        return self.provider.known(self.base_url, parameters)

    def key(self) -> str:
        """Return the key. Raises NotSent when it is needed and unset."""
        variable, group = self.key_variable, self.asker.group
        if not variable:
            return NO_KEY
        key = os.environ.get(variable, "").strip()
        if not key and self.asker.is_daemon:
            raise NotSent(
                f"{variable} is not set where the daemon was started: in a shell that has it, run memlayer daemon "
                "restart"
            )
        if not key:
            raise NotSent(f"{variable} is not set: export it, or name another one in {group}.api_key_env")
        if not (key.isascii() and key.isprintable()):
            raise NotSent(f"{variable} does not hold a key: it has other characters than a header may have")
        return key

    def check(self) -> None:
        """Look for key and way; loads and sends nothing. Raises NotSent."""
        self.key()
        problem = network_problem(self.url)
        if problem:
            raise NotSent(f"{self.name}: {problem}" + ", then memlayer daemon restart" * self.asker.is_daemon)

    def client(
        self, usual: Callable[..., Any], plain: Callable[..., Any], invalid: type[Exception], *hooks: Any, **more: Any
    ) -> Any:
        """Return an HTTP client whose answers are bounded.

        usual: a class that looks for a proxy by itself. plain: its like that need not, for this machine. invalid: its
        error for a wrong address. hooks: see each response first. Raises NotSent for variables that make none.
        """
        more["headers"] = {**more.get("headers", {}), "accept-encoding": ACCEPTED}
        make = plain if is_loopback(self.url) else usual
        try:
            seen = {"response": [*hooks, bound_later]}
            return make(follow_redirects=False, event_hooks=seen, **direct(self.url), **more)
        except (ImportError, OSError, ValueError, invalid) as bad:
            named = ", ".join(name for name in NETWORK_VARIABLES if os.environ.get(name)) or type(bad).__name__
            raise NotSent(f"{self.name}: no connection can be made with {named}: correct or unset it") from bad

    def wait(self, model: str, tell: OnWait | None, deadline_s: float, doing: Callable[[], str]) -> Wait:
        """Return the wait for an answer; see Wait."""
        return Wait(f"{self.name} ({model} at {self.url})", tell, deadline_s, doing)

    def run(self, call: Callable[[], Awaitable[T]], deadline_s: float, wait: Wait) -> T:
        """Return the call's result. Raises ChatError at the deadline.

        The deadline also holds when the other side sends a byte at a time.
        """

        async def bounded() -> T:
            wait.begin()
            async with asyncio.timeout(deadline_s):
                return await call()

        try:
            return asyncio.run(bounded())
        except BodyRefused as bad:
            raise self.unread(bad) from bad
        except TimeoutError as late:
            raise ChatError(f"{self.name} did not answer within {deadline_s:g} s: {self._slow}") from late

    def broken_off(self) -> ChatError:
        """Return the error for an answer that ends in the middle."""
        return ChatError(f"{self.name}: the answer broke off in the middle: {self.asker.again}")

    def failure(self, bad: Exception, request: ChatRequest) -> ChatError:
        """Return an error as one line, without the request and the key."""
        if refused_body := refusal_in(bad):
            return self.unread(refused_body)
        status, body, kind = getattr(bad, "status_code", None), getattr(bad, "body", None), type(bad).__name__
        message = self._words(message_in(body), request)
        if isinstance(status, int) and status >= 300:
            read = f"{bad} {message_in(body)}".lower()
            if isinstance(body, str) and is_page(body) and status < 500 and status not in (401, 403, 429):
                return self.web_page(body, f" (HTTP {status})")
            refused = ToolsRefused if request.tools and refuses_tools(status, read) else NotCharged
            kind_of = TooLong if is_too_long(status, read) else refused
            advice = f"{self.name}: {self._advice(status, request.model, read)} (HTTP {status})"
            return kind_of(with_message(advice, message))
        if UNREACHED & {kind, type(bad.__cause__).__name__}:
            return NotSent(self._unreached())
        if kind == "APITimeoutError":
            return ChatError(f"{self.name} did not answer in time: {self._slow}")
        if kind in ("APIConnectionError", "ReadError", "RemoteProtocolError", "WriteError"):
            return self.broken_off() if "peer closed" in str(bad) else ChatError(self._unreached())
        group = self.asker.group
        if isinstance(bad, json.JSONDecodeError) and is_page(bad.doc):
            return self.web_page(bad.doc)
        if isinstance(bad, (AttributeError, TypeError, ValueError, LookupError)):
            return ChatError(f"{self.name}: {self.url} gives no answer of its interface ({kind}): see {group}.base_url")
        return ChatError(with_message(f"{self.name}: the answer broke off ({kind}): {self.asker.again}", message))

    def web_page(self, page: str, status: str = "") -> ChatError:
        """Return the error for a web page in an answer's place."""
        what = presentable(page, key=self._sent_key())
        see = f"see {self.asker.group}.base_url"
        return NotCharged(f"{self.name}: {self.url} answers with {what}, not as a model{status}: {see}")

    def unread(self, bad: BodyRefused) -> ChatError:
        """Return the error for an answer that is not read on."""
        return ChatError(f"{self.name}: the answer of {self.url} {bad}: see {self.asker.group}.base_url")

    def refused(self, body: object, request: ChatRequest) -> ChatError:
        """Return the error that came with a status of success."""
        advice = f"{self.name}: the server gives no answer: see {self.asker.group}.model"
        return ChatError(with_message(advice, self._words(message_in(body), request)))

    def _words(self, message: str, request: ChatRequest) -> str:
        """Return a server's message as it may be shown, "" for none."""
        return "" if self.asker.is_daemon else presentable(message, texts_of(request), self._sent_key())

    def _sent_key(self) -> str:
        with contextlib.suppress(ChatError):
            key = self.key()
            return "" if key == NO_KEY else key
        return ""

    @property
    def _slow(self) -> str:
        return self.asker.again

    def _unreached(self) -> str:
        proxy = proxy_variable(self.url)
        if proxy:
            return f"{self.name}: no connection to {self.url} by the proxy in {proxy}: correct it, or unset it"
        if self.is_own:
            return f"{self.name}: no connection to {self.url}: is this machine online?"
        return f"{self.name}: no connection: is the server running at {self.url}? See {self.asker.group}.base_url"

    def _advice(self, status: int, model: str, message: str) -> str:
        """Return how to go on after the server's message, in lower case."""
        group = self.asker.group
        if status in (401, 403):
            if not self.key_variable:
                return f"the server wants a key: name the variable that holds it in {group}.api_key_env"
            return f"the key in {self.key_variable} is refused: set a valid one"
        if status < 400:
            return f"the server sends the talk elsewhere, where it does not go: correct {group}.base_url"
        if status == 404:
            see = f"{group}.model" if self.is_own else f"{group}.model and {group}.base_url"
            return f"no model {model!r} there: see {see}"
        is_agent = not self.asker.is_daemon
        if is_too_long(status, message):
            return "the text is too long for the model" + ": lower agent.max_context_tokens" * is_agent
        if status == 429:
            return "too many requests, or the quota is used up: wait, or look at your plan"
        if is_agent and refuses_tools(status, message):
            return "the server takes no tools: set agent.tool_dispatcher to xml"
        if status >= 500:
            return f"the server fails: {self.asker.again}" + " later" * is_agent
        return f"the request is refused: see {group}.model"


def direct(url: str) -> dict[str, Any]:
    """Return arguments of a client that asks this machine directly.

    Variables of the network are not heeded there, but for certificates.
    """
    if not is_loopback(url):
        return {}
    verify = {"verify": ssl.create_default_context()} if url.startswith("https:") else {}
    return {"trust_env": False, **verify}


def with_message(advice: str, message: str) -> str:
    """Return advice with the server's message behind it, if any."""
    return f"{advice}. The server says: {message}" if message else advice


def texts_of(request: ChatRequest) -> list[str]:
    """Return the texts that a request sends."""
    texts = [text for message in request.messages for text in (message.text, message.reasoning)]
    texts += [
        json.dumps(dict(call.arguments), ensure_ascii=False) for message in request.messages for call in message.calls
    ]
    return texts
