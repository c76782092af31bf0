"""Tests for text.whole_words. Pairs of look-alikes: tests/data/forget_siblings.yaml."""

import pytest

from memlayer.text.whole_words import holding
from tests.support.tables import tables


@pytest.mark.parametrize(("query", "held", "not_held"), tables("text/whole_words")["words_count_whole"])
def test_words_count_whole(query: str, held: list[str], not_held: list[str]) -> None:
    assert holding(query, {text: text for text in [*held, *not_held]}) == held


def test_long_text_of_one_word_takes_no_square_of_its_length() -> None:
    assert holding("ab-1", {"long": "ab-1x " * 100_000}) == []
