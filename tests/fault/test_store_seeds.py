"""The store's properties with more seeds than the fast tests have."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from tests.property.test_store_property import Operation, check_alike, check_filters, few, names, operations

SEEDS = 300 if os.environ.get("MEMLAYER_TORTURE") else 15
pytestmark = [pytest.mark.fault, pytest.mark.timeout(60 + 10 * SEEDS)]


@few(SEEDS)
@given(operations)
def test_both_stores_answer_alike(tmp_path: Path, steps: list[Operation]) -> None:
    check_alike(Path(tempfile.mkdtemp(dir=tmp_path)), steps)


@few(SEEDS)
@given(names)
def test_any_value_can_be_filtered_by(tmp_path: Path, values: list[str]) -> None:
    check_filters(Path(tempfile.mkdtemp(dir=tmp_path)), values)
