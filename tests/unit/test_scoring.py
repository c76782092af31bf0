"""Scores: what each part is, what bounds it, and what lifts what."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.core.query import Query, reduce_prompt, with_context
from memlayer.core.scoring import (
    DAY_MS,
    NEIGHBOUR,
    TRANSLATED,
    Evidence,
    Weighed,
    Weights,
    chance,
    frequencies,
    near_in_session,
    recency,
    score,
)
from memlayer.core.terms import index_terms

WEIGHTS = Weights()
unit = st.floats(0, 1)


def found(prompt: str, text: str) -> dict[str, float]:
    return frequencies(reduce_prompt(prompt), index_terms(text).split())


def even(query: Query) -> dict[str, float]:
    return dict.fromkeys(query.terms, 1.0)


class TestWords:
    def test_all_of_a_question_is_one_none_is_zero(self) -> None:
        query = reduce_prompt("결제 모듈 포트")
        for text, share in (("결제모듈의 포트는 5433", 1.0), ("the weather", 0.0)):
            assert Weighed(query, even(query)).coverage(frequencies(query, index_terms(text).split())) == share

    def test_a_translation_counts_but_less(self) -> None:
        query = reduce_prompt("배포")
        there = Weighed(query, even(query)).coverage(found("배포", "배포 브랜치"))
        translated = Weighed(query, even(query)).coverage(found("배포", "the deploy branch"))
        assert (there, translated) == (1.0, pytest.approx(TRANSLATED))
        back = reduce_prompt("deploy")
        assert Weighed(back, even(back)).coverage(found("deploy", "배포를 막았다")) == pytest.approx(TRANSLATED)

    def test_a_translation_of_two_words_needs_both(self) -> None:
        query = Query("환불", ["환불"], other_ways={"환불": (("money", "back"),)})
        assert frequencies(query, ["money"]) == {}
        assert frequencies(query, ["money", "back", "back"]) == {"환불": TRANSLATED}

    def test_what_the_turn_before_named_counts_half(self) -> None:
        query = with_context(Query("why", ["reason"]), "the order events")
        own = Weighed(query, even(query)).coverage({"reason": 1.0})
        theirs = Weighed(query, even(query)).coverage({"order": 1.0, "event": 1.0})
        assert own == theirs == 0.5

    def test_bm25_grows_with_use_and_falls_with_length(self) -> None:
        query = Query("port", ["port"])
        once, twice = (Weighed(query, {"port": 2.0}).bm25({"port": often}, 1.0) for often in (1.0, 2.0))
        assert 0 < once < twice < 2 * once
        assert Weighed(query, {"port": 2.0}).bm25({"port": 1.0}, 4.0) < once


class TestEvidence:
    @given(unit, unit, unit, st.booleans())
    def test_relevance_is_a_share_and_grows_with_both_legs(
        self, covered: float, vector: float, more: float, foreign: bool
    ) -> None:
        one = Evidence(covered, covered, vector, foreign).relevance(WEIGHTS)
        assert 0 <= one <= 1
        assert Evidence(covered, covered, vector + more, foreign).relevance(WEIGHTS) >= one
        assert Evidence(min(1, covered + more), covered, vector, foreign).relevance(WEIGHTS) >= one

    @given(unit, unit, st.floats(0.01, 2))
    def test_what_the_question_says_itself_moves_relevance_and_not_the_order(
        self, covered: float, vector: float, odds: float
    ) -> None:
        less, as_is, more = (Evidence(covered, covered, vector, False, by) for by in (-odds, 0.0, odds))
        assert less.relevance(WEIGHTS) < as_is.relevance(WEIGHTS) < more.relevance(WEIGHTS)
        assert less.fit(WEIGHTS, 1.0) == as_is.fit(WEIGHTS, 1.0) == more.fit(WEIGHTS, 1.0)
        searching = replace(WEIGHTS, answerable=0.0)
        assert less.relevance(searching) == as_is.relevance(WEIGHTS)

    @given(unit, unit, st.floats(0.01, 5))
    def test_an_aside_is_less_relevant_to_everything_unless_it_is_an_order_or_a_search(
        self, covered: float, vector: float, odds: float
    ) -> None:
        asks, says = (Evidence(covered, covered, vector, False, 0.0, by) for by in (0.0, odds))
        assert says.relevance(WEIGHTS) < asks.relevance(WEIGHTS)
        assert says.relevance(replace(WEIGHTS, aside=0.0)) == asks.relevance(WEIGHTS)
        assert says.fit(WEIGHTS, 1.0) == asks.fit(WEIGHTS, 1.0)

    @given(unit, unit, st.integers(0, 10**6), st.integers(0, 10**6))
    def test_the_more_there_is_the_less_relevant_is_any_of_it_and_little_costs_nothing(
        self, covered: float, vector: float, less: int, more: int
    ) -> None:
        few, many = sorted((less, more))
        in_few, in_many = (Evidence(covered, covered, vector, False, 0.0, 0.0, chance(n)) for n in (few, many))
        assert in_many.relevance(WEIGHTS) <= in_few.relevance(WEIGHTS)
        assert in_many.relevance(replace(WEIGHTS, chance=0.0)) == Evidence(covered, covered, vector).relevance(WEIGHTS)
        assert chance(40) == 0.0 < chance(1000) < 0.5 and chance(100_000) < 1.0

    def test_words_alone_are_their_own_measure(self) -> None:
        assert Evidence(0.7, 3.0, None).relevance(WEIGHTS) == 0.7

    def test_nothing_in_common_is_below_the_floor_and_all_is_far_above(self) -> None:
        assert Evidence(0.0, 0.0, 0.0).relevance(WEIGHTS) < 0.2
        assert Evidence(1.0, 9.0, 1.0).relevance(WEIGHTS) > 0.9

    def test_across_scripts_no_words_in_common_are_no_bad_sign_for_the_order(self) -> None:
        assert Evidence(0.0, 0.0, 0.7, True).fit(WEIGHTS, 8.0) == 0.7 > Evidence(0.0, 0.0, 0.7).fit(WEIGHTS, 8.0)

    def test_fit_is_measured_by_the_best_of_the_search(self) -> None:
        assert Evidence(0.5, 4.0, None).fit(WEIGHTS, 8.0) == 0.5
        assert Evidence(0.5, 4.0, 1.0).fit(WEIGHTS, 8.0) == pytest.approx(0.75)
        assert Evidence(None, None, None).fit(WEIGHTS, 0.0) == 0.0


class TestNeighbours:
    def test_the_same_session_lifts_the_closer_the_more(self) -> None:
        places = [("s1", 0), ("s1", 0), ("s1", 6_000_000), ("s2", 0)]
        lifted = near_in_session(places, [0.2, 1.0, 0.2, 0.2])
        assert lifted[0] == pytest.approx(0.2 + NEIGHBOUR)
        assert 0.2 < lifted[2] < 0.2 + NEIGHBOUR / 100
        assert lifted[3] == 0.2

    def test_what_belongs_to_no_session_has_no_neighbours(self) -> None:
        assert near_in_session([("", 0), ("", 1), ("a", 0), ("a", 1)], [0.2, 1.0, 0.2, 1.0])[:2] == [0.2, 1.0]

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 10**7), unit), max_size=8))
    def test_nobody_falls_and_nobody_rises_by_more_than_a_share(self, rows: list[tuple[str, int, float]]) -> None:
        fits = [fit for _, _, fit in rows]
        lifted = near_in_session([(session, at) for session, at, _ in rows], fits)
        assert all(0 <= after - before <= NEIGHBOUR + 1e-9 for before, after in zip(fits, lifted, strict=True))


def test_recency_halves_in_a_half_life_and_core_never_decays() -> None:
    assert recency(7 * DAY_MS, 7, "conversation") == 0.5
    assert recency(700 * DAY_MS, 7, "core") == 1.0
    assert recency(-DAY_MS, 7, "daily") == 1.0


def test_importance_and_recency_order_but_never_make_relevant() -> None:
    weak = Evidence(0.1, 0.5, 0.1)
    plain = score(weak, 0.2, importance=0.0, age_ms=10**12, category="conversation", weights=WEIGHTS)
    loud = score(weak, 0.2, importance=1.0, age_ms=0, category="core", weights=WEIGHTS)
    assert loud.score > plain.score
    assert loud.relevance == plain.relevance


@given(st.text("가나다ab "), st.text("가나다ab "))
def test_frequencies_are_those_of_a_count_term_by_term(asked: str, said: str) -> None:
    ways = {"가": (("a",), ("b", "나")), "다": (("a", "b"),)}
    query, document = Query(asked, list(dict.fromkeys(asked.replace(" ", ""))), other_ways=ways), list(said)
    expected: dict[str, float] = {}
    for term in query.terms:
        if term in document:
            expected[term] = document.count(term)
        elif translated := max((min(document.count(one) for one in way) for way in ways.get(term, ())), default=0):
            expected[term] = TRANSLATED * translated
    assert frequencies(query, document) == expected
