"""Vectors by the providers' interfaces, and their requests' thread.

The requests of one provider share an event loop and its open connections: a new one costs a prompt the handshakes.
"""

import asyncio
import concurrent.futures
import contextlib
import json
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memlayer.config.providers import proxy_variable
from memlayer.errors import ChatError, EmbedderError
from memlayer.providers.endpoint import UNREACHED, BodyRefused, Endpoint, refusal_in
from memlayer.providers.questions import StatusError, open_client, post
from memlayer.providers.sdk_chat import JsonObject, tokens_of

T = TypeVar("T")
FIRST_PAUSE_S = 10.0
MAX_PAUSE_S = 600.0
MAX_RETRY_AFTER_S = 3600.0
MOST_VECTOR_BYTES = 256 << 10  # as JSON: 4,096 numbers take some 90 kB
KEEP_ALIVE_S = 300.0  # prompts come minutes apart. Servers that close earlier are noticed
GRACE_S = 0.05  # for a cancelled request to end
_REFUSED = (400, 413, 422)
_KEY_HINT = "the key is refused, or embedding.api_key_env names none"
_HINTS = {
    401: _KEY_HINT,
    403: _KEY_HINT,
    404: "no such model, or not the address of this interface",
    429: "too many requests, or nothing left to spend",
}
_TASKS = {True: "RETRIEVAL_QUERY", False: "RETRIEVAL_DOCUMENT"}


@dataclass(frozen=True)
class Answered:
    """Raw vectors, one a text. tokens: the server's count, or 0."""

    vectors: Sequence[Sequence[float]]
    tokens: int = 0


class ServiceError(EmbedderError):
    """A request that failed: one line without its text and key.

    retry_after_s: as the server asks, 0 when it does not. is_refusal: the server is well, and refuses what was sent.
    is_unsent: nobody was reached.
    """

    def __init__(
        self, says: str, retry_after_s: float = 0.0, *, is_refusal: bool = False, is_unsent: bool = False
    ) -> None:
        super().__init__(says)
        self.retry_after_s, self.is_refusal, self.is_unsent = retry_after_s, is_refusal, is_unsent


class LateError(ServiceError):
    """A request that missed its deadline."""


class Service(ABC):
    """A model of a provider of embeddings at an address.

    dimensions: length of the vectors to ask for, 0 for the model's own.
    """

    key_header = "authorization"

    def __init__(self, endpoint: Endpoint, model: str, dimensions: int = 0) -> None:
        self.endpoint, self.model, self.dimensions = endpoint, model, dimensions
        self.url = endpoint.url.rstrip("/")
        self._client: Any = None

    @property
    def name(self) -> str:
        """The provider, as settings name it."""
        return self.endpoint.name

    def prepare(self) -> None:
        """Make the client. Raises EmbedderError without a needed key or a way."""
        if self._client is not None:
            return
        import httpx

        limits = httpx.Limits(keepalive_expiry=KEEP_ALIVE_S)  # a prompt waits for no handshake
        try:
            self.endpoint.check()
            self._client = open_client(self.endpoint, self.key_header, limits=limits)
        except ChatError as bad:
            raise EmbedderError(str(bad)) from bad

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """Embed texts that are not empty, in their order. Raises ServiceError."""
        import httpx

        path, body = self.request(texts, is_query=is_query)
        try:
            return self.read(await post(self._client, self.url + path, body, (len(texts) + 1) * MOST_VECTOR_BYTES))
        except StatusError as bad:
            raise self.refused(bad) from bad
        except BodyRefused as bad:
            raise ServiceError(str(self.endpoint.unread(bad))) from bad
        except (AttributeError, LookupError, TypeError, ValueError) as bad:  # an answer in another shape
            raise ServiceError(f"{self.name}: no answer of its interface ({type(bad).__name__})") from bad
        except httpx.HTTPError as bad:
            if refused := refusal_in(bad):
                raise ServiceError(str(self.endpoint.unread(refused))) from bad
            proxy = proxy_variable(self.endpoint.url)
            way = f" by the proxy in {proxy}" if proxy else ""
            is_unsent = type(bad).__name__ in UNREACHED
            raise ServiceError(
                f"{self.name}: nobody answers at {self.endpoint.host}{way}", is_unsent=is_unsent
            ) from bad

    def refused(self, bad: StatusError) -> ServiceError:
        """Return an error by its HTTP status, without its own text."""
        hint, after = _HINTS.get(bad.status_code, ""), bad.headers.get("retry-after", "")
        return ServiceError(
            f"{self.name}: HTTP {bad.status_code}" + (f" ({hint})" if hint else ""),
            float(after) if after.isascii() and after.isdigit() else 0.0,
            is_refusal=bad.status_code in _REFUSED,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    @abstractmethod
    def request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, JsonObject]:
        """Return path and body of a request."""

    @abstractmethod
    def read(self, answer: JsonObject) -> Answered:
        """Read an answer. Raises AttributeError, LookupError, TypeError or ValueError for another shape."""


class OpenAIEmbeddings(Service):
    """The endpoint `/embeddings`: OpenAI, Ollama, LM Studio, vLLM."""

    def request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, JsonObject]:
        """See Service."""
        body = {"model": self.model, "input": list(texts), **self.endpoint.known(encoding_format="float")}
        return "/embeddings", {**body, "dimensions": self.dimensions} if self.dimensions else body

    def read(self, answer: JsonObject) -> Answered:
        """See Service."""
        vectors = [row["embedding"] for row in sorted(answer["data"], key=lambda row: row["index"])]
        return Answered(vectors, tokens_of((answer.get("usage") or {}).get("prompt_tokens")))


class GeminiEmbeddings(Service):
    """The method `batchEmbedContents`, of 100 texts at most.

    By its own interface: the compatible address knows no task types, which part queries from passages.
    """

    key_header = "x-goog-api-key"

    def request(self, texts: Sequence[str], *, is_query: bool) -> tuple[str, JsonObject]:
        """See Service."""
        model = "models/" + self.model.removeprefix("models/")
        more: JsonObject = {"outputDimensionality": self.dimensions} if self.dimensions else {}
        rows = [
            {"model": model, "content": {"parts": [{"text": text}]}, "taskType": _TASKS[is_query], **more}
            for text in texts
        ]
        return f"/v1beta/{model}:batchEmbedContents", {"requests": rows}

    def read(self, answer: JsonObject) -> Answered:
        """See Service."""
        tokens = tokens_of((answer.get("usageMetadata") or {}).get("promptTokenCount"))
        return Answered([row["values"] for row in answer["embeddings"]], tokens)

    def refused(self, bad: StatusError) -> ServiceError:
        """See Service. An error says in its details when to ask again."""
        failure = super().refused(bad)
        with contextlib.suppress(AttributeError, LookupError, TypeError, ValueError):
            for detail in json.loads(bad.body)["error"]["details"]:
                if str(detail.get("@type", "")).endswith("RetryInfo"):
                    failure.retry_after_s = float(str(detail["retryDelay"]).removesuffix("s"))
        return failure


SERVICES: dict[str, type[Service]] = {"openai": OpenAIEmbeddings, "gemini": GeminiEmbeddings}


class RequestLoop:
    """An event loop in a daemon thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="requests of " + name, daemon=True)
        self._thread.start()

    def run(self, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        """Return the call's result. Raise LateError at the deadline.

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


class Availability:
    """Circuit breaker: whether a server is asked, and if not why. Thread-safe.

    After M. Nygard, Release It! (2007): a failure opens it, and a probe in the background closes it again.
    It may be down, so that nothing is asked, or slow, so that no query is: passages have time. clock: monotonic,
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._down = self._slow = ""
        self._pause_s = self._until = 0.0
        self._is_probing = False

    @property
    def problem(self) -> str:
        """Why queries are not asked, one line; "" when they are."""
        return self._down or self._slow

    def check(self, *, is_query: bool) -> None:
        """Raise EmbedderError at once where nothing is to be asked now."""
        problem = self.problem if is_query else self._down
        if problem:
            raise EmbedderError(problem)

    def failed(self, says: str, retry_after_s: float = 0.0) -> None:
        """Note a failure, one line. retry_after_s: as the server says, else 0."""
        with self._lock:
            self._down = says
            self._is_probing = False
            self._pause(max(FIRST_PAUSE_S, min(retry_after_s, MAX_RETRY_AFTER_S)))

    def late(self, says: str) -> None:
        """Note a query that missed its deadline, one line.

        The first one is probed at once: one hiccup costs one prompt its vectors, and no more.
        """
        with self._lock:
            self._is_probing = False
            self._pause(FIRST_PAUSE_S if self._slow else 0.0)
            self._slow = says

    def worked(self, *, in_time: bool) -> None:
        """Note an answer. in_time: within the deadline of a query."""
        with self._lock:
            self._down = ""
            if in_time:
                self._slow = ""
                self._pause_s = self._until = 0.0
                self._is_probing = False

    def begin_probe(self) -> bool:
        """True when a probe is due; the caller makes it."""
        with self._lock:
            if not self.problem or self._is_probing or self._clock() < self._until:
                return False
            self._is_probing = True
            return True

    def _pause(self, least_s: float) -> None:
        self._pause_s = max(least_s, min(MAX_PAUSE_S, 2 * self._pause_s))
        self._until = self._clock() + self._pause_s
