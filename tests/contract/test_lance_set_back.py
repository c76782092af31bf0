"""Memories set back by damage: changes hold, or are reported."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.kinds import Ended
from memlayer.model import Chunk, Memory, replace
from tests.support.store_rows import DIMENSIONS, make_chunk, make_memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "저장소 store"


def core(number: int, text: str) -> Memory:
    return make_memory(number, text, category="core", importance=0.7)


def indexed(memory: Memory, number: int) -> Chunk:
    chunk = make_chunk(number, memory.text, category="core", at_ms=memory.at_ms)
    return replace(chunk, importance=1.0 if memory.pinned else memory.importance)


def put(store: LanceStore, number: int, memory: Memory) -> None:
    store.put_memories([memory])
    store.drop_chunks([memory.id])
    if memory.holds:
        store.put_chunks([indexed(memory, number)])


def files(folder: Path, table: str) -> set[Path]:
    return set((folder / f"{table}.lance" / "data").iterdir())


def hit(
    folder: Path, begun: Callable[[LanceStore], None], last: Callable[[LanceStore], None], *more: str
) -> LanceStore:
    """The store after the memory files of `last` were emptied."""
    store = LanceStore.open(folder, DIMENSIONS)
    begun(store)
    store.upkeep(force=True)
    before = {table: files(folder, table) for table in ("memories", *more)}
    last(store)
    store.close()
    for table, known in before.items():
        for path in files(folder, table) - known:
            os.truncate(path, 0)
    return LanceStore.open(folder, DIMENSIONS)


def begin(store: LanceStore) -> None:
    for number, text in enumerate(["배포는 화요일 오전에만 한다", "the staging port is 8443", "CI runs on Jenkins"], 1):
        put(store, number, core(number, text))


def by_id(store: LanceStore) -> dict[str, Memory]:
    return {memory.id: memory for memory in store.memories()}


@pytest.mark.parametrize("later_commits", [0, 3])
def test_pin_of_lost_version_survives(folder: Path, later_commits: int) -> None:
    def last(store: LanceStore) -> None:
        put(store, 1, replace(core(1, "배포는 화요일 오전에만 한다"), pinned=True))
        for number in range(later_commits):
            put(store, 10 + number, core(10 + number, f"나중에 말한 것 {number}"))

    store = hit(folder, begin, last)
    assert by_id(store)["m1"].pinned and not by_id(store)["m2"].pinned
    assert len(by_id(store)) == 3 + later_commits
    (note,) = store.damage()
    assert (note.is_minor, note.in_doubt) == (False, ()) and note.brought_back >= 1 + later_commits
    store.close()


def test_edit_of_lost_version_survives(folder: Path) -> None:
    edited = replace(core(2, "the staging port is 9443 (스테이징)"), at_ms=9000, session_id="")
    store = hit(folder, begin, lambda store: put(store, 2, edited))
    assert (by_id(store)["m2"].text, by_id(store)["m2"].at_ms) == (edited.text, 9000)
    assert by_id(store)["m1"].text == "배포는 화요일 오전에만 한다"
    store.close()


def test_replaced_memory_stays_replaced(folder: Path) -> None:
    def last(store: LanceStore) -> None:
        newer = core(4, "CI runs on GitHub Actions")
        store.put_memories([newer, core(3, "CI runs on Jenkins").ended(Ended.REPLACED, 1004, "m4")])
        store.drop_chunks(["m3"])
        store.put_chunks([indexed(newer, 4)])

    store = hit(folder, begin, last)
    found = by_id(store)
    assert (found["m3"].superseded_by, found["m4"].superseded_by) == ("m4", "")
    assert found["m4"].text == "CI runs on GitHub Actions" and not found["m1"].superseded_by
    (note,) = store.damage()
    assert note.in_doubt == (found["m3"].citation,)
    store.close()


def test_damaged_index_leaves_doubt(folder: Path) -> None:
    def last(store: LanceStore) -> None:
        put(store, 1, replace(core(1, "배포는 화요일 오전에만 한다"), pinned=True))
        put(store, 9, core(9, "마지막"))
        for path in files(folder, "chunks"):
            os.truncate(path, 0)

    store = hit(folder, begin, last, "chunks")
    assert not by_id(store)["m1"].pinned
    note = next(note for note in store.damage() if note.table == "memories")
    assert by_id(store)["m1"].citation in note.in_doubt and "may lack" in note.says and not note.is_minor
    store.close()


def test_torn_last_write_changes_nothing_else(folder: Path) -> None:
    """A power failure during a write, before that of the index."""
    store = hit(folder, begin, lambda store: store.put_memories([core(5, "금요일 회의")]))
    assert {memory.id: memory for memory in store.memories()} == {f"m{n}": by_id(store)[f"m{n}"] for n in (1, 2, 3)}
    assert all(memory.holds and not memory.pinned for memory in store.memories())
    (note,) = store.damage()
    assert (note.is_minor, note.brought_back, note.in_doubt) == (True, 0, ())
    store.close()
