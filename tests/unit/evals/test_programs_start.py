"""Each evaluation imports what it measures, under the names of today."""

import importlib
from pathlib import Path

import pytest

EVALS = Path(__file__).resolve().parents[3] / "evals"


@pytest.mark.parametrize("name", sorted(path.stem for path in EVALS.glob("*.py")))
def test_an_evaluation_finds_its_names(name: str) -> None:
    importlib.import_module("evals." + name)
