"""Files that the store dropped are not held open.

They would keep their place on the disk, and their bytes.
"""

import os
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.model import Scope
from memlayer.ports import Selection
from tests.support.store_rows import DIMENSIONS, make_chunk, make_event, make_memory

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="/proc shows open files")


def dropped_but_open(folder: Path) -> list[str]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink("/proc/self/fd/" + name)
        except FileNotFoundError:  # the descriptor of the listing itself
            continue
        if target.startswith(str(folder)) and target.endswith(" (deleted)"):
            found.append(target)
    return found


def test_upkeep_closes_old_files(tmp_path: Path) -> None:
    folder = tmp_path / "저장소"
    store = LanceStore.open(folder, DIMENSIONS)
    most = 0
    for number in range(12):
        store.add_events([make_event(number)])
        store.put_memories([make_memory(number)])
        store.put_chunks([make_chunk(number, "결제 모듈 order events %d" % number)])
        store.upkeep(force=True)
        assert len(store.search_text(["order"], Scope(("p1",)), 50)) == number + 1
        most = max(most, len(dropped_but_open(folder)))
    assert most <= 4
    store.forget(Selection(memory_ids=("m3",)))
    assert dropped_but_open(folder) == []
    assert len(store.search_text(["order"], Scope(("p1",)), 50)) == 11
    store.close()
