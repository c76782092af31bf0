"""Choice of the model by the words of a message."""

from __future__ import annotations

import pytest

from memlayer.agent.routing import Router, Rule

FAST = Rule("fast", ("quick", "brief", "tldr", "in short", "빨리", "간단히"), 10)
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
    assert Router([FAST], MODELS).model_for(message, "usual") == (MODELS["fast"] if is_fast else "usual")


def test_highest_priority_wins_then_the_first() -> None:
    deep = Rule("deep", ("quick",), 20)
    assert Router([FAST, deep], MODELS).model_for("quick", "usual") == "big"
    assert Router([deep, Rule("fast", ("quick",), 20)], MODELS).model_for("quick", "usual") == "big"
    assert Router([Rule("fast", ("quick",), 20), deep], MODELS).model_for("quick", "usual") == MODELS["fast"]


def test_hint_without_a_model_leaves_the_next_rule() -> None:
    assert Router([Rule("none", ("quick",), 99), FAST], MODELS).model_for("quick", "usual") == MODELS["fast"]
    assert Router([FAST]).model_for("quick", "usual") == "usual"
    assert Router().model_for("quick", "usual") == "usual"
    assert Router([Rule("fast", ("", "  "))], MODELS).model_for("quick  x", "usual") == "usual"


def test_signs_in_keywords_are_no_patterns() -> None:
    router = Router([Rule("fast", ("c++", ".*"))], MODELS)
    assert router.model_for("anything", "usual") == "usual"
    assert router.model_for("use c++ here", "usual") == MODELS["fast"]
