"""An embedder that tells how long each call took."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from memlayer.ports import Calibration, Embedder, Vector

Took = Callable[[str, int, float], None]  # ("query" | "passage", texts, milliseconds)


class TimedEmbedder:
    """Passes everything on; calls that raise are not counted."""

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
