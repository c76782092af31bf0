"""Tests for text.whole_words. Pairs of look-alikes: tests/data/forget_siblings.yaml."""

from __future__ import annotations

import pytest

from memlayer.text.whole_words import holding


@pytest.mark.parametrize(
    ("query", "held", "not_held"),
    [
        ("김민수가", ["담당은 김민수다", "김민수가 한다"], ["김민수진이 한다"]),
        ("민서는", ["민서한테 있다", "민서는 쉰다"], ["민서준은 쉰다"]),
        ("박지은", ["박지은은 쉰다", "박지은 담당"], ["박지는 쉰다", "박지가 있다"]),
        ("정은이의 열쇠를", ["정은이가 열쇠를 갖는다"], ["정은주가 열쇠를 갖는다"]),
        ("what is the plan of TKT-7", ["TKT-7: the plan holds"], ["TKT-7 is closed", "the plan of TKT-70"]),
        ("orders", ["the order was moved"], ["reorder it", "the order-book"]),
        ("the", ["the only word"], ["another"]),
        ("“AbC-1”,", ["abc-1."], ["abc-12."]),
        ("…", [], ["…"]),
    ],
)
def test_words_count_whole(query: str, held: list[str], not_held: list[str]) -> None:
    assert holding(query, {text: text for text in [*held, *not_held]}) == held


def test_long_text_of_one_word_takes_no_square_of_its_length() -> None:
    assert holding("ab-1", {"long": "ab-1x " * 100_000}) == []
