"""An embedder without a model."""

import hashlib
import math
from collections.abc import Sequence

from memlayer.ports import Calibration, Vector


class HashEmbedder:
    """Unit vectors from hashed words and letter triples.

    Texts that share them are near. Never a stand-in for a model in the product: it knows spelling, not meaning.
    """

    def __init__(self, dimensions: int = 64, name: str = "hash") -> None:
        self._dimensions = dimensions
        self._name = name

    @property
    def fingerprint(self) -> str:
        return f"{self._name}-{self._dimensions}"

    @property
    def dimensions(self) -> int:
        return self._dimensions

    @property
    def calibration(self) -> Calibration:
        return Calibration(low=0.0, high=1.0)

    @property
    def place(self) -> str:
        """This machine."""
        return ""

    @property
    def problem(self) -> str:
        """None: it always answers."""
        return ""

    def embed_query(self, text: str) -> Vector:
        return self._embed(text)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [self._embed(text) for text in texts]

    def _embed(self, text: str) -> Vector:
        sums = [0.0] * self._dimensions
        for word in text.casefold().split() or [""]:
            padded = f" {word} "
            for feature in [word, *(padded[at : at + 3] for at in range(len(padded) - 2))]:
                digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
                sums[int.from_bytes(digest[:4], "big") % self._dimensions] += 1.0 if digest[4] & 1 else -1.0
        length = math.sqrt(sum(value * value for value in sums))
        if length == 0.0:
            return (1.0, *sums[1:])
        return tuple(value / length for value in sums)
