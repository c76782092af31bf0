"""From two raw leg scores to one score in [0, 1]: relevance, recency, and how they are weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memlayer.core.query import Query

DAY_MS = 86_400_000
BM25_K1, BM25_B = 1.2, 0.75
TRANSLATED = 0.8  # what a term counts that stands in the document in the other language
NEIGHBOUR = 0.25  # of the best other fit in the same session
NEIGHBOUR_HALF_LIFE_MS = 600_000  # about two turns; from a half to eight turns made no difference
CONTEXT = 0.5  # what a term of the turn before counts
STEEPNESS, BIAS = 5.8, 2.05  # see Evidence.relevance()
CROWD, CROWD_FROM = 0.08, 45  # see chance(); BIAS was chosen in projects of so many chunks


@dataclass(frozen=True)
class Weights:
    """lexical and vector weigh the legs within relevance; relevance, importance and recency weigh the whole score.
    answerable and aside weigh what the prompt says by itself, chance how much there is to be mistaken for an answer:
    nothing where a person searches and knows what there is.

    What is important is no likelier to be the answer: docs/benchmarks.md has what the weights were chosen by.
    """

    lexical: float = 0.5
    vector: float = 0.5
    relevance: float = 0.95
    importance: float = 0.0
    recency: float = 0.05
    half_life_days: float = 7.0
    answerable: float = 1.0
    aside: float = 1.0
    chance: float = 1.0


@dataclass(frozen=True)
class Score:
    """One candidate's score and its parts, in [0, 1]. lexical or vector None: that leg had nothing to say.

    relevance is what the floor is on; fit, a little over 1 at most, is what the order within a search is made of.
    answerable, less aside: the log odds within relevance that are the prompt's own; less chance: the project's.
    """

    score: float
    relevance: float
    lexical: float | None
    vector: float | None
    importance: float
    recency: float
    fit: float = 0.0
    answerable: float = 0.0
    aside: float = 0.0
    chance: float = 0.0


def frequencies(query: Query, document: Sequence[str]) -> dict[str, float]:
    """How often each of the query's terms stands in the document; only those that do. document: its terms.

    What stands there in the other language counts, but less: a translation is a guess about what was meant.
    """
    counts = {term: document.count(term) for term in query.looked_for.intersection(document)}
    found: dict[str, float] = {term: float(counts[term]) for term in query.terms if term in counts}
    said = {term for part in counts for term in query.said_by.get(part, ())}
    for term in query.terms if said else ():
        if term in said and term not in found:
            often = max(min([counts.get(part, 0) for part in group]) for group in query.other_ways[term] if group)
            if often:
                found[term] = TRANSLATED * often
    return found


class Weighed:
    """The terms of a query, each with what it counts."""

    def __init__(self, query: Query, weight: Mapping[str, float]) -> None:
        """weight: of every term of the query."""
        self.query = query
        self._share = {
            term: weight[term] * (1.0 if place < query.asked else CONTEXT) for place, term in enumerate(query.terms)
        }
        self._whole = sum(self._share.values())

    def coverage(self, found: Mapping[str, float]) -> float:
        """The share of the query's information that a document holds: sum of weights of the terms found over the sum of
        all, in [0, 1]. found: see frequencies().

        Raw BM25 has no upper bound that two queries share; the ideal document of a query is the bound that they do.
        """
        had = sum([self._share[term] * min(1.0, often) for term, often in found.items()])
        return had / self._whole if self._whole else 0.0

    def bm25(self, found: Mapping[str, float], length: float) -> float:
        """Robertson and Zaragoza's BM25 with its usual constants. length: the document's, over the mean."""
        norm = BM25_K1 * (1 - BM25_B + BM25_B * length)
        return sum([self._share[term] * often * (BM25_K1 + 1) / (often + norm) for term, often in found.items()])


def is_hangul(terms: Sequence[str]) -> bool:
    """True if at least a third of the terms are Hangul; technical Korean is full of English names."""
    return 3 * sum("가" <= term[:1] <= "힣" for term in terms) >= len(terms) > 0


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


def chance(chunks: int) -> float:
    """Log odds to take from every chunk of a project with so many: of much that is about something else, the best comes
    nearer than of little. The best of n independent values grows with the logarithm of n at most."""
    return CROWD * math.log(max(1.0, chunks / CROWD_FROM))


@dataclass(frozen=True)
class Evidence:
    """What the legs say about a chunk.

    covered, worth: see Weighed.coverage() and bm25(); vector: calibrated cosine, 0 and 1 at the ends of the calibration
    and beyond them outside. None: that leg did not run. foreign: query and chunk are written in different scripts, so
    that few words could be in both. answerable and aside: what the prompt says by itself (core.calibration), chance:
    see chance(); the same for each of its chunks.
    """

    covered: float | None
    worth: float | None
    vector: float | None
    foreign: bool = False
    answerable: float = 0.0
    aside: float = 0.0
    chance: float = 0.0

    @property
    def clipped(self) -> float | None:
        """The vector leg's word, within [0, 1]."""
        return None if self.vector is None else min(1.0, max(0.0, self.vector))

    def relevance(self, weights: Weights) -> float:
        """How sure it is that the chunk answers, in [0, 1]; comparable between queries, so a floor means something.

        A logistic regression on both legs, fitted to the questions of the dev half of tests/eval/dialogues, each with
        its answer and the four chunks that came nearest to being one, and shifted so that the floor of 0.4 stands where
        it errs least on both sides (docs/benchmarks.md); and the odds that are the prompt's own and the project's.
        Words alone are their own measure.
        """
        if self.vector is None:
            return self.covered or 0.0
        whole = weights.lexical + weights.vector
        lexical = weights.lexical / whole * (self.covered or 0.0)
        vector = weights.vector / whole * min(1.5, max(-1.0, self.vector))
        known = weights.answerable * self.answerable - weights.aside * self.aside - weights.chance * self.chance
        odds = STEEPNESS * (lexical + vector) - BIAS + known
        return 1.0 / (1.0 + math.exp(-odds))

    def fit(self, weights: Weights, best_worth: float) -> float:
        """How well the chunk fits beside the others of the same search, in [0, 1]. best_worth: the best of theirs."""
        vector = self.clipped
        if self.worth is None or (self.foreign and not self.worth):
            return vector or 0.0
        standing = self.worth / best_worth if best_worth else 0.0
        if vector is None:
            return standing
        return (weights.lexical * standing + weights.vector * vector) / (weights.lexical + weights.vector)


def near_in_session(places: Sequence[tuple[str, int]], fits: Sequence[float]) -> list[float]:
    """Each fit, lifted by the best other one of the same session, the more the closer in time: what was said around the
    answer speaks for it. places: (session id, Unix time in milliseconds), beside fits. May exceed 1 by NEIGHBOUR."""
    sessions: dict[str, list[int]] = {}
    for place, (session_id, _) in enumerate(places):
        if session_id:  # what a person told memlayer itself belongs to no session
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


def score(evidence: Evidence, fit: float, *, importance: float, age_ms: int, category: str, weights: Weights) -> Score:
    """The whole score of one candidate. fit: see Evidence.fit() and near_in_session()."""
    fresh = recency(age_ms, weights.half_life_days, category)
    standing = min(1.0, fit / (1 + NEIGHBOUR))
    whole = weights.relevance * standing + weights.importance * importance + weights.recency * fresh
    return Score(
        score=min(1.0, whole), relevance=evidence.relevance(weights), lexical=evidence.covered,
        vector=evidence.clipped, importance=importance, recency=fresh, fit=fit,
        answerable=weights.answerable * evidence.answerable, aside=weights.aside * evidence.aside,
        chance=weights.chance * evidence.chance,
    )  # fmt: skip
