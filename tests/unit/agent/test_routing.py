"""Choice of the model by the words of a message."""

import pytest

from memlayer.agent.assembly import model_for
from memlayer.config.agent import ClassificationRule, QueryClassificationSettings
from tests.support.tables import tables


def rule(hint: str, keywords: tuple[str, ...], priority: int = 0) -> ClassificationRule:
    return ClassificationRule(hint=hint, keywords=keywords, priority=priority)


def chosen(rules: list[ClassificationRule], models: dict[str, str], message: str) -> str:
    settings = QueryClassificationSettings(enabled=True, rules=tuple(rules), models=models)
    assert model_for(settings.model_copy(update={"enabled": False}), message, "usual") == "usual"
    return model_for(settings, message, "usual")


FAST = rule("fast", ("quick", "brief", "tldr", "in short", "빨리", "간단히"), 10)
MODELS = {"fast": "anthropic/claude-haiku-4-5", "deep": "big"}


@pytest.mark.parametrize(("message", "is_fast"), tables("agent/routing")["words_not_parts_of_them"])
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
