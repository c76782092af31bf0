"""What the cosines, and the prompts, of one embedding model mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import mul


@dataclass(frozen=True)
class Calibration:
    """How raw cosines of one model become a relevance in [0, 1].

    low and high: the centred cosines that map to 0 and 1 (measured on background text); between them linear.
    asks and asks_bias: see answerable(); asides and asides_bias: see aside(); () where that was not measured.
    """

    low: float
    high: float
    asks: tuple[float, ...] = ()
    asks_bias: float = 0.0
    asides: tuple[float, ...] = ()
    asides_bias: float = 0.0

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
        return _linear(question, self.asks, self.asks_bias)

    def aside(self, prompt: Sequence[float]) -> float:
        """How surely a prompt asks nothing of a memory, as log odds; 0.0 if it may well ask something.

        prompt: its vector. Small talk ("back from lunch"), and what is about no more than both have before their eyes
        ("show me the diff", "왜 안 돼?"): it resembles whatever was said like it, and none of that is an answer.
        """
        return max(0.0, _linear(prompt, self.asides, self.asides_bias))


def _linear(vector: Sequence[float], weights: Sequence[float], bias: float) -> float:
    """0.0 where the weights are not of this vector's model."""
    return bias + math.fsum(map(mul, vector, weights)) if len(vector) == len(weights) else 0.0
