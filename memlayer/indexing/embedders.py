"""The embedder of a running daemon: its slot, its timing, its cache."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from memlayer.errors import EmbedderError
from memlayer.indexing.indexer import VectorCache
from memlayer.ports import Calibration, Embedder, Store, Vector
from memlayer.turns.turn import unlabelled


def drop_unused(store: Store, cache: VectorCache) -> None:
    """Drop cached vectors of texts that the search index lacks.

    These are of rows gone now, and of rows replaced earlier (a prompt before its answer came, an earlier wording),
    whose words are known no more.
    """
    cache.keep_only(lambda consume: store.scan_texts(lambda text: consume(unlabelled(text))))


Took = Callable[[str, int, float], None]  # ("query" | "passage", texts, milliseconds)


class TimedEmbedder:
    """Embedder that reports each call's time, but not of raising calls."""

    def __init__(self, embedder: Embedder, took: Took) -> None:
        self._embedder, self._took = embedder, took

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    def embed_query(self, text: str) -> Vector:
        started = time.perf_counter()
        vector = self._embedder.embed_query(text)
        self._took("query", 1, (time.perf_counter() - started) * 1000)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        started = time.perf_counter()
        vectors = self._embedder.embed_passages(texts)
        self._took("passage", len(texts), (time.perf_counter() - started) * 1000)
        return vectors


class EmbedderSlot:
    """Holder of the embedder; called, it returns it or None. Thread-safe.

    `why`: the reason for None.
    """

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self.why = "the embedding model is still loading"
        self.settled = threading.Event()  # loaded, or known not to load

    def __call__(self) -> Embedder | None:
        return self._embedder

    def load(self, make: Callable[[], Embedder] | None, fit: Callable[[int], object]) -> None:
        """Load with `make`; None: the user wants no embedder.

        An EmbedderError becomes `why`. fit: makes room in the store for vectors of that length; nobody sees the
        embedder before it has returned.
        """
        try:
            if make is None:
                self.why = "embedding.provider is none"
            else:
                embedder = make()
                fit(embedder.dimensions)
                self._embedder = embedder
                self.why = ""
        except EmbedderError as bad:
            self.why = str(bad)
        except BaseException:
            self.why = "the embedding model could not be loaded; see logs/daemon.log"
            raise
        finally:
            self.settled.set()
