"""The labelled pairs of evals/superseding: two subjects are kept, a true change supersedes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from memlayer.consolidation.conflict.compare import Verdict, judge

SET = Path(__file__).resolve().parents[3] / "evals" / "data" / "superseding" / "pairs.jsonl"
PAIRS: list[dict[str, Any]] = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
APART = [row for row in PAIRS if row["label"] == "apart"]
CHANGES = [row for row in PAIRS if row["label"] == "change"]
ENOUGH = 0.72


def test_set_has_its_size() -> None:
    assert len(APART) >= 120 and len(CHANGES) >= 60
    assert len({row["id"] for row in PAIRS}) == len(PAIRS)
    first = [row for row in PAIRS if row["round"] == 1]
    assert sum(row["held_out"] for row in first) >= len(first) // 3
    for rows in (APART, CHANGES):
        languages = Counter(row["language"] for row in rows)
        assert set(languages) == {"en", "ko", "mixed"} and languages["en"] <= 0.6 * len(rows)
    kinds = {"number", "letter", "name", "person", "role", "environment", "version", "year", "floor"}
    assert kinds <= {row["differs"] for row in APART}


def test_two_subjects_are_kept() -> None:
    orders = [(row["older"], row["newer"]) for row in APART] + [(row["newer"], row["older"]) for row in APART]
    lost = [pair for pair in orders if judge(*pair) != Verdict.KEEP]
    assert lost == []


def test_changes_supersede() -> None:
    missed = [row for row in CHANGES if judge(row["older"], row["newer"]) != Verdict.SUPERSEDE]
    assert len(missed) <= (1 - ENOUGH) * len(CHANGES), missed
