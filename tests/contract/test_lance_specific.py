"""The store on disk alone: durability, damage, schema versions."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.adapters.lance.store import LanceStore
from memlayer.adapters.lance.table import FolderSync
from memlayer.errors import StoreError
from memlayer.model import Scope
from memlayer.ports import Selection
from memlayer.text.terms import query_terms
from tests.support.store_rows import DIMENSIONS, EMBEDDER, make_chunk, make_event, make_memory

P1 = Scope(("p1",))
REPOSITORY = Path(__file__).parents[2]


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


def test_everything_is_there_after_reopening(folder: Path) -> None:
    store = reopened(folder)
    event, memory = make_event(1, "결제 모듈을 옮겼다"), make_memory(1)
    store.add_events([event])
    store.put_memories([memory])
    store.put_chunks([make_chunk(1, "결제 모듈을 옮겼다", embedded=True)])
    store.close()
    store = reopened(folder)
    assert store.add_events([event]) == []
    assert (store.events(), store.memories()) == ([event], [memory])
    assert [hit.chunk.memory_id for hit in store.search_text(query_terms("결제"), P1, 5)] == ["m1"]
    vector = EMBEDDER.embed_query("결제 모듈을 옮겼다")
    assert [hit.chunk.memory_id for hit in store.search_vector(vector, EMBEDDER.fingerprint, P1, 5)] == ["m1"]
    store.close()


def test_only_the_owner_can_look_into_the_folder(store: LanceStore, folder: Path) -> None:
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "schema.json").stat().st_mode) == 0o600


def test_a_lone_surrogate_loses_itself_only(store: LanceStore) -> None:
    store.add_events([make_event(1, "before \ud800 after 결제")])
    assert store.events()[0].text == "before ? after 결제"


# -- durability


WRITER = """
import sys
from pathlib import Path
from memlayer.adapters.lance.store import LanceStore
from memlayer.model import Event

store = LanceStore.open(Path(sys.argv[1]), 8)
number = int(sys.argv[2])
while True:
    event = Event(f"e{number}", "user", "s", "p", "q", "결제", number)
    store.add_events([event])
    print(number, flush=True)
    number += 1
    if number % 7 == 0:
        store.upkeep(force=True)
"""


def test_acknowledged_events_survive_kill(folder: Path) -> None:
    """A process each round; tests/fault has more kills, of whole daemons."""
    rounds = 3
    acknowledged: set[int] = set()
    for round_number in range(rounds):
        command = [sys.executable, "-c", WRITER, str(folder), str(max(acknowledged, default=-1) + 1)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
        assert writer.stdout is not None
        acknowledged.update(int(writer.stdout.readline()) for _ in range(3))
        time.sleep(0.037 * (round_number % 8))
        writer.send_signal(signal.SIGKILL)
        acknowledged.update(int(line) for line in writer.stdout.read().split("\n")[:-1])
        writer.stdout.close()
        writer.wait()
    store = reopened(folder, 8)
    ids = [event.id for event in store.events(limit=10_000)]
    store.close()
    assert len(ids) == len(set(ids))
    assert {f"e{number}" for number in acknowledged} <= set(ids)
    assert len(acknowledged) >= 3 * rounds


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows whether files reach the disk")
def test_every_file_a_write_makes_is_flushed(folder: Path, tmp_path: Path) -> None:
    reopened(folder, 8).close()
    script = WRITER.replace("while True:", "for _ in range(2):")
    trace = tmp_path / "trace"
    calls = "trace=openat,open,rename,renameat,renameat2,link,linkat,fsync,fdatasync,mkdir,unlink"
    command = ["strace", "-f", "-y", "-qq", "-e", calls, "-o", str(trace)]
    ran = subprocess.run(
        [*command, sys.executable, "-c", script, str(folder), "0"], cwd=REPOSITORY, capture_output=True, text=True
    )
    if "ptrace" in ran.stderr or "PTRACE" in ran.stderr:
        pytest.skip("strace may not trace here")
    assert ran.returncode == 0, ran.stderr
    flushed = {
        line.split("<", 1)[1].rsplit(">", 1)[0]
        for line in trace.read_text().splitlines()
        if " fsync(" in line and "<" in line
    }
    table = folder / "events.lance"
    files = {str(path) for path in table.rglob("*") if path.is_file()}
    newer = {path for path in files if "/data/" in path or "/_versions/" in path or "/_transactions/" in path}
    assert newer
    assert newer - flushed == set()
    assert {str(table / name) for name in ("data", "_versions", "_transactions")} <= flushed


def test_a_folder_is_flushed_once(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("a")
    sync = FolderSync(tmp_path)
    sync.flush()
    assert sync.flush() == 0
    (tmp_path / "data" / "b").write_text("b")
    assert sync.flush() == 2  # the file and its folder
    (tmp_path / "data" / "a").unlink()
    assert sync.flush() == 1


# -- schema and damage


@pytest.mark.parametrize("left", ["empty folder", "data only", "one table", "no schema file"])
def test_interrupted_creation_is_completed(folder: Path, left: str) -> None:
    if left in ("one table", "no schema file"):
        reopened(folder).close()
        (folder / "schema.json").unlink()
        if left == "one table":
            shutil.rmtree(folder / "memories.lance")
            shutil.rmtree(folder / "chunks.lance")
    else:
        (folder / "events.lance" / "data").mkdir(parents=True)
        if left == "data only":
            (folder / "events.lance" / "data" / "x.lance").write_bytes(b"torn")
    store = reopened(folder)
    assert store.add_events([make_event(1)]) == ["e1"]
    store.put_chunks([make_chunk(1)])
    assert len(store.search_text(["text"], P1, 5)) == 1
    store.close()


@pytest.mark.parametrize("table", ["events", "memories"])
def test_lost_table_noted_until_repair(folder: Path, table: str) -> None:
    reopened(folder).close()
    shutil.rmtree(folder / f"{table}.lance")
    for _ in range(2):
        store = reopened(folder)
        (note,) = store.damage()
        assert (note.table, note.is_minor) == (table, False) and "gone" in note.says
        store.close()
    store = reopened(folder)
    store.clear_damage()
    assert store.damage() == []
    store.close()


def test_damaged_events_are_quarantined(folder: Path) -> None:
    store = reopened(folder)
    store.add_events([make_event(1)])
    store.upkeep(force=True)
    store.add_events([make_event(2)])
    store.close()
    damaged = max((folder / "events.lance" / "data").iterdir(), key=lambda path: -path.stat().st_mtime_ns)
    damaged.write_bytes(b"")
    store = reopened(folder)
    (note,) = store.damage()
    assert "1 row is saved, 1 cannot be read" in note.says and note.aside == str(folder / "damaged")
    assert [event.id for event in store.events()] == ["e2"]
    assert [path.read_bytes() for path in (folder / "damaged").rglob(damaged.name)] == [b""]
    assert store.add_events([make_event(1), make_event(2)]) == ["e1"]
    store.forget(Selection(project_id="p1"))
    assert not (folder / "damaged").exists()
    store.close()


@pytest.mark.parametrize("damage", ["lost", "emptied"])
def test_damaged_chunks_come_back_empty(folder: Path, damage: str) -> None:
    store = reopened(folder)
    store.add_events([make_event(1)])
    store.put_chunks([make_chunk(1)])
    store.close()
    if damage == "lost":
        shutil.rmtree(folder / "chunks.lance")
    else:
        for path in (folder / "chunks.lance").rglob("*"):
            if path.is_file():
                path.write_bytes(b"")
    store = reopened(folder)
    assert (store.stats().events, store.stats().chunks) == (1, 0)
    store.put_chunks([make_chunk(1)])
    assert len(store.search_text(["text"], P1, 5)) == 1
    store.close()


@pytest.mark.parametrize("torn", ["manifest", "data"])
def test_torn_version_is_skipped(folder: Path, torn: str) -> None:
    store = reopened(folder)
    store.add_events([make_event(1)])
    before = set((folder / "events.lance" / "data").iterdir())
    store.add_events([make_event(2)])
    after = set((folder / "events.lance" / "data").iterdir())
    store.close()
    newest = min((folder / "events.lance" / "_versions").glob("*.manifest"))
    for path in [newest] if torn == "manifest" else after - before:
        os.truncate(path, 0)
    store = reopened(folder)
    assert [event.id for event in store.events()] == ["e1"]
    assert store.add_events([make_event(1), make_event(2)]) == ["e2"]
    store.close()
    store = reopened(folder)
    assert [event.id for event in store.events()] == ["e1", "e2"]
    store.close()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="store folder"):
        reopened(tmp_path / "file" / "store")


def test_another_vector_length_keeps_the_text_index(folder: Path) -> None:
    store = reopened(folder)
    store.put_chunks([make_chunk(1, "결제 모듈", embedded=True)])
    store.close()
    store = reopened(folder, 8)
    assert len(store.search_text(["결제"], P1, 5)) == 1
    assert store.count_unembedded(EMBEDDER.fingerprint) == 1
    store.set_vectors([("m1:e1:0", (1.0,) + (0.0,) * 7)], "other")
    assert len(store.search_vector((1.0,) + (0.0,) * 7, "other", P1, 5)) == 1
    store.close()
    store = reopened(folder, 0)  # no model: nothing is thrown away
    assert store.stats().embedded == 1
    store.close()
