"""The labelled set is sound, and the rules are mostly right on it where they speak."""

import importlib.util
import json
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
SET = ROOT / "evals" / "data" / "consolidation"
KINDS = {"decision", "preference", "fact", "cause", "commitment"}


def _load_bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("evals_consolidation", ROOT / "evals" / "consolidation.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bench = _load_bench()


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SET / name).read_text(encoding="utf-8").splitlines()]


TURNS, PAIRS = _rows("turns.jsonl"), _rows("pairs.jsonl")


def test_the_set_has_its_size_and_mixture() -> None:
    languages = Counter(row["language"] for row in TURNS)
    assert len(TURNS) >= 320
    assert languages["ko"] + languages["mixed"] >= 0.48 * len(TURNS)
    assert sum("nothing" in row for row in TURNS) >= len(TURNS) / 3
    assert len(PAIRS) >= 160
    assert min(Counter(row["label"] for row in PAIRS).values()) >= 60
    for rows in (TURNS, PAIRS):
        assert len({row["id"] for row in rows}) == len(rows)


def test_labels_stand_verbatim_in_their_turn() -> None:
    for row in TURNS:
        whole = "\n".join([row["prompt"], *row["answers"]])
        assert ("nothing" in row) != bool(row["keep"]), row["id"]
        assert all(label["kind"] in KINDS for label in row["keep"]), row["id"]
        texts = [text for label in row["keep"] for text in [label["text"], *label.get("accepted", [])]]
        assert [text for text in [*texts, *row.get("optional", [])] if text not in whole] == [], row["id"]


def test_pairs_have_known_labels_and_two_texts() -> None:
    assert all(row["label"] in ("merge", "supersede", "keep") and row["older"] != row["newer"] for row in PAIRS)


# A sanity check: what the rules are for is measured on real sessions (evals/core_memories.py).
@pytest.mark.parametrize("language", ["en", "ko", "mixed"])
def test_rules_are_right_where_they_speak(language: str) -> None:
    tally = bench.measure(row for row in TURNS if row["language"] == language)
    failures = "\n".join(tally.failures)
    assert tally.precision >= 0.8, failures
    assert tally.broken_silence <= 0.04 * tally.nothing, failures
    assert tally.daily_right >= 0.8 * tally.dailies, failures


def test_hard_pairs_are_hardly_ever_replaced_wrongly() -> None:
    verdicts = bench.judge_pairs(PAIRS)
    assert verdicts.right >= 0.5 * verdicts.pairs, "\n".join(verdicts.failures)
    assert "keep>supersede" not in verdicts.confusion and "keep>merge" not in verdicts.confusion
    assert verdicts.confusion.get("merge>supersede", 0) <= 1
