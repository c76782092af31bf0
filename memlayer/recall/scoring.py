"""BM25, calibrated cosine and their fusion: from two raw scores to the order of a search and a floor on relevance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

BM25_K1, BM25_B = 1.2, 0.75
NEIGHBOUR = 0.25  # of the best other fit in the same session
NEIGHBOUR_HALF_LIFE_MS = 600_000  # about two turns; from a half to eight turns made no difference
STEEPNESS, BIAS = 5.8, 2.05  # see Evidence.relevance()


@dataclass(frozen=True)
class Weights:
    """Shares of full-text search and of meaning (vectors)."""

    lexical: float = 0.5
    vector: float = 0.5


@dataclass(frozen=True)
class Score:
    """The score of one chunk of a search, and its parts.

    score in [0, 1] orders a search; relevance in [0, 1] is the floor's measure. lexical: coverage in [0, 1]; vector:
    calibrated cosine in [0, 1]; None where that search did not run. bm25: raw. cosine: calibrated, unbounded.
    """

    score: float
    relevance: float
    lexical: float | None
    vector: float | None
    bm25: float = 0.0
    cosine: float | None = None


def frequencies(terms: Iterable[str], document: Sequence[str]) -> dict[str, int]:
    """How often each of the terms stands in a document, those that do. document: its terms, with repeats."""
    return {term: document.count(term) for term in set(terms).intersection(document)}


def coverage(found: Mapping[str, int], weight: Mapping[str, float]) -> float:
    """The share of a query's information that a document holds, in [0, 1].

    found: the query's terms in the document (frequencies()). weight: of every term of the query. Raw BM25 has no bound
    that two queries share; this has.
    """
    whole = sum(weight.values())
    return sum(weight[term] for term in found) / whole if whole else 0.0


def bm25(found: Mapping[str, int], weight: Mapping[str, float], length: float) -> float:
    """Robertson and Zaragoza's BM25 with its usual constants. length: the document's, over the mean."""
    norm = BM25_K1 * (1 - BM25_B + BM25_B * length)
    return sum([weight[term] * often * (BM25_K1 + 1) / (often + norm) for term, often in found.items()])


def is_hangul(terms: Sequence[str]) -> bool:
    """True if at least a third of the terms are Hangul; technical Korean is full of English names."""
    return 3 * sum("가" <= term[:1] <= "힣" for term in terms) >= len(terms) > 0


@dataclass(frozen=True)
class Evidence:
    """The measures of one chunk for a query.

    covered, bm25: see coverage() and bm25(). vector: calibrated cosine, 0 and 1 at the ends of the calibration and
    beyond them outside. None: that search did not run. foreign: query and chunk are written in different scripts, so
    that few words could be in both.
    """

    covered: float | None
    bm25: float | None
    vector: float | None
    foreign: bool = False

    @property
    def clipped(self) -> float | None:
        """The calibrated cosine, within [0, 1]."""
        return None if self.vector is None else min(1.0, max(0.0, self.vector))

    def relevance(self, weights: Weights) -> float:
        """How sure it is that the chunk answers the query, in [0, 1]; comparable between queries.

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
        """How well the chunk fits beside the others of the same search, in [0, 1]. best_bm25: the best of theirs."""
        vector = self.clipped
        if self.bm25 is None or (self.foreign and not self.bm25):
            return vector or 0.0
        standing = self.bm25 / best_bm25 if best_bm25 else 0.0
        if vector is None:
            return standing
        return (weights.lexical * standing + weights.vector * vector) / (weights.lexical + weights.vector)


def session_boost(places: Sequence[tuple[str, int]], fits: Sequence[float]) -> list[float]:
    """Each fit, lifted by the best other one of the same session, the more the closer in time.

    Turns around an answer speak for it. places: (session id, Unix time in milliseconds), beside fits. May exceed 1 by
    NEIGHBOUR.
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
