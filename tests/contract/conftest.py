"""The store under test: first the double, then the real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.ports import Store
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import DIMENSIONS


@pytest.fixture(params=["memory", "lance"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store = (
        MemoryStore(DIMENSIONS) if request.param == "memory" else LanceStore.open(tmp_path / "store", DIMENSIONS)
    )
    yield opened
    opened.close()
