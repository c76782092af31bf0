"""From two raw leg scores to one score in [0, 1]: relevance, recency, and how they are weighed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DAY_MS = 86_400_000
FUSED_SCALE = 1.2  # from 208 question and passage pairs and 96 unanswered questions: docs/benchmarks.md


@dataclass(frozen=True)
class Weights:
    """lexical and vector weigh the legs within relevance; relevance, importance and recency weigh the whole score."""

    lexical: float = 0.3
    vector: float = 0.7
    relevance: float = 0.7
    importance: float = 0.2
    recency: float = 0.1
    half_life_days: float = 7.0


@dataclass(frozen=True)
class Score:
    """One candidate's score and its parts, all in [0, 1]. lexical or vector None: that leg did not run."""

    score: float
    relevance: float
    lexical: float | None
    vector: float | None
    importance: float
    recency: float


def coverage(query: Iterable[str], document: frozenset[str], weight: Mapping[str, float]) -> float:
    """The share of the query's information that the document's terms hold: sum of weights of the terms found over the
    sum of all, in [0, 1]. weight: term -> inverse document frequency, present for every query term.

    Raw BM25 has no upper bound that two queries share; the ideal document of a query is the bound that they do.
    """
    total = found = 0.0
    for term in query:
        total += weight[term]
        if term in document:
            found += weight[term]
    return found / total if total else 0.0


def share_a_script(query: Iterable[str], document: Iterable[str]) -> bool:
    """False if one side is written in Hangul and the other is not: then no word can be in both, and the absence of
    common words says nothing about the document."""
    return _is_hangul(query) == _is_hangul(document)


def _is_hangul(terms: Iterable[str]) -> bool:
    """True if at least a third of the terms are Hangul; technical Korean is full of English names."""
    hangul = total = 0
    for term in terms:
        total += 1
        hangul += "가" <= term[:1] <= "힣"
    return hangul * 3 >= total > 0


def inverse_document_frequency(documents: int, holding: int) -> float:
    """Robertson and Sparck Jones' weight, smoothed as in BM25, over a pseudo corpus of 1,000 documents more, so that a
    store of five memories does not take every word it holds for a common one."""
    documents += 1000
    return math.log(1.0 + (documents - holding + 0.5) / (holding + 0.5))


def recency(age_ms: int, half_life_days: float, category: str) -> float:
    """1 for now, 0.5 after a half-life; core memories never decay. Negative ages (a clock set back) count as now."""
    if category == "core":
        return 1.0
    return math.pow(0.5, max(0, age_ms) / (half_life_days * DAY_MS))


def relevance(lexical: float | None, vector: float | None, weights: Weights) -> float:
    """The weighted mean of the legs that ran, calibrated once more: two legs seldom reach their tops together, so their
    mean is FUSED_SCALE times too small to share a floor with a leg that stands alone."""
    if lexical is None:
        return vector or 0.0
    if vector is None:
        return lexical
    mean = (weights.lexical * lexical + weights.vector * vector) / (weights.lexical + weights.vector)
    return min(1.0, mean * FUSED_SCALE)


def score(
    lexical: float | None, vector: float | None, *, importance: float, age_ms: int, category: str, weights: Weights
) -> Score:
    """The whole score of one candidate."""
    fit = relevance(lexical, vector, weights)
    fresh = recency(age_ms, weights.half_life_days, category)
    whole = weights.relevance * fit + weights.importance * importance + weights.recency * fresh
    return Score(min(1.0, whole), fit, lexical, vector, importance, fresh)
