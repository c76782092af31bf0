"""A full disk, a limit or a permission is no damage: it is told as such, and the store stays as it is."""

import errno
import os
import resource
from pathlib import Path

import pytest

from memlayer.adapters.lance.failures import failing, remedy
from memlayer.adapters.lance.store import LanceStore
from memlayer.errors import StoreError
from tests.support.store_rows import DIMENSIONS, make_chunk, make_event, make_memory

TROUBLES = {
    "disk": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/집/store"),
    "disk of LanceDB": RuntimeError(
        "lance error: LanceError(IO): No space left on device (os error 28), /build/x.rs:1:2"
    ),
    "quota": OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
    "files": OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    "files of LanceDB": RuntimeError(
        "Generic LocalFileSystem error: Unable to open: Too many open files (os error 24)"
    ),
    "files of the system": OSError(errno.ENFILE, "Too many open files in system"),
    "read-only": OSError(errno.EROFS, os.strerror(errno.EROFS)),
    "permission": RuntimeError("Permission denied (os error 13)"),
    "owner": OSError(errno.EPERM, os.strerror(errno.EPERM)),
    "memory": OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
}
DAMAGE = {
    "missing": RuntimeError("Not found: /집/store/events.lance/data/x.lance (os error 2)"),
    "short": RuntimeError("LanceError(IO): range end out of bounds"),
    "text": ValueError("invalid utf-8 in block 28)"),
    "input": OSError(errno.EIO, os.strerror(errno.EIO)),
}


@pytest.mark.parametrize("table", ["events", "memories", "chunks"])
@pytest.mark.parametrize("error", TROUBLES.values(), ids=list(TROUBLES))
def test_trouble_is_told_without_advice_for_damage(error: Exception, table: str) -> None:
    with pytest.raises(StoreError) as told, failing("table cannot be opened", remedy(table)):
        raise error
    assert not any(word in str(told.value) for word in ("backup", "move it", "remove the folder", "damage"))
    assert "\n" not in str(told.value) and len(str(told.value)) < 160


@pytest.mark.parametrize("error", DAMAGE.values(), ids=list(DAMAGE))
def test_damage_keeps_its_advice(error: Exception) -> None:
    with pytest.raises(StoreError, match="restore the store folder from a backup"), failing("x", remedy("events")):
        raise error


def test_store_under_a_limit_of_files_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "저장소"
    store = LanceStore.open(folder, DIMENSIONS)
    for number in range(3):
        store.add_events([make_event(number)])
        store.put_memories([make_memory(number)])
        store.put_chunks([make_chunk(number, "결제 모듈 %d" % number)])
    store.close()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    refused = 0
    for more in (0, 1, 2, 3, 4, 6, 8, 12, 16):
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + more, hard))
        try:
            LanceStore.open(folder, DIMENSIONS).close()
        except (StoreError, OSError) as told:
            refused += 1
            assert "backup" not in str(told) and "damage" not in str(told), told
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert refused
    assert not list(folder.rglob("*.torn")) and not (folder / "damaged").exists()
    store = LanceStore.open(folder, DIMENSIONS)
    assert (store.stats().events, store.stats().memories, store.damage()) == (3, 3, [])
    store.close()
