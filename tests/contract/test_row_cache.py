"""The row cache: chunks come back unchanged, never when possibly stale."""

import shutil
import sqlite3
import stat
from collections.abc import Iterable
from pathlib import Path

import pytest

from memlayer.adapters.lance.search import FILE_NAME, MAX_RECENT, RowCache
from memlayer.adapters.lance.store import LanceStore
from memlayer.model import Scope, replace
from memlayer.ports import Selection
from memlayer.text.terms import query_terms
from tests.support.store_rows import DIMENSIONS, EMBEDDER, make_chunk, make_event, make_memory

P1 = Scope(("p1",))
CHUNKS = [make_chunk(1, "결제 모듈은 NestJS로"), make_chunk(2, "order events\nin ClickHouse"), make_chunk(3, "x" * 999)]
IDS = [chunk.id for chunk in CHUNKS]


def filled(folder: Path, version: int = 7) -> RowCache:
    """A cache that agrees with that version of the table."""
    cache = RowCache(folder, 1)
    cache.begin()
    cache.put(CHUNKS)
    cache.end(version)
    return cache


def rows_of(folder: Path) -> int:
    with sqlite3.connect(folder / FILE_NAME) as database:
        count: int = database.execute("SELECT count(*) FROM rows").fetchone()[0]
    database.close()
    return count


def test_chunks_survive_the_process(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert cache.get([*IDS, "unknown"]) == {chunk.id: chunk for chunk in CHUNKS}
    assert cache.get([]) == {}
    cache.close()
    assert RowCache(tmp_path, 7).get(IDS) == {chunk.id: chunk for chunk in CHUNKS}
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_many_ids_at_once(tmp_path: Path) -> None:
    many = [make_chunk(number, f"메모 {number}") for number in range(1300)]
    cache = RowCache(tmp_path, 1)
    cache.begin()
    cache.put(many)
    cache.end(2)
    assert cache.get([chunk.id for chunk in many]) == {chunk.id: chunk for chunk in many}


def test_a_lone_surrogate_reads_as_in_the_table(tmp_path: Path) -> None:
    cache = RowCache(tmp_path, 1)
    cache.begin()
    cache.put([replace(CHUNKS[0], text="a\ud800b")])
    cache.end(2)
    assert cache.get(IDS)[IDS[0]].text == "a?b"


def test_another_version_of_the_table_begins_anew(tmp_path: Path) -> None:
    filled(tmp_path, version=7).close()
    cache = RowCache(tmp_path, 8)
    assert cache.get(IDS) == {}
    cache.close()
    assert RowCache(tmp_path, 8).get(IDS) == {} and rows_of(tmp_path) == 0


def test_a_change_that_was_never_ended_begins_anew(tmp_path: Path) -> None:
    """The process died between the change of the table and its end."""
    cache = filled(tmp_path, version=7)
    cache.begin()
    cache.close()
    assert RowCache(tmp_path, 7).get(IDS) == {}


def test_another_boot_of_the_machine_begins_anew(tmp_path: Path) -> None:
    filled(tmp_path, version=7).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as database:
        database.execute("UPDATE agrees SET since_boot = 'yesterday'")
    database.close()
    assert RowCache(tmp_path, 7).get(IDS) == {}


def test_stale_reads_are_not_cached(tmp_path: Path) -> None:
    cache = RowCache(tmp_path, 1)
    state = cache.state
    cache.fill(CHUNKS[:1], state)
    assert list(cache.get(IDS)) == IDS[:1]
    cache.begin()
    cache.fill(CHUNKS[1:2], state)
    cache.fill(CHUNKS[1:2], cache.state)  # read while the table changes: of which version, nobody knows
    cache.end(2)
    cache.fill(CHUNKS[1:2], state)
    assert list(cache.get(IDS)) == IDS[:1]


def test_what_is_removed_is_gone(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    cache.begin()
    cache.remove(IDS[:2])
    cache.end(8)
    assert list(cache.get(IDS)) == IDS[2:]
    cache.begin()
    cache.clear()
    assert not (tmp_path / FILE_NAME).exists()
    cache.end(9)
    assert cache.get(IDS) == {}


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 300, None])
def test_no_state_of_the_file_is_fatal(tmp_path: Path, damage: bytes | None) -> None:
    filled(tmp_path, version=7).close()
    path = tmp_path / FILE_NAME
    if damage is None:  # whole for SQLite, and its rows are rubbish
        with sqlite3.connect(path) as database:
            database.execute("UPDATE rows SET packed = x'00ff'")
        database.close()
    else:
        path.write_bytes(damage)
    cache = RowCache(tmp_path, 7)
    assert cache.get(IDS) == {}
    cache.fill(CHUNKS, cache.state)
    assert cache.get(IDS) == {chunk.id: chunk for chunk in CHUNKS}


def test_a_folder_in_its_place_is_done_without(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    cache = filled(tmp_path)
    assert cache.get(IDS) == {}
    cache.fill(CHUNKS, cache.state)
    cache.remove(IDS)
    assert cache.get(IDS) == {}


# -- as the store uses it


def texts(store: LanceStore, words: str) -> list[str]:
    return [hit.chunk.text for hit in store.search_text(query_terms(words), P1, 5)]


def test_old_row_file_is_ignored(tmp_path: Path) -> None:
    """As after a restored backup: the file is older than the table."""
    folder = tmp_path / "store"
    store = LanceStore.open(folder, DIMENSIONS)
    store.put_chunks([make_chunk(1, "결제는 포트원으로", embedded=True)])
    assert texts(store, "결제") == ["결제는 포트원으로"]
    store.close()
    shutil.copy(folder / FILE_NAME, tmp_path / "old")
    store = LanceStore.open(folder, DIMENSIONS)
    store.put_chunks([make_chunk(1, "결제는 토스로", embedded=True)])
    store.close()
    shutil.copy(tmp_path / "old", folder / FILE_NAME)
    store = LanceStore.open(folder, DIMENSIONS)
    assert texts(store, "결제") == ["결제는 토스로"]
    vector = EMBEDDER.embed_query("결제는 토스로")
    assert [hit.chunk.text for hit in store.search_vector(vector, EMBEDDER.fingerprint, P1, 5)] == ["결제는 토스로"]
    store.close()


def test_cache_outlives_process_and_upkeep(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = LanceStore.open(folder, DIMENSIONS)
    store.put_chunks([make_chunk(number, f"배포 {number}") for number in range(5)])
    store.upkeep(force=True)
    store.close()
    store = LanceStore.open(folder, DIMENSIONS)
    assert rows_of(folder) == 5
    assert sorted(texts(store, "배포")) == [f"배포 {number}" for number in range(5)]
    store.close()


def test_what_is_forgotten_leaves_it(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    store = LanceStore.open(folder, DIMENSIONS)
    store.add_events([make_event(1), make_event(2)])
    store.put_memories([make_memory(1), make_memory(2)])
    store.put_chunks([make_chunk(1, "비밀 이야기"), make_chunk(2, "남는 이야기")])
    assert len(texts(store, "이야기")) == 2
    store.forget(Selection(memory_ids=("m1",)))
    assert rows_of(folder) == 0
    assert texts(store, "이야기") == ["남는 이야기"]
    assert rows_of(folder) == 1
    store.close()


def test_recent_reads_are_invalidated(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    assert set(cache.get(IDS)) == set(IDS)  # from now on in memory
    changed = replace(CHUNKS[0], text="결제 모듈은 Go로")
    cache.begin()
    cache.put([changed])
    cache.remove(IDS[1:2])
    assert cache.get(IDS[:2]) == {IDS[0]: changed}, "a change counts before it has ended"
    cache.end(8)
    assert cache.get(IDS) == {IDS[0]: changed, IDS[2]: CHUNKS[2]}
    cache.clear()
    assert cache.get(IDS) == {}


def test_reads_during_change_not_cached(tmp_path: Path) -> None:
    cache = filled(tmp_path)
    read = cache._read

    def read_and_lose(ids: Iterable[str]) -> list[bytes]:
        found = read(ids)  # read before the row goes, kept after it went
        cache.begin()
        cache.remove(IDS[:1])
        cache.end(8)
        return found

    cache._read = read_and_lose  # type: ignore[method-assign]
    assert set(cache.get(IDS)) == set(IDS)
    cache._read = read  # type: ignore[method-assign]
    assert set(cache.get(IDS)) == set(IDS[1:])


def test_no_more_than_so_many_stay_in_memory(tmp_path: Path) -> None:
    many = [make_chunk(number, f"메모 {number}") for number in range(MAX_RECENT + 300)]
    cache = RowCache(tmp_path, 1)
    cache.begin()
    cache.put(many)
    cache.end(2)
    for start in range(0, len(many), 100):
        cache.get([chunk.id for chunk in many[start : start + 100]])
    assert len(cache._recent) == MAX_RECENT and many[-1].id in cache._recent
