"""Which of the entries say that there is a newer one, and what comes or goes for it."""

from __future__ import annotations

from dataclasses import replace

from memlayer.core.context import Budget
from memlayer.core.query import Query
from memlayer.core.scoring import Score
from memlayer.service.candidate import CROWDED, Candidate
from memlayer.service.dated import dated
from memlayer.service.term_stats import TermStats
from tests.contract.store_rows import make_chunk

QUERY = Query("결제 port", ["결제", "port"])


def candidate(number: int, text: str, relevance: float, kept: bool = True, reason: str = "kept") -> Candidate:
    """The higher the number, the newer."""
    chunk = replace(make_chunk(number, text, at_ms=1000 * number), memory_id="m%d" % number)
    return Candidate(chunk, Score(relevance, relevance, relevance, relevance, 0.5, 0.5), kept, reason, text)


def ids(found: list[Candidate]) -> list[str]:
    return [one.chunk.memory_id for one in found if one.kept]


def marks(found: list[Candidate]) -> dict[str, str]:
    """Older -> newer."""
    by_citation = {one.citation: one.chunk.memory_id for one in found}
    return {one.chunk.memory_id: by_citation[one.newer] for one in found if one.newer}


def test_the_older_of_two_on_one_matter_is_marked() -> None:
    found = dated(
        [candidate(1, "결제 port 5432", 0.9), candidate(2, "결제 port 6432", 0.8)], QUERY, Budget(), TermStats()
    )
    assert ids(found) == ["m1", "m2"]
    assert marks(found) == {"m1": "m2"}


def test_what_makes_room_is_neither_the_older_one_nor_what_another_is_marked_with() -> None:
    crowded = CROWDED % 3
    judged = [
        candidate(1, "결제 retry backoff", 0.9),
        candidate(2, "staging port tunnel", 0.85),
        candidate(3, "staging port proxy", 0.8),
        candidate(4, "결제 retry jitter", 0.7, False, crowded),
    ]
    found = dated(judged, QUERY, Budget(max_entries=3), TermStats())
    assert ids(found) == ["m4", "m1", "m3"]
    assert marks(found) == {"m1": "m4"}
    assert next(one for one in found if one.chunk.memory_id == "m2").reason == crowded


def test_where_nothing_may_go_nothing_comes() -> None:
    judged = [candidate(1, "결제 retry backoff", 0.9), candidate(4, "결제 retry jitter", 0.7, False, CROWDED % 1)]
    found = dated(judged, QUERY, Budget(max_entries=1), TermStats())
    assert ids(found) == ["m1"] and marks(found) == {}
