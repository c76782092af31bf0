"""What a text is found by: the terms of the index and of questions."""

from __future__ import annotations

import time

import pytest

from memlayer.text.terms import MAX_TERM_CHARS, index_terms, query_terms, stem


def finds(question: str, text: str) -> bool:
    """True if a term of the question is in the text: what BM25 with OR calls a hit."""
    return bool(set(query_terms(question)) & set(index_terms(text).split()))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("과제", "과제를 제출했어"),
        ("과제를", "과제는 끝났다"),
        ("결제 모듈", "결제모듈은 월요일에 배포한다"),
        ("값을", "기본으로 값이 없다"),
        ("키가", "키를 바꿨다"),
        ("옮겼어?", "이벤트를 옮겼다"),
        ("서버에서는", "서버가 죽었다"),
        ("재시도는", "재시도 정책"),
        ("제출했나요", "과제를 제출하기로 했다"),
        ("검색결과", "검색 결과와 검색결과"),
        ("checkout.py", "see src/app/checkout.py:42"),
        ("checkout.py를 왜 고쳤더라?", "checkout.py의 버그를 고쳤다"),
        ("src/app/checkout.py", "in /home/dev/src/app/checkout.py there"),
        ("normalize_cart", "def normalize_cart(items):"),
        ("orders?", "the order was sent"),
        ("moved", "we move it"),
        ("retries", "retry once"),
        ("ClickHouse", "clickhouse is up"),
        ("clickhouse", "we use ClickHouse"),
        ("event store", "class OrderEventStore: ..."),
        ("TypeError", "raised TypeError: x"),
        ("econnreset", "read ECONNRESET"),
        ("HTTP 503", "it answered HTTP 503."),
        ("1.2.3", "upgraded to v1.2.3"),
        ("5433", "localhost:5433"),
        ("#1234", "fixed in #1234"),
        ("--no-cache", "docker build --no-cache ."),
        ("-x", "pytest -x"),
        ("C++", "rewritten in C++"),
        (".env", "put it in .env"),
        ("1000", "limit is 1,000 rows"),
        ("決済", "決済モジュールを直した"),
        ("迁移", "我们决定迁移数据"),
        ("заказы", "все заказы"),
        ("CAFE\u0301", "café"),
        ("\u1100\u116a\u110c\u1166", "과제"),  # decomposed Hangul, as file names on macOS have it
    ],
)
def test_question_finds_text(question: str, text: str) -> None:
    assert finds(question, text), (query_terms(question), index_terms(text))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("과제를", "문제를 풀었다"),  # no hit through the particle
        ("제출했어", "확인했어"),  # nor through the ending
        ("합니다", "감사합니다"),
        ("pipe", "pip install"),
        ("note", "not now"),
        ("state", "the stat call"),
    ],
)
def test_grammar_and_likeness_do_not_match(question: str, text: str) -> None:
    assert not set(query_terms(question)) & set(index_terms(text).split())


@pytest.mark.parametrize(
    "question",
    [
        "",
        "  ",
        "???",
        "what is it?",
        "do you remember?",
        "그거 뭐였지?",
        "기억나?",
        "어떻게 하기로 했지?",
        "ㅋㅋㅋ",
        "it's",
    ],
)
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


@pytest.mark.parametrize(
    "forms",
    [
        ("order", "orders", "ordered", "ordering"),
        ("move", "moves", "moved", "moving"),
        ("retry", "retries", "retried", "retrying"),
        ("cache", "caches", "cached", "caching"),
        ("cancel", "cancels", "cancelled", "cancelling"),
        ("store", "stores", "stored", "storing"),
        ("use", "uses", "used", "using"),
        ("stop", "stops", "stopped", "stopping"),
        ("install", "installs", "installed", "installing"),
        ("id", "ids"),
    ],
)
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
