"""A later sentence that takes nothing back leaves an older statement alone."""

from pathlib import Path

import pytest
import yaml

from memlayer.consolidation.conflict.compare import Verdict, judge
from tests.support.consolidating_in_memory import DAY_MS, Consolidating

PAIRS = yaml.safe_load(Path(__file__).with_name("guards.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("older", "newer"), [*PAIRS["stands"], *PAIRS["in_doubt"]])
def test_statement_is_left_alone(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.KEEP


@pytest.mark.parametrize(("older", "newer"), PAIRS["replaced"])
def test_statement_is_replaced(tmp_path: Path, older: str, newer: str) -> None:
    memory = Consolidating(tmp_path)
    memory.remember(older)
    held_first = memory.texts()
    memory.remember(newer, at=3 * DAY_MS)
    assert held_first
    assert not set(held_first) & set(memory.texts())
