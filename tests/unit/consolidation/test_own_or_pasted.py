"""Everyday wishes are kept or asked, pastes are at most asked, talk is no rule."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from memlayer.consolidation.rules.extraction import Statement, extract
from memlayer.give.standing_orders import is_order
from memlayer.kinds import Kind
from tests.support.tables import tables

DATA = Path(__file__).parents[2] / "data" / "own_or_pasted.yaml"
ROWS: dict[str, list[Any]] = yaml.safe_load(DATA.read_text("utf-8"))


def orders(prompt: str) -> list[Statement]:
    said = [row for row in extract(prompt, ["Done."], 0).statements if row.speaker == "user"]
    return [row for row in said if is_order(row.kind, row.text)]


@pytest.mark.parametrize("row", ROWS["wishes"], ids=lambda row: row["words"])
def test_wish_is_kept_or_asked(row: dict[str, Any]) -> None:
    [found] = [order for order in orders(row["prompt"]) if row["words"] in order.text]
    assert found.is_unclear is row.get("asked", False)


@pytest.mark.parametrize("prompt", ROWS["pasted"])
def test_paste_is_at_most_asked(prompt: str) -> None:
    assert all(order.is_unclear for order in orders(prompt))


@pytest.mark.parametrize("prompt", ROWS["talk"])
def test_talk_is_neither(prompt: str) -> None:
    assert orders(prompt) == []


@pytest.mark.parametrize("prompt", ROWS["of_one_thing"])
def test_rule_for_one_thing_is_a_decision_about_it(prompt: str) -> None:
    [found] = extract(prompt, ["Done."], 0).statements
    assert found.kind is Kind.DECISION and not is_order(found.kind, found.text)


@pytest.mark.parametrize(("prompt", "is_unclear"), tables("consolidation/own_or_pasted")["form_and_place_decide"])
def test_form_and_place_decide(prompt: str, is_unclear: bool) -> None:
    [found] = orders(prompt)
    assert found.is_unclear is is_unclear


def test_of_a_long_prompt_the_ends_are_asked() -> None:
    rules = "- You must always keep the log of the shop short.\n" * 12
    prompt = "Compare the guides please.\n\n" + rules + "\nAlways answer in Korean, and in one line."
    assert [(row.text, row.is_unclear) for row in orders(prompt)] == [
        ("Always answer in Korean, and in one line.", True)
    ]
