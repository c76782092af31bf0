"""Which newer turn says what took the place of what an older one says.

What replaces a fact is often put in other words than it, and than the question: "accent colour?" finds the turn that
chose it, not the one in which "the save button is hard to read" was answered with another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memlayer.core.done_away import Terms, done_away
from memlayer.core.scoring import Score
from memlayer.ports import Similarities
from memlayer.service.candidate import BELOW, Candidate, Words
from memlayer.service.term_stats import TermStats

# Constants by bench/changes.py on its dev half, with what they bring for no good reason: docs/benchmarks.md.
NEWER_RELEVANCE = 0.6  # of the older entry's: below it the newer one is about something else
SHARED = 0.12  # overlap below which a newer one is no successor by its words
# Of each other's nearest: relevance and overlap that are each enough by themselves, and in part together.
NEAREST_RELEVANCE, NEAREST_OVERLAP = 0.6, 0.25
# Cosine and overlap of two turns together, below which they are about two matters, whatever else speaks for them; and
# the overlap alone where the cosine is not known, of those that name what they do away with and of the others.
SAME_MATTER, SAME_BY_NAME, SAME_BY_WORDS = 0.5, 0.12, 0.3
MANY = 8  # turns of which being the nearest says something
RARE = 4.5  # weight of a term that names something: one chunk in a hundred holds it
MOST_IN_A_ROW = 5  # changes of one fact

Similar = Callable[[Sequence[str]], Similarities | None]  # chunk ids -> cosines; None where they are not known


@dataclass(frozen=True)
class Successor:
    """is_sure: it says what it does away with. comes_first: it fits the prompt nearly as well as what it follows."""

    turn: Candidate
    is_sure: bool = False
    comes_first: bool = True


class Successors:
    """Finds them among the candidates of one prompt: turns that are entries, or are none only because they say less
    than others, or too little."""

    def __init__(
        self, judged: Sequence[Candidate], crowded: str, terms: TermStats, similar: Similar | None = None
    ) -> None:
        """crowded: the reason of those that found no place among the entries."""
        known = [one for one in judged if one.kept or one.reason == crowded or one.reason.startswith(BELOW)]
        self._known = sorted(known, key=lambda one: -one.chunk.at_ms)
        self._turns = [one for one in self._known if one.chunk.category == "conversation"]
        self._place = {_id(one): place for place, one in enumerate(self._turns)}
        self._words_of = _WordsOf(terms)
        self._similar = similar
        self._cosines: Similarities | None = None
        self._own: dict[str, float] = {}
        self._followers: dict[str, Candidate | None] = {}

    def of(self, one: Candidate) -> Successor | None:
        """What took the place of an entry, if anything did."""
        if len(self._known) < 2:
            return None
        if _id(one) in self._place:
            instead = self._instead_of(one)
            if instead is not None:
                return Successor(instead, is_sure=True)
        worded = self._by_words(one)
        if worded is not None:
            return Successor(worded)
        nearest = self._nearest(one)
        return None if nearest is None else Successor(nearest, comes_first=False)

    def _instead_of(self, one: Candidate) -> Candidate | None:
        """The turn that does away with what this one names; or with what that one names in turn."""
        found, current = None, one
        for _ in range(MOST_IN_A_ROW):
            rare = self._words_of(current).weighing(RARE)
            newer = [turn for turn in reversed(self._turns) if turn.chunk.at_ms > current.chunk.at_ms]
            instead = next((turn for turn in newer if self._replaces(current, rare, turn)), None)
            if instead is None:
                break
            found = current = instead
        return found

    def _replaces(self, one: Candidate, rare: frozenset[str], newer: Candidate) -> bool:
        """Whether the newer turn does away with something that this one names, and means this one. rare: the terms of
        this one that name things."""
        if rare.isdisjoint(newer.chunk.terms.split()):
            return False
        holds = self._words_of(one).holds
        named = any(not rare.isdisjoint(terms) and holds(terms) for terms in _done_away(newer.chunk.text))
        return named and self._is_same_matter(one, newer, SAME_BY_NAME) and self._is_nearest(one, newer)

    def _by_words(self, one: Candidate) -> Candidate | None:
        """Of the newer ones on the same matter the nearest to it; or what in turn took the place of that, as long as it
        has nearly as much of the prompt as this one."""
        found, current = None, self._follower(one)
        while current is not None and self._relevance(current) >= NEWER_RELEVANCE * self._relevance(one):
            found, current = current, self._follower(current)
        return found

    def _follower(self, one: Candidate) -> Candidate | None:
        """Of the newer ones that have nearly as much of the prompt the nearest one on the same matter."""
        if _id(one) not in self._followers:
            newer = [
                other
                for other in self._known
                if other.chunk.at_ms > one.chunk.at_ms
                and (other.kept or other.chunk.category == "conversation")
                and self._relevance(other) >= NEWER_RELEVANCE * self._relevance(one)
            ]
            newer.sort(key=lambda other: -(self._cosine(one, other) or 0.0))
            shared = (other for other in newer if self._overlap(one, other) >= SHARED)
            same = (other for other in shared if self._is_same_matter(one, other, SAME_BY_WORDS))
            self._followers[_id(one)] = next(same, None)
        return self._followers[_id(one)]

    def _relevance(self, one: Candidate) -> float:
        if _id(one) not in self._own:
            self._own[_id(one)] = _own(one.score)
        return self._own[_id(one)]

    def _nearest(self, one: Candidate) -> Candidate | None:
        """The newer turn whose vector is nearest to its, if of all older ones it is the nearest to that as well. The
        prompt and its words must speak for it too: unrelated turns have a nearest as well."""
        place = self._place.get(_id(one), -1)
        if place < 1 or len(self._turns) < MANY or one.chunk.at_ms >= self._turns[0].chunk.at_ms:
            return None
        cosines = self._known_cosines()
        if cosines is None:
            return None
        newer = [other for other in range(place) if self._turns[other].chunk.at_ms > one.chunk.at_ms]
        nearest = self._turns[max(newer, key=cosines[place].__getitem__)]
        if not self._is_nearest(one, nearest) or not self._is_same_matter(one, nearest, SAME_BY_WORDS):
            return None
        sure = self._relevance(nearest) / NEAREST_RELEVANCE + self._overlap(one, nearest) / NEAREST_OVERLAP >= 1
        return nearest if sure else None

    def _is_same_matter(self, one: Candidate, newer: Candidate, by_words: float) -> bool:
        """by_words: the overlap that is enough where the cosine is not known: of core memories, and of turns whose
        vectors are not in memory. Without a model words are all there is."""
        cosine, overlap = self._cosine(one, newer), self._overlap(one, newer)
        if cosine is None:
            return overlap >= (SHARED if newer.score.vector is None else by_words)
        return overlap + cosine >= SAME_MATTER

    def _overlap(self, one: Candidate, other: Candidate) -> float:
        return self._words_of(one).overlap(self._words_of(other))

    def _cosine(self, one: Candidate, other: Candidate) -> float | None:
        cosines, place, to = self._known_cosines(), self._place.get(_id(one)), self._place.get(_id(other))
        return None if cosines is None or place is None or to is None else cosines[place][to]

    def _is_nearest(self, one: Candidate, newer: Candidate) -> bool:
        """Whether of all turns before the newer one none is nearer to it."""
        cosines = self._known_cosines()
        if cosines is None:
            return True
        to, place = cosines[self._place[_id(newer)]], self._place[_id(one)]
        before = range(self._place[_id(newer)] + 1, len(self._turns))
        return all(to[other] <= to[place] for other in before if self._turns[other].chunk.at_ms < newer.chunk.at_ms)

    def _known_cosines(self) -> Similarities | None:
        if self._cosines is None and self._similar is not None:
            self._cosines = self._similar([one.chunk.id for one in self._turns])
            self._similar = None  # once is enough, whatever it said
        return self._cosines


class _WordsOf:
    """The words of candidates, each weighed when it is first asked for."""

    def __init__(self, terms: TermStats) -> None:
        self._terms = terms
        self._weight: dict[str, float] = {}
        self._known: dict[str, Words] = {}

    def __call__(self, one: Candidate) -> Words:
        found = self._known.get(_id(one))
        if found is None:
            split = frozenset(one.chunk.terms.split())
            self._weight.update(self._terms.weights(split - self._weight.keys()))
            found = self._known[_id(one)] = Words(split, self._weight)
        return found


def _own(score: Score) -> float:
    """Its relevance without the odds that are the prompt's and the project's: they say nothing of two turns."""
    if score.vector is None or not 0 < score.relevance < 1:
        return score.relevance
    known = score.answerable - score.aside - score.chance
    return 1 / (1 + math.exp(known - math.log(score.relevance / (1 - score.relevance))))


@lru_cache(maxsize=1024)
def _done_away(text: str) -> frozenset[Terms]:
    return done_away(text)


def _id(one: Candidate) -> str:
    return one.chunk.memory_id
