"""Words that a person only pasted lay down no rule: at most the person is asked. In English and Korean."""

import json
from pathlib import Path
from typing import Any

import pytest

from memlayer.consolidation.rules.extraction import extract

DATA = Path(__file__).parents[1] / "data" / "quoted_prompts.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
LEAST_KEPT = 28  # of 30 wishes that were written before the patterns


@pytest.mark.parametrize("text", [row["text"] for row in ROWS if row["quoted"]])
def test_pasted_words_are_at_most_asked(text: str) -> None:
    assert all(row.is_unclear for row in extract(text, [], 0).statements)


@pytest.mark.parametrize("text", [row["text"] for row in ROWS if not row["quoted"] and row["part"] == "tuned"])
def test_a_wish_beside_other_words_is_kept(text: str) -> None:
    assert extract(text, [], 0).statements


def test_held_out_wishes_are_kept() -> None:
    rows = [row for row in ROWS if not row["quoted"] and row["part"] == "held out"]
    kept = [row for row in rows if extract(row["text"], [], 0).statements]
    assert len(kept) >= LEAST_KEPT, [row["text"] for row in rows if row not in kept]
