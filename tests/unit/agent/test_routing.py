"""Choice of the model by the words of a message."""

from __future__ import annotations

import pytest

from memlayer.agent.choices import model_for
from memlayer.config.agent import ClassificationRule, QueryClassificationSettings


def rule(hint: str, keywords: tuple[str, ...], priority: int = 0) -> ClassificationRule:
    return ClassificationRule(hint=hint, keywords=keywords, priority=priority)


def chosen(rules: list[ClassificationRule], models: dict[str, str], message: str) -> str:
    settings = QueryClassificationSettings(enabled=True, rules=tuple(rules), models=models)
    assert model_for(settings.model_copy(update={"enabled": False}), message, "usual") == "usual"
    return model_for(settings, message, "usual")


FAST = rule("fast", ("quick", "brief", "tldr", "in short", "빨리", "간단히"), 10)
MODELS = {"fast": "anthropic/claude-haiku-4-5", "deep": "big"}


@pytest.mark.parametrize(
    ("message", "is_fast"),
    [
        ("quick summary please", True),
        ("Be BRIEF!", True),
        ("tldr", True),
        ("Say it in\nshort", True),
        ("빨리 알려줘", True),
        ("간단히만 설명해줘", True),
        ("좀 (간단히)", True),
        ("quickly", False),  # a word, not its beginning
        ("the briefing room", False),
        ("unquick", False),
        ("in shorts", False),
        ("재빨리 지나갔다", False),  # not within a word
        ("자세히 알려줘", False),
        ("", False),
    ],
)
def test_words_not_parts_of_them(message: str, is_fast: bool) -> None:
    assert chosen([FAST], MODELS, message) == (MODELS["fast"] if is_fast else "usual")


def test_highest_priority_wins_then_the_first() -> None:
    deep = rule("deep", ("quick",), 20)
    assert chosen([FAST, deep], MODELS, "quick") == "big"
    assert chosen([deep, rule("fast", ("quick",), 20)], MODELS, "quick") == "big"
    assert chosen([rule("fast", ("quick",), 20), deep], MODELS, "quick") == MODELS["fast"]


def test_hint_without_a_model_leaves_the_next_rule() -> None:
    assert chosen([rule("none", ("quick",), 99), FAST], MODELS, "quick") == MODELS["fast"]
    assert chosen([FAST], {}, "quick") == "usual"
    assert chosen([], {}, "quick") == "usual"
    assert chosen([rule("fast", ("  ",))], MODELS, "quick  x") == "usual"


def test_signs_in_keywords_are_no_patterns() -> None:
    signs = [rule("fast", ("c++", ".*"))]
    assert chosen(signs, MODELS, "anything") == "usual"
    assert chosen(signs, MODELS, "use c++ here") == MODELS["fast"]
