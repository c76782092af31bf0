"""Of two entries on the same matter the older one says that there is a newer one.

Facts change, and which of the two holds is for the reader to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memlayer.core.context import Budget
from memlayer.core.query import Query
from memlayer.service.candidate import BELOW, CROWDED, Candidate, Words
from memlayer.service.snippet import snippet
from memlayer.service.term_stats import TermStats

NEWER_RELEVANCE = 0.6  # of the older entry's: below it the newer one is about something else
SAME_MATTER = 0.12  # overlap from which two entries are about the same matter (docs/benchmarks.md)


def dated(judged: Sequence[Candidate], query: Query, budget: Budget, terms: TermStats) -> list[Candidate]:
    """The candidates, the older of two kept ones marked with the newer.

    A newer turn that only just missed the floor comes with the older one, if there is room; one that found no place
    among the entries takes that of the least of the others. A core memory does not: it has few words, and of what it
    replaces service.replaced knows.
    """
    kept = [one for one in judged if one.kept]
    crowded = CROWDED % budget.max_entries
    near = [one for one in judged if one.kept or _might_come(one, kept, crowded)]
    if len(near) < 2:
        return list(judged)
    newest_first = sorted(near, key=lambda one: -one.chunk.at_ms)
    words_of = _WordsOf(terms)
    room = budget.max_entries - len(kept)
    latest_on = [(one, latest) for one in kept if (latest := _latest_on(one, newest_first, words_of)) is not None]
    newer_of = {_id(one): latest for one, latest in latest_on if latest.kept}  # by the older one's id
    come: dict[str, Candidate] = {}
    gone: set[str] = set()
    for one, latest in latest_on:
        if latest.kept or _id(one) in gone:
            continue
        if _id(latest) not in come:
            if room <= 0 and latest.reason == crowded:
                needed = {_id(one), *map(_id, newer_of.values())}
                others = [_id(other) for other in kept if _id(other) not in needed | gone]
                gone.update(others[-1:])
                room += len(others[-1:])
            if room <= 0:
                continue
            room -= 1
            text = snippet(latest.chunk, query, terms, budget.max_entry_chars)
            come[_id(latest)] = replace(latest, kept=True, reason="newer on the matter of " + one.key, snippet=text)
        newer_of[_id(one)] = latest
    out: list[Candidate] = []
    for one in judged:
        newer = newer_of.get(_id(one))
        if newer is not None and _id(newer) in come:
            out.append(come.pop(_id(newer)))
        if _id(one) in gone:
            out.append(replace(one, kept=False, reason=crowded, newer=""))
        elif newer is not None and not one.newer:
            out.append(replace(one, newer=newer.key))
        else:
            out.append(one)
    shown = {_id(one) for one in out if one.kept}
    return [one for one in out if one.kept or _id(one) not in shown]


def _might_come(one: Candidate, kept: Sequence[Candidate], crowded: str) -> bool:
    least = NEWER_RELEVANCE * min((other.score.relevance for other in kept), default=2.0)
    if one.score.relevance < least or one.chunk.category != "conversation":
        return False
    return one.reason == crowded or one.reason.startswith(BELOW)


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


def _latest_on(one: Candidate, newest_first: Sequence[Candidate], words_of: _WordsOf) -> Candidate | None:
    """The newest of those on the same matter that are newer than it."""
    for other in newest_first:
        if other.chunk.at_ms <= one.chunk.at_ms:
            return None
        near = other.score.relevance >= NEWER_RELEVANCE * one.score.relevance
        if near and words_of(one).overlap(words_of(other)) >= SAME_MATTER:
            return other
    return None


def _id(one: Candidate) -> str:
    return one.chunk.memory_id
