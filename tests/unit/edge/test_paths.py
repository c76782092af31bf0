"""Durable writes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memlayer.edge.home import paths


def test_threads_that_write_one_file_disturb_each_other_not(tmp_path: Path) -> None:
    """As when a client asks again while its first request is still answered."""
    path = str(tmp_path / "칸" / "0001790000000-같은 사건.json")
    texts = [("값 %d " % number).encode() * 400 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            list(pool.map(lambda text: paths.write_whole(path, text), texts))
            assert Path(path).read_bytes() in texts
    assert os.listdir(tmp_path / "칸") == [os.path.basename(path)]


def test_a_write_of_a_dead_process_is_swept_and_a_living_ones_stays(tmp_path: Path) -> None:
    dead, own = tmp_path / ".tmp-a.json-140-99999999", tmp_path / f".tmp-a.json-140-{os.getpid()}"
    for path in (dead, own):
        path.write_text("x")
    assert paths.sweep(str(tmp_path), dead.stat().st_mtime + 10, 3600, 3) == 1
    assert not dead.exists() and own.exists()
