"""Erasure of bytes, upkeep beside readers, and tables larger than memory."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memlayer.adapters.lance import indexes as lance_index
from memlayer.adapters.lance.store import LanceStore
from memlayer.adapters.lance.table import ReadGate
from memlayer.errors import StoreError
from memlayer.model import Scope
from memlayer.ports import Selection
from tests.support.store_rows import DIMENSIONS, EMBEDDER, make_chunk, make_event, make_memory

P1 = Scope(("p1",))
MAX_FILES = 60


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(folder: Path) -> Iterator[LanceStore]:
    opened = LanceStore.open(folder, DIMENSIONS)
    yield opened
    opened.close()


def reopened(folder: Path, dimensions: int = DIMENSIONS) -> LanceStore:
    return LanceStore.open(folder, dimensions)


# -- forgetting


# Long: short ids of hexadecimal digits stand by chance in the names of files and in vectors.
FORGOTTEN = 999_888_777_666
SECRETS = ("xyzzyplugh", "QuuxFrobnicate", "비밀번호는까마귀")


def folder_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def needles() -> list[bytes]:
    """The secrets as written and as terms (lower case, Korean bigrams)."""
    return [
        needle.encode()
        for needle in (
            "xyzzyplugh",
            "QuuxFrobnicate",
            "quuxfrobnicate",
            "frobnicate",
            "비밀번호는까마귀",
            "까마",
            "마귀",
            f"m{FORGOTTEN}",
            f"e{FORGOTTEN}",
        )
    ]


@pytest.mark.parametrize("others", [3, 60])  # LanceDB compacts a fragment with one in ten marked by itself
@pytest.mark.parametrize("indexed", ["before", "never"])
def test_no_byte_of_a_forgotten_text_stays(folder: Path, others: int, indexed: str) -> None:
    store = reopened(folder)
    numbers = range(1, others + 1)
    store.add_events([make_event(number) for number in numbers])
    store.put_memories([make_memory(number) for number in numbers])
    store.put_chunks([make_chunk(number, embedded=True) for number in numbers])
    text = " ".join(SECRETS)
    store.add_events([make_event(FORGOTTEN, text)])
    store.put_memories([make_memory(FORGOTTEN, text)])
    store.put_chunks([make_chunk(FORGOTTEN, text)])
    store.set_vectors([(make_chunk(FORGOTTEN).id, EMBEDDER.embed_query(text))], EMBEDDER.fingerprint)
    if indexed == "before":
        store.upkeep(force=True)
    indexes = set((folder / "chunks.lance" / "_indices").iterdir())
    there = folder_bytes(folder)
    assert all(needle in there for needle in needles() if indexed == "before" or needle[:1].isascii())

    removed = store.forget(Selection(memory_ids=(f"m{FORGOTTEN}",)))

    assert (removed.events, removed.memories, removed.chunks) == (1, 1, 1)
    there = folder_bytes(folder)
    assert [needle.decode() for needle in needles() if needle in there] == []
    # The full-text dictionary is packed, so that no search for bytes tells: none of its files may be an old one.
    assert indexes.isdisjoint((folder / "chunks.lance" / "_indices").iterdir())
    assert store.stats().events == store.stats().memories == store.stats().chunks == others
    assert store.stats().embedded == others
    assert len(store.search_text(["text"], P1, 1000)) == others
    store.close()
    store = reopened(folder)
    assert len(store.search_text(["text"], P1, 1000)) == others
    assert [event.id for event in store.events(limit=1)] == [f"e{others}"]
    store.close()


@pytest.mark.parametrize("others", [1, 40])
def test_interrupted_forget_is_finished_by_the_next(folder: Path, others: int) -> None:
    store = reopened(folder)
    store.add_events([make_event(1, SECRETS[0]), *map(make_event, range(2, others + 2))])
    # Rows are marked as deleted, then the process dies. LanceDB compacts a fragment with one in ten marked, or more.
    store._tables["events"].delete("id = 'e1'")
    store.close()
    assert SECRETS[0].encode() in folder_bytes(folder)
    store = reopened(folder)
    store.forget(Selection(memory_ids=("m1",)))
    store.close()
    assert SECRETS[0].encode() not in folder_bytes(folder)


def test_former_text_of_an_updated_memory_is_erased(folder: Path) -> None:
    store = reopened(folder)
    store.put_memories([make_memory(1, " ".join(SECRETS)), *map(make_memory, range(2, 42))])
    store.put_memories([make_memory(1, "예전 값은 없다")])
    assert store.forget(Selection(memory_ids=("m1",))).memories == 1
    there = folder_bytes(folder)
    assert [secret for secret in SECRETS if secret.encode() in there] == []
    assert store.stats().memories == 40
    store.close()


def test_clock_set_back_keeps_no_forgotten_text(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # To LanceDB a version written before the clock was set back an hour looks as this age makes every version look.
    monkeypatch.setattr(lance_index, "EVERY_OLD_VERSION", timedelta(hours=1))
    store = reopened(folder)
    store.add_events([make_event(1, SECRETS[0]), make_event(2)])
    store.put_memories([make_memory(1, SECRETS[0]), make_memory(2)])
    store.forget(Selection(memory_ids=("m1",)))
    assert SECRETS[0].encode() not in folder_bytes(folder)
    store.add_events([make_event(3)])
    store.close()
    store = reopened(folder)
    assert {event.id for event in store.events()} == {"e2", "e3"}
    store.close()


# -- upkeep


def test_many_small_writes_stay_quick(store: LanceStore, folder: Path) -> None:
    writes = 2 * MAX_FILES + 20  # each leaves a file of each kind, until an upkeep
    files = dict.fromkeys(("data", "_versions", "_transactions"), 0)
    for number in range(writes):
        store.add_events([make_event(number)])
        if number % 10 == 9:
            store.upkeep()
        for kind in files:
            files[kind] = max(files[kind], len(list((folder / "events.lance" / kind).iterdir())))
    # The cost of a write and a read grows with these, so their number tells on any machine as much as a clock.
    assert max(files.values()) < MAX_FILES, files
    assert store.stats().events == len(store.events(limit=writes)) == writes


def test_reads_go_on_while_old_versions_are_dropped(store: LanceStore) -> None:
    store.add_events([make_event(number) for number in range(50)])
    failures: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            try:
                if len(store.events(session_id="s1", limit=10_000)) < 50:
                    failures.append("rows are missing")
            except StoreError as error:
                failures.append(str(error))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(100, 110):
        store.add_events([make_event(number)])
        store.upkeep(force=True)
    store.forget(Selection(memory_ids=("nobody",)))
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_old_versions_are_dropped_only_between_reads() -> None:
    gate = ReadGate()
    order: list[str] = []
    inside, leave = threading.Event(), threading.Event()

    def read() -> None:
        with gate.reading():
            inside.set()
            leave.wait(5)
            order.append("read")

    def remove() -> None:
        with gate.removing():
            order.append("removed")

    reader, remover = threading.Thread(target=read), threading.Thread(target=remove)
    reader.start()
    inside.wait(5)
    remover.start()
    remover.join(0.05)
    assert order == []
    leave.set()
    reader.join()
    remover.join()
    assert order == ["read", "removed"]


def test_large_table_gets_vector_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lance_index, "MIN_ROWS_FOR_VECTOR_INDEX", 300)
    store = reopened(folder)
    texts = {number: f"결제 {number} {number * 7919 % 1000}" for number in range(400)}
    store.put_memories([make_memory(number) for number in range(400)])
    store.put_chunks([make_chunk(number, text, embedded=True) for number, text in texts.items()])
    assert store.upkeep(force=True)
    assert "vector_idx" in store.stats().tables["chunks"].indexes
    everywhere = Scope(None)

    def best(number: int) -> str:
        query = EMBEDDER.embed_query(texts[number])
        return store.search_vector(query, EMBEDDER.fingerprint, everywhere, 5)[0].chunk.memory_id

    assert [best(number) for number in (7, 250)] == ["m7", "m250"]
    store.forget(Selection(memory_ids=("m7",)))
    assert best(7) != "m7"
    texts[500] = "새로 온 결제"
    store.put_chunks([make_chunk(500, texts[500], embedded=True)])
    assert best(500) == "m500"
    store.close()


def test_a_large_project_is_searched_in_the_table(folder: Path) -> None:
    """With no room in memory the answers are the same."""
    store = reopened(folder)
    store._search = type(store._search)(store._tables["chunks"], DIMENSIONS, folder, max_vector_bytes=1)
    texts = {number: f"결제 text {number}" for number in range(20)}
    store.put_chunks([make_chunk(number, text, embedded=True) for number, text in texts.items()])
    for _ in range(3):
        assert len(store.search_text(["결제"], P1, 50)) == 20
        hits = store.search_vector(EMBEDDER.embed_query(texts[7]), EMBEDDER.fingerprint, P1, 5)
        assert hits[0].chunk.memory_id == "m7"
        store._search.close()
    assert store._search._too_big == {("p1", EMBEDDER.fingerprint)}
    store.close()
