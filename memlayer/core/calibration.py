"""What the cosines, and the questions, of one embedding model mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul


@dataclass(frozen=True)
class Calibration:
    """How raw cosines of one model become a relevance in [0, 1].

    low and high: the centred cosines that map to 0 and 1 (measured on background text); between them linear.
    asks and asks_bias: see answerable(); () where that was not measured.
    """

    low: float
    high: float
    asks: tuple[float, ...] = ()
    asks_bias: float = 0.0

    def position(self, cosine: float) -> float:
        """cosine: dot product of two centred unit vectors. 0 at low, 1 at high, and beyond them less or more."""
        return (cosine - self.low) / (self.high - self.low)

    def relevance(self, cosine: float) -> float:
        """The position, within [0, 1]."""
        return min(1.0, max(0.0, self.position(cosine)))

    def answerable(self, question: Sequence[float]) -> float:
        """What a question by itself says of whether it was ever discussed, as log odds to add; 0.0 if nothing.

        question: its vector. "Why did we drop X?" takes for granted that somebody did; what the weather is does not.
        """
        if len(question) != len(self.asks):
            return 0.0
        return self.asks_bias + math.fsum(map(mul, question, self.asks))
