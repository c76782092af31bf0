"""Scores: their parts, bounds and boosts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.give.query import reduce_prompt
from memlayer.give.retriever import NEIGHBOUR, ChunkEvidence, Weights, coverage, session_boost
from memlayer.text.terms import bm25, frequencies, index_terms

WEIGHTS = Weights()
unit = st.floats(0, 1)


class TestWords:
    @pytest.mark.parametrize(("text", "share"), [("결제모듈의 포트는 5433", 1.0), ("the weather", 0.0)])
    def test_coverage_is_the_share_found(self, text: str, share: float) -> None:
        terms = reduce_prompt("결제 모듈 포트").terms
        assert coverage(frequencies(terms, index_terms(text).split()), dict.fromkeys(terms, 1.0)) == share

    def test_repeats_count_less_and_length_counts_against(self) -> None:
        once, twice = (bm25({"port": often}, {"port": 2.0}, 1.0) for often in (1, 2))
        assert once < twice < 2 * once
        assert bm25({"port": 1}, {"port": 2.0}, 4.0) < once

    @given(st.text("가나다ab "), st.text("가나다ab "))
    def test_frequencies_count_term_by_term(self, asked: str, said: str) -> None:
        terms, document = list(dict.fromkeys(asked.replace(" ", ""))), list(said)
        assert frequencies(terms, document) == {one: document.count(one) for one in terms if one in document}


class TestRelevance:
    def test_words_alone_are_their_own_measure(self) -> None:
        assert ChunkEvidence(0.7, 3.0, None).relevance(WEIGHTS) == 0.7

    def test_relevance_spans_the_floor(self) -> None:
        assert ChunkEvidence(0.0, 0.0, 0.0).relevance(WEIGHTS) < 0.2
        assert ChunkEvidence(1.0, 9.0, 1.0).relevance(WEIGHTS) > 0.9

    def test_foreign_script_is_not_penalized(self) -> None:
        assert (
            ChunkEvidence(0.0, 0.0, 0.7, True).fit(WEIGHTS, 8.0) == 0.7 > ChunkEvidence(0.0, 0.0, 0.7).fit(WEIGHTS, 8.0)
        )

    def test_fit_is_measured_by_the_best_of_the_search(self) -> None:
        assert ChunkEvidence(0.5, 4.0, None).fit(WEIGHTS, 8.0) == 0.5
        assert ChunkEvidence(0.5, 4.0, 1.0).fit(WEIGHTS, 8.0) == pytest.approx(0.75)
        assert ChunkEvidence(None, None, None).fit(WEIGHTS, 0.0) == 0.0


class TestNeighbours:
    def test_the_same_session_lifts_the_closer_the_more(self) -> None:
        places = [("s1", 0), ("s1", 0), ("s1", 6_000_000), ("s2", 0)]
        lifted = session_boost(places, [0.2, 1.0, 0.2, 0.2])
        assert lifted[0] == pytest.approx(0.2 + NEIGHBOUR)
        assert 0.2 < lifted[2] < 0.2 + NEIGHBOUR / 100
        assert lifted[3] == 0.2

    def test_no_session_means_no_boost(self) -> None:
        assert session_boost([("", 0), ("", 1), ("a", 0), ("a", 1)], [0.2, 1.0, 0.2, 1.0])[:2] == [0.2, 1.0]

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10**7), unit), max_size=8))
    def test_session_boost_is_bounded(self, rows: list[tuple[str, int, float]]) -> None:
        fits = [fit for _, _, fit in rows]
        lifted = session_boost([(session, at) for session, at, _ in rows], fits)
        assert all(0 <= after - before <= NEIGHBOUR + 1e-9 for before, after in zip(fits, lifted, strict=True))
