"""How much a memory matters before anyone asks: its category, and each different signal once."""

import pytest

from memlayer.turns.salience import importance
from tests.support.tables import tables

TABLES = tables("turns/importance")

BASES = [("core", 0.7), ("custom", 0.4), ("daily", 0.3), ("conversation", 0.2)]


@pytest.mark.parametrize(("category", "value"), BASES)
def test_a_category_has_its_own_base(category: str, value: float) -> None:
    assert importance(category, "포트는 8080 / the port is 8080") == value


@pytest.mark.parametrize(
    "text",
    TABLES["each_signal_word_adds_a_tenth"],
)  # fmt: skip
def test_each_signal_word_adds_a_tenth(text: str) -> None:
    assert importance("conversation", text) == 0.3


@pytest.mark.parametrize(
    "text",
    TABLES["synonyms_and_translations_of_one_signal_count_once"],
)  # fmt: skip
def test_synonyms_and_translations_of_one_signal_count_once(text: str) -> None:
    assert importance("conversation", text) == 0.3


@pytest.mark.parametrize(
    "text",
    [
        "산꼭대기 사진", "수도꼭지", "꼭두각시", "불규칙한 간격", "절대 경로를 써", "절대값", "결정론적 순서",
        "결정 트리 모델", "a decision tree", "unimportant", "it is not important", "중요하지 않아",
        "never mind", "overruled", "trust", "ruler", "늘어난 메모리",
    ],
)  # fmt: skip
def test_a_word_that_only_looks_like_a_signal_adds_nothing(text: str) -> None:
    assert importance("conversation", text) == 0.2


def test_signals_add_two_tenths_at_most_and_the_sum_is_a_round_number() -> None:
    assert importance("conversation", "a rule, always") == 0.4
    assert importance("daily", "원칙이야, 항상. never, critical, must") == 0.5
    assert importance("core", "We decided: always. 반드시.") == 0.9
    assert importance("daily", "a rule") == 0.4  # 0.30000000000000004 + ... must not show
    assert str(importance("conversation", "a rule")) == "0.3"


def test_what_is_pinned_or_unknown_stays_within_one() -> None:
    assert max(importance(category, "always never must") for category in ("core", "custom", "daily")) <= 1.0
