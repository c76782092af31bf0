"""A scripted server on loopback for both providers' interfaces for embeddings.

Its vectors are those of an embedder, so that it finds what that finds; it speaks as much as an embedder asks for.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from memlayer.config.providers import PROVIDERS
from memlayer.ports import Vector
from memlayer.providers.endpoint import Asker, Endpoint
from memlayer.providers.remote_embedder import RemoteEmbedder, ServiceCalls, load
from memlayer.providers.vector_services import SERVICES, Service
from memlayer.records.model_budget import ModelBudget
from tests.support.hash_embedder import HashEmbedder
from tests.support.model_api import Asked, ModelApi, Said

OPENAI, GEMINI = "openai", "gemini"
KEY_VARIABLE = "A_KEY"


def texts_of(asked: Asked) -> list[str]:
    """Return the texts of a request of either interface."""
    if "input" in asked.body:
        return [asked.body["input"]] if isinstance(asked.body["input"], str) else list(asked.body["input"])
    return [one["content"]["parts"][0]["text"] for one in asked.body["requests"]]


def embeddings_answer(asked: Asked, vectors: Sequence[Sequence[float]], tokens: int = 7) -> Said:
    """Return vectors in the shape of the interface that was asked."""
    if "input" in asked.body:
        data = [
            {"object": "embedding", "index": place, "embedding": list(vector)} for place, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Said({"object": "list", "data": data[::-1], "model": "m", "usage": usage})
    return Said({"embeddings": [{"values": list(vector)} for vector in vectors]})


@dataclass
class EmbeddingApi:
    """The server, as a context manager.

    before: may answer instead (an error), or wait. delay_s: of each answer. dimensions: of HashEmbedder's vectors.
    """

    dimensions: int = 64
    delay_s: float = 0.0
    before: Callable[[Asked], Said | None] = lambda asked: None
    vectors_of: Callable[[Sequence[str]], Sequence[Vector]] | None = None
    closing: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "EmbeddingApi":
        self._api = ModelApi(self._answer)
        self._api.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._api.__exit__(kind, error, trace)

    @property
    def asked(self) -> list[Asked]:
        return self._api.asked

    @property
    def texts(self) -> list[str]:
        """Every text that came, in order."""
        return [text for asked in list(self.asked) for text in texts_of(asked)]

    @property
    def url(self) -> str:
        """http://127.0.0.1:<port>"""
        return self._api.url

    def settings(self, provider: str = OPENAI, **more: Any) -> dict[str, Any]:
        """Settings of `embedding` that name this server."""
        path = "/v1" if provider == OPENAI else ""
        return {"provider": provider, "model": "tiny", "base_url": self.url + path, **more}

    def _answer(self, asked: Asked) -> Said:
        said = self.before(asked)
        if self.delay_s:
            self.closing.wait(self.delay_s)
        if said is not None:
            return said
        texts = texts_of(asked)
        vectors = self.vectors_of(texts) if self.vectors_of else [_hashed(text, self.dimensions) for text in texts]
        return embeddings_answer(asked, vectors, tokens=sum(len(text) for text in texts))


@functools.lru_cache(10_000)  # each embedder that is loaded measures the same corpus
def _hashed(text: str, dimensions: int) -> Vector:
    return HashEmbedder(dimensions).embed_query(text)


def service(provider: str, url: str, dimensions: int = 0) -> Service:
    """Return the adapter of a provider at an address, "" for its own."""
    address = url and url + ("/v1" if provider == OPENAI else "")
    endpoint = Endpoint(PROVIDERS[provider], Asker("embedding"), address, KEY_VARIABLE)
    return SERVICES[provider](endpoint, "tiny", dimensions)


@contextlib.contextmanager
def remote(provider: str, api: EmbeddingApi, home: Path) -> Iterator[RemoteEmbedder]:
    """An embedder of the scripted server, with a budget and time enough."""
    budget = ModelBudget(str(home / "use.json"), daily_tokens=10**9)
    asking = ServiceCalls(service(provider, api.url), budget, query_deadline_s=10.0, deadline_s=30.0)
    found = load(asking, home / "cache")
    try:
        yield found
    finally:
        found.close()


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = float(round(time.monotonic()))  # a fraction would round when seconds are added

    def __call__(self) -> float:
        return self.now
