"""What a text is found by: the terms of the index and of questions."""

import time

import pytest

from memlayer.text.terms import MAX_TERM_CHARS, index_terms, query_terms, stem
from tests.support.tables import tables


def finds(question: str, text: str) -> bool:
    """True if a term of the question is in the text: what BM25 with OR calls a hit."""
    return bool(set(query_terms(question)) & set(index_terms(text).split()))


@pytest.mark.parametrize(("question", "text"), tables("text/terms")["question_finds_text"])
def test_question_finds_text(question: str, text: str) -> None:
    assert finds(question, text), (query_terms(question), index_terms(text))


@pytest.mark.parametrize(("question", "text"), tables("text/terms")["grammar_and_likeness_do_not_match"])
def test_grammar_and_likeness_do_not_match(question: str, text: str) -> None:
    assert not set(query_terms(question)) & set(index_terms(text).split())


@pytest.mark.parametrize("question", tables("text/terms")["only_stop_words_leave_nothing"])
def test_only_stop_words_leave_nothing(question: str) -> None:
    assert query_terms(question) == []


def test_query_keeps_order_and_has_no_repeats() -> None:
    assert query_terms("Why did the orders move? orders, ORDER!") == ["order", "move"]
    assert query_terms("우리가 결제모듈에서 쓰기로 한 DB가 뭐였지?") == ["결제", "제모", "모듈", "db"]


def test_index_repeats_for_term_frequency() -> None:
    assert index_terms("order, orders and 과제를 과제는").split().count("order") == 2
    assert index_terms("과제를 과제는").split().count("과제") == 2


def test_identifiers_whole_and_by_parts() -> None:
    assert {"normalize_cart", "cart", stem("normalize")} <= set(index_terms("normalize_cart").split())
    assert {"ordereventstore", "order", "event", "store"} <= set(index_terms("OrderEventStore").split())
    terms = set(index_terms("`src/app/checkout.py:42`").split())
    assert {"src/app/checkout.py", "app/checkout.py", "checkout.py", "checkout", "py", "src", "42"} <= terms


@pytest.mark.parametrize("forms", tables("text/terms")["inflections_meet"])
def test_inflections_meet(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1, {form: stem(form) for form in forms}


@pytest.mark.parametrize("pair", [("file", "fill"), ("operate", "operator"), ("ios", "io"), ("data", "date")])
def test_different_words_stay_apart(pair: tuple[str, str]) -> None:
    assert stem(pair[0]) != stem(pair[1])


def test_data_is_no_word() -> None:
    digest = "0f" * 32
    assert index_terms(f"sha {digest}") == f"sha {digest}"
    assert index_terms("a" * 65) == ""
    assert index_terms("QUJD" * 5000) == ""
    assert all(len(term) <= MAX_TERM_CHARS for term in index_terms("x/" * 200 + " " + "y-" * 100).split())


@pytest.mark.parametrize(
    "text", ["결제모듈" * 85_000, "a/" * 500_000, "we moved orders to 결제모듈에서 x.py " * 30_000]
)
def test_a_megabyte_is_bounded(text: str) -> None:
    began = time.process_time()
    index_terms(text)
    assert time.process_time() - began < 4
