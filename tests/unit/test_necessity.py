"""What a question is asked with counts little; what it asks about counts whole."""

from __future__ import annotations

import pytest

from memlayer.core.necessity import asked, necessity
from memlayer.core.necessity_data import TENTHS
from memlayer.core.query import reduce_prompt
from memlayer.core.scoring import Weighed, frequencies
from memlayer.core.terms import index_terms, query_terms
from memlayer.service.term_stats import TermStats


@pytest.mark.parametrize("word", ["이유", "까닭은", "며칠", "뭘로", "옛날", "happened", "long", "many"])
def test_words_that_one_asks_with_are_no_need_of_an_answer(word: str) -> None:
    assert max(necessity(term) for term in query_terms(word)) <= 0.3


@pytest.mark.parametrize("word", ["카프카", "Postgres", "8443", "재시도", "checkout.py", "webhook", "웹훅", ""])
def test_what_a_question_is_about_counts_whole(word: str) -> None:
    assert all(necessity(term) == 1.0 for term in query_terms(word))


def test_every_word_stands_in_one_group_and_is_a_term() -> None:
    words = [word for terms in TENTHS.values() for word in terms.split()]
    assert len(words) == len(set(words)) > 1000
    assert set(TENTHS) == set(range(1, 10))
    assert all(word == word.casefold() for word in words)


@pytest.mark.parametrize(
    ("question", "turn"),
    [
        ("세션 저장소 옮긴 까닭이 뭐였더라?", "세션 저장소는 이제 Postgres 입니다. 레디스가 재시작마다 비었습니다."),
        ("why did we move the session store, what happened?", "The session store is Postgres now: Redis was empty."),
    ],
)  # fmt: skip
def test_the_words_that_a_question_is_asked_with_do_not_count_against_its_answer(question: str, turn: str) -> None:
    stats, query = TermStats(), reduce_prompt(question)
    held = frequencies(query, index_terms(turn).split())
    plain = Weighed(query, stats.weights(query.terms)).coverage(held)
    assert Weighed(query, asked(stats.weights(query.terms))).coverage(held) > 1.1 * plain > 0
