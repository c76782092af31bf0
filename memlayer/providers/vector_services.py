"""Vectors by the providers' SDKs, and their requests' thread.

The requests of one provider share an event loop and its open connections: a new one costs a prompt the handshakes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import ssl
import threading
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memlayer.config.providers import proxy_variable
from memlayer.errors import ChatError, EmbedderError
from memlayer.providers.endpoint import UNREACHED, Endpoint, direct
from memlayer.providers.sdk_chat import tokens_of

T = TypeVar("T")
KEEP_ALIVE_S = 300.0  # prompts come minutes apart; servers that close earlier are noticed
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

    def __init__(self, endpoint: Endpoint, model: str, dimensions: int = 0) -> None:
        self.endpoint, self.model, self.dimensions = endpoint, model, dimensions
        self._client: Any = None

    @property
    def name(self) -> str:
        """The provider, as settings name it."""
        return self.endpoint.name

    def prepare(self) -> None:
        """Load the SDK, in a second and 40 MB.

        Raises EmbedderError without package or needed key.
        """
        if self._client is not None:
            return
        try:
            self.endpoint.check()
            key = self.endpoint.key()
        except ChatError as bad:
            raise EmbedderError(str(bad)) from bad
        import httpx2

        try:  # a prompt waits for no handshake
            self._client = self.load(key, {"limits": httpx2.Limits(keepalive_expiry=KEEP_ALIVE_S)})
        except (ChatError, ImportError, OSError, ValueError, httpx2.InvalidURL) as bad:
            raise EmbedderError(str(bad)) from bad

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """Embed texts that are not empty, in their order. Raises ServiceError."""
        import httpx2

        try:
            return await self.ask(texts, is_query=is_query)
        except (AttributeError, TypeError, ValueError) as bad:  # an answer in another shape
            raise ServiceError(f"{self.name}: no answer of its interface ({type(bad).__name__})") from bad
        except httpx2.TransportError as bad:
            raise self.unanswered(bad) from bad

    def unanswered(self, bad: Exception) -> ServiceError:
        """Return the error for a server that cannot be reached."""
        proxy = proxy_variable(self.endpoint.url)
        way = f" by the proxy in {proxy}" if proxy else ""
        is_unsent = UNREACHED & {type(bad).__name__, type(bad.__cause__).__name__}
        return ServiceError(f"{self.name}: nobody answers at {self.endpoint.host}{way}", is_unsent=bool(is_unsent))

    def refused(self, status: int, headers: Mapping[str, str] | None) -> ServiceError:
        """Return an error by its HTTP status.

        Its own text may repeat the texts that were sent, or a key. headers: of the answer, for Retry-After in seconds.
        """
        hint, after = _HINTS.get(status, ""), (headers or {}).get("retry-after", "")
        return ServiceError(
            f"{self.name}: HTTP {status}" + (f" ({hint})" if hint else ""),
            float(after) if after.isascii() and after.isdigit() else 0.0,
            is_refusal=status in _REFUSED,
        )

    @abstractmethod
    def load(self, key: str, http: dict[str, Any]) -> Any:
        """Load the SDK and return its client.

        http: arguments of its HTTP client. Address, key and interface are given: the SDK would otherwise look for them
        in variables of its own.
        """

    @abstractmethod
    async def ask(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """Embed texts. Raises ServiceError; AttributeError, TypeError or ValueError for another shape."""

    @abstractmethod
    async def close(self) -> None:
        """Close the connections."""


class OpenAIEmbeddings(Service):
    """The endpoint `/embeddings`: OpenAI, Ollama, LM Studio, vLLM.

    These models know no difference between query and passage.
    """

    def load(self, key: str, http: dict[str, Any]) -> Any:
        """See Service."""
        import openai

        return openai.AsyncOpenAI(
            api_key=key,
            base_url=self.endpoint.url,
            max_retries=0,
            http_client=self.endpoint.client(openai.DefaultAsyncHttpxClient, **http),
        )

    async def ask(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """See Service."""
        import openai

        more = self.endpoint.known(encoding_format="float")
        if self.dimensions:
            more["dimensions"] = self.dimensions
        try:
            answer = await self._client.embeddings.create(model=self.model, input=list(texts), **more)
        except openai.APIStatusError as bad:
            raise self.refused(bad.status_code, bad.response.headers) from bad
        except openai.APIConnectionError as bad:
            raise self.unanswered(bad) from bad
        except openai.OpenAIError as bad:
            raise ServiceError(f"{self.name}: {type(bad).__name__}") from bad
        vectors = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
        return Answered(vectors, tokens_of(getattr(answer.usage, "prompt_tokens", 0)))

    async def close(self) -> None:
        """See Service."""
        if self._client is not None:
            await self._client.close()


class GeminiEmbeddings(Service):
    """The method `batchEmbedContents`, of 100 texts at most.

    By its own SDK: the compatible address knows no task types, which part queries from passages.
    """

    def load(self, key: str, http: dict[str, Any]) -> Any:
        """See Service."""
        from google import genai
        from google.genai import types

        here = direct(self.endpoint.url)
        if here:  # it would read certificates of the variables, for connections that are not made
            here = {"verify": True, **here, "ssl": ssl.create_default_context()}
        http = {**http, "follow_redirects": False, **here}
        return genai.Client(
            vertexai=False,
            api_key=key,
            http_options=types.HttpOptions(
                base_url=self.endpoint.url,
                retry_options=types.HttpRetryOptions(attempts=1),
                async_client_args=http,
                client_args=http,
            ),
        ).aio

    async def ask(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """See Service. An error says in its details when to ask again."""
        from google.genai import errors, types

        config = types.EmbedContentConfig(task_type=_TASKS[is_query], output_dimensionality=self.dimensions or None)
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        try:
            answer = await self._client.models.embed_content(model=self.model, contents=contents, config=config)
        except errors.APIError as bad:
            failure = self.refused(bad.code, getattr(bad.response, "headers", None))
            with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
                for detail in bad.details["error"]["details"]:
                    if str(detail.get("@type", "")).endswith("RetryInfo"):
                        failure.retry_after_s = float(str(detail["retryDelay"]).removesuffix("s"))
            raise failure from bad
        use = getattr(answer.usage_metadata, "prompt_token_count", 0)
        return Answered([embedding.values for embedding in answer.embeddings], tokens_of(use))

    async def close(self) -> None:
        """See Service."""
        if self._client is not None:
            await self._client.aclose()


SERVICES: dict[str, type[Service]] = {"openai": OpenAIEmbeddings, "gemini": GeminiEmbeddings}


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
