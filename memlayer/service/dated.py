"""Of two entries on the same matter the older one says that there is a newer one.

Facts change, and which of the two holds is for the reader to see. What took whose place: service.successors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memlayer.core.context import Budget
from memlayer.core.query import Query
from memlayer.service.candidate import CROWDED, Candidate
from memlayer.service.snippet import snippet
from memlayer.service.successors import Similar, Successors
from memlayer.service.term_stats import TermStats


def dated(
    judged: Sequence[Candidate], query: Query, budget: Budget, terms: TermStats, similar: Similar | None = None
) -> list[Candidate]:
    """The candidates, the older of two kept ones marked with the newer.

    A newer turn that missed the floor comes with the older one, if there is room; one that found no place among the
    entries, or that says what it does away with, takes that of the least of the others. A core memory does not come:
    it has few words, and of what it replaces service.replaced knows.
    """
    kept = [one for one in judged if one.kept]
    crowded = CROWDED % budget.max_entries
    successors = Successors(judged, crowded, terms, similar)
    room = budget.max_entries - len(kept)
    latest_on = [(one, found) for one in kept if (found := successors.of(one)) is not None]
    newer_of = {_id(one): found.turn for one, found in latest_on if found.turn.kept}  # by the older one's id
    come: dict[str, Candidate] = {}
    first = {_id(found.turn) for _, found in latest_on if found.comes_first}
    gone: set[str] = set()
    for one, found in latest_on:
        latest = found.turn
        if latest.kept or _id(one) in gone:
            continue
        if _id(latest) not in come:
            if room <= 0 and (found.is_sure or latest.reason == crowded):
                needed = {_id(one), *map(_id, newer_of.values())}
                others = [_id(other) for other in kept if _id(other) not in needed | gone]
                gone.update(others[-1:])
                room += len(others[-1:])
            if room <= 0:
                continue
            room -= 1
            text = snippet(latest.chunk, query, terms, budget.max_entry_chars)
            come[_id(latest)] = replace(
                latest, kept=True, reason="newer on the matter of " + one.citation, snippet=text
            )
        newer_of[_id(one)] = latest
    out: list[Candidate] = []
    for one in judged:
        newer = newer_of.get(_id(one))
        comes = come.pop(_id(newer), None) if newer is not None else None
        if comes is not None and _id(comes) in first:
            out.append(comes)
        if _id(one) in gone:
            out.append(replace(one, kept=False, reason=crowded, newer=""))
        elif newer is not None and not one.newer:
            out.append(replace(one, newer=newer.citation))
        else:
            out.append(one)
        if comes is not None and _id(comes) not in first:
            out.append(comes)
    shown = {_id(one) for one in out if one.kept}
    return [one for one in out if one.kept or _id(one) not in shown]


def _id(one: Candidate) -> str:
    return one.chunk.memory_id
