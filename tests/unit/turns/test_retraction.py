"""Prompts that take the turn before back, in both languages."""

from pathlib import Path

import pytest
import yaml

from memlayer.turns.retraction import Order, not_held, order_of

EXAMPLES = yaml.safe_load((Path(__file__).parents[2] / "data" / "retractions.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("prompt", EXAMPLES["takes_back"] + EXAMPLES["later_takes_back"])
def test_taking_back_is_read(prompt: str) -> None:
    assert order_of(prompt) is Order.TAKES_BACK


@pytest.mark.parametrize("prompt", EXAMPLES["none"] + EXAMPLES["later_none"])
def test_orders_about_other_things_take_nothing_back(prompt: str) -> None:
    assert order_of(prompt) is not Order.TAKES_BACK


@pytest.mark.parametrize("prompt", EXAMPLES["reinstates"])
def test_reinstating_is_read(prompt: str) -> None:
    assert order_of(prompt) is Order.REINSTATES


def test_long_and_generated_prompts_take_nothing_back() -> None:
    assert order_of("revert that. " + "Here is the whole review of it. " * 12) is Order.NONE
    assert order_of("<task-notification>revert that</task-notification>") is Order.NONE


@pytest.mark.parametrize(
    ("prompts", "expected"),
    [
        (["fix the cart", "되돌려"], {0}),
        (["fix the cart", "thanks", "되돌려"], {1}),
        (["fix the cart", "되돌려", "아직 그대로네 되돌려"], {0}),
        (["fix the cart", "revert that", "undo the revert"], {1}),
        (["fix the cart", "되돌려", "다시 적용해줘", "안 되네 원래대로"], {1, 2}),
        (["fix the cart", "keep it", "thanks"], set()),
        (["되돌려", "fix the cart"], set()),
        (["fix the cart", "revert that", "now the checkout", "undo it"], {0, 2}),
    ],
)
def test_mark_stands_on_the_turn_that_is_meant(prompts: list[str], expected: set[int]) -> None:
    assert not_held(prompts) == expected
