"""The meaning of the cosines of one embedding model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Calibration:
    """How raw cosines of one model become a relevance in [0, 1].

    low and high: the centred cosines that map to 0 and 1 (measured on background text); between them linear.
    """

    low: float
    high: float

    def position(self, cosine: float) -> float:
        """cosine: dot product of two centred unit vectors. 0 at low, 1 at high, and beyond them less or more."""
        return (cosine - self.low) / (self.high - self.low)

    def relevance(self, cosine: float) -> float:
        """The position, within [0, 1]."""
        return min(1.0, max(0.0, self.position(cosine)))
