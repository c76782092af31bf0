"""Coverage, calibrated cosine, and their fusion into order and relevance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NEIGHBOUR = 0.25  # share of the best other fit in the same session
NEIGHBOUR_HALF_LIFE_MS = 600_000  # about two turns; from a half to eight turns made no difference
STEEPNESS, BIAS = 5.8, 2.05  # see Evidence.relevance()


@dataclass(frozen=True)
class Weights:
    """Shares of full-text search and of vector search."""

    lexical: float = 0.5
    vector: float = 0.5


@dataclass(frozen=True)
class Score:
    """The score of one chunk of a search, and its parts.

    score in [0, 1]: the order of a search. relevance in [0, 1]: the measure of the floor. lexical: coverage in [0, 1];
    vector: calibrated cosine in [0, 1]; None where that search did not run. bm25: raw. cosine: calibrated, unbounded.
    """

    score: float
    relevance: float
    lexical: float | None
    vector: float | None
    bm25: float = 0.0
    cosine: float | None = None


def coverage(found: Mapping[str, int], weight: Mapping[str, float]) -> float:
    """Return a document's share of a query's information, in [0, 1].

    found: the query's terms in the document (text.bm25). weight: of every term of the query. Unlike raw BM25
    it has a bound that two queries share.
    """
    whole = sum(weight.values())
    return sum(weight[term] for term in found) / whole if whole else 0.0


def is_hangul(terms: Sequence[str]) -> bool:
    """True if at least a third of the terms are Hangul.

    Technical Korean is full of English names.
    """
    return 3 * sum("가" <= term[:1] <= "힣" for term in terms) >= len(terms) > 0


@dataclass(frozen=True)
class Evidence:
    """The measures of one chunk for a query.

    covered, bm25: see coverage() and text.bm25. vector: calibrated cosine, 0 and 1 at the ends of the calibration,
    unbounded beyond. None: that search did not run. foreign: query and chunk are written in different scripts, so that
    few words could be in both.
    """

    covered: float | None
    bm25: float | None
    vector: float | None
    foreign: bool = False

    @property
    def clipped(self) -> float | None:
        """Return the calibrated cosine, within [0, 1]."""
        return None if self.vector is None else min(1.0, max(0.0, self.vector))

    def relevance(self, weights: Weights) -> float:
        """Return the probability of an answer, comparable between queries.

        A logistic regression on coverage and cosine, fitted to questions with their answers and their near misses
        (the dev half of evals/data/dialogues). Words alone are their own measure.
        """
        if self.vector is None:
            return self.covered or 0.0
        whole = weights.lexical + weights.vector
        lexical = weights.lexical / whole * (self.covered or 0.0)
        vector = weights.vector / whole * min(1.5, max(-1.0, self.vector))
        return 1.0 / (1.0 + math.exp(BIAS - STEEPNESS * (lexical + vector)))

    def fit(self, weights: Weights, best_bm25: float) -> float:
        """Return the fit among the hits of one search.

        It is in [0, 1]. best_bm25: their best.
        """
        vector = self.clipped
        if self.bm25 is None or (self.foreign and not self.bm25):
            return vector or 0.0
        lexical = self.bm25 / best_bm25 if best_bm25 else 0.0
        if vector is None:
            return lexical
        return (weights.lexical * lexical + weights.vector * vector) / (weights.lexical + weights.vector)


def session_boost(places: Sequence[tuple[str, int]], fits: Sequence[float]) -> list[float]:
    """Lift each fit by its session's best other, more when nearer.

    Turns around an answer are evidence for it. places: (session id, Unix time in milliseconds), beside fits. May
    exceed 1 by NEIGHBOUR.
    """
    sessions: dict[str, list[int]] = {}
    for place, (session_id, _) in enumerate(places):
        if session_id:  # a remembered statement may belong to no session
            sessions.setdefault(session_id, []).append(place)
    out = list(fits)
    for members in sessions.values():
        members.sort(key=lambda place: -fits[place])
        for place in members:
            lift = 0.0
            for other in members:
                if fits[other] <= lift:
                    break  # distance only takes away, and the rest begin with less
                if other != place:
                    apart_ms = abs(places[other][1] - places[place][1])
                    lift = max(lift, fits[other] * math.pow(0.5, apart_ms / NEIGHBOUR_HALF_LIFE_MS))
            out[place] += NEIGHBOUR * lift
    return out
