"""Training turns: whole, in both languages, disjoint from measured sets."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.redaction.privacy import redact
from tests.conftest import ROOT

TRAINING = ROOT / "models" / "training"
TURNS = TRAINING / "turns.jsonl"
PROJECTS = TRAINING / "projects.jsonl"
MEASURED = [ROOT / "evals" / "data", ROOT / "models" / "calibration"]
LONG = 8  # words in a row that two texts do not share by chance


def rows(*files: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for path in files or (TURNS,) for line in path.read_text(encoding="utf-8").splitlines()]


def texts_of(row: dict[str, Any]) -> list[str]:
    return row["absent"] if "absent" in row else [row["passage"], *row["q"], *row["near"]]


def phrases(text: str) -> set[tuple[str, ...]]:
    """Return every run of LONG words."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[at : at + LONG]) for at in range(len(words) - LONG + 1)}


def test_turns_have_questions_and_near_misses() -> None:
    found = rows()
    assert len(found) >= 1500
    assert len({row["passage"] for row in found}) == len(found)
    for row in found:
        assert set(row) == {"lang", "passage", "q", "near"}
        assert row["passage"].startswith("User: ") and "\nAssistant: " in row["passage"]
        assert (len(row["q"]), len(row["near"])) == (4, 2)
        assert not set(row["q"]) & set(row["near"])
        assert any(re.search("[가-힣]", question) for question in row["q"])
        assert not all(re.search("[가-힣]", question) for question in row["q"])
    languages = Counter(row["lang"] for row in found)
    assert set(languages) == {"ko", "en", "mixed"}
    assert languages["ko"] + languages["mixed"] >= len(found) // 2


@pytest.mark.parametrize(("file", "near_misses"), [(PROJECTS, 2)])
def test_projects_are_whole(file: Path, near_misses: int) -> None:
    projects: dict[str, list[dict[str, Any]]] = {}
    for row in rows(file):
        projects.setdefault(row["project"], []).append(row)
    assert len(projects) >= 40
    for name, said in projects.items():
        asked = [row for row in said if row.get("q")]
        assert len(asked) >= 40, name
        assert all(len(row["q"]) == 4 and len(row["near"]) == near_misses for row in asked), name
        assert sum(len(row["absent"]) for row in said if "absent" in row) == 24, name


def test_no_measured_text_is_trained_on() -> None:
    measured: set[tuple[str, ...]] = set()
    files = [path for folder in MEASURED for path in folder.rglob("*") if path.suffix in (".yaml", ".jsonl", ".json")]
    assert len(files) >= 6
    for path in files:
        measured |= phrases(path.read_text(encoding="utf-8"))
    trained = {phrase for row in rows(TURNS, PROJECTS) for text in texts_of(row) for phrase in phrases(text)}
    assert trained & measured == set()


def test_training_text_holds_no_secret() -> None:
    for row in rows(TURNS, PROJECTS):
        for text in texts_of(row):
            assert redact(text) == text
