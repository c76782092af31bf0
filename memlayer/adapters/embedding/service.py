"""A provider's interface for embeddings, and its requests' thread.

The requests of one provider share an event loop and its open connections: a new one costs a prompt the handshakes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

from memlayer.adapters.llm import model_call
from memlayer.errors import EmbedderError
from memlayer.ports import ModelMissing

T = TypeVar("T")
KEEP_ALIVE_S = 300.0  # prompts come minutes apart; servers that close earlier are noticed
GRACE_S = 0.05  # for a cancelled request to end
_REFUSED = (400, 413, 422)
_HINTS = {
    401: "the key is refused, or embedding.api_key_env names none",
    403: "the key is refused, or embedding.api_key_env names none",
    404: "no such model, or not the address of this interface",
    429: "too many requests, or nothing left to spend",
}


@dataclass(frozen=True)
class Answered:
    """Raw vectors, one a text. tokens: the server's count, or 0."""

    vectors: Sequence[Sequence[float]]
    tokens: int = 0


class ServiceError(EmbedderError):
    """A request that failed: one line without its text and key.

    retry_after_s: as the server asks, 0 when it does not. is_refusal: the server is well, and refuses what was sent.
    """

    def __init__(self, says: str, retry_after_s: float = 0.0, *, is_refusal: bool = False) -> None:
        super().__init__(says)
        self.retry_after_s, self.is_refusal = retry_after_s, is_refusal


class LateError(ServiceError):
    """A request that missed its deadline."""


class Place:
    """The model and address that a provider's embeddings are asked of."""

    name: str
    own_url: str

    def __init__(self, model: str, *, base_url: str, key_variable: str, dimensions: int = 0) -> None:
        """Keep a model and its address.

        base_url "": the provider's own, which needs a key. key_variable: the environment variable that holds it.
        dimensions: 0 for the model's own.
        """
        self.model, self.dimensions = model, dimensions
        self.is_own_address = not base_url
        self._base_url, self._key_variable = base_url or self.own_url, key_variable
        self.host = urlsplit(self._base_url).netloc
        self._client: Any = None


class Service(Protocol):
    """A provider of embeddings at an address."""

    @property
    def name(self) -> str:
        """The provider, as settings name it."""

    @property
    def model(self) -> str: ...

    @property
    def host(self) -> str:
        """Host, and port where one is given."""

    @property
    def is_own_address(self) -> bool:
        """True at the provider's own address."""

    @property
    def dimensions(self) -> int:
        """Length of the vectors that it asks for; 0: the model's own."""

    def prepare(self) -> None:
        """Look for package and key, and load the package. Raises EmbedderError."""

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """Embed texts that are not empty, in their order. Raises ServiceError."""

    async def close(self) -> None:
        """Close the connections."""


def check_requirements(package: str, requirement: str, key_variable: str, *, needs_key: bool) -> str:
    """Return the key. Raises EmbedderError without package or needed key."""
    try:
        model_call.check_package(package, requirement)
        return model_call.key_from(key_variable, is_needed=needs_key)
    except ModelMissing as bad:
        raise EmbedderError(str(bad)) from bad


def failure(error: Exception, name: str, status: object, headers: Mapping[str, str] | None = None) -> ServiceError:
    """Return an SDK's error as one line: its HTTP status or kind.

    Its own text may repeat what was sent, or a key. headers: of the answer, for Retry-After in seconds.
    """
    if not isinstance(status, int):
        return ServiceError(str(model_call.redacted_error(error, name)))
    hint = _HINTS.get(status, "")
    retry_after = (headers or {}).get("retry-after", "")
    return ServiceError(
        "%s: HTTP %d%s" % (name, status, hint and " (%s)" % hint),
        float(retry_after) if retry_after.isascii() and retry_after.isdigit() else 0.0,
        is_refusal=status in _REFUSED,
    )


class RequestLoop:
    """An event loop in a daemon thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="requests of " + name, daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        """Return the call's result; raise LateError at the deadline.

        The deadline also holds when the other side sends a byte at a time.
        """
        future = asyncio.run_coroutine_threadsafe(self._bounded(call, deadline_s), self._loop)
        try:
            return future.result(deadline_s + GRACE_S)
        except (TimeoutError, concurrent.futures.CancelledError) as bad:
            future.cancel()
            raise LateError("%s did not answer within %g s" % (self._name, deadline_s)) from bad

    def later(self, job: Callable[[], object]) -> None:
        """Have a job done in a thread, after whatever is waited for."""
        self._loop.call_soon_threadsafe(self._loop.run_in_executor, None, job)

    def close(self) -> None:
        """Stop the thread. A request that runs is dropped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(1.0)
        if not self._loop.is_running():
            self._loop.close()

    async def _bounded(self, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        async with asyncio.timeout(deadline_s):
            return await call()
