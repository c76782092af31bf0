"""Schema versions on disk: newer is refused, older is migrated."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import lancedb
import pytest

from memlayer.adapters.lance import opening
from memlayer.adapters.lance.store import LanceStore
from memlayer.errors import StoreError
from memlayer.model import usage_of
from memlayer.ports import MemoryQuery, Selection
from tests.support.store_rows import DIMENSIONS, make_memory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"


def reopened(folder: Path) -> LanceStore:
    return LanceStore.open(folder, DIMENSIONS)


def test_a_store_of_a_newer_version_is_refused(folder: Path) -> None:
    reopened(folder).close()
    (folder / "schema.json").write_text(json.dumps({"version": opening.SCHEMA_VERSION + 1}))
    with pytest.raises(StoreError, match="update the plugin"):
        reopened(folder)


@pytest.mark.parametrize("content", ["", "[]", '{"version": "x"}', '{"version": 0}'])
def test_an_unreadable_schema_file_is_an_error(folder: Path, content: str) -> None:
    reopened(folder).close()
    (folder / "schema.json").write_text(content)
    with pytest.raises(StoreError, match=r"schema\.json"):
        reopened(folder)


def test_migrations_run_once_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reopened(folder).close()
    ran: list[int] = []
    now = opening.SCHEMA_VERSION
    monkeypatch.setattr(opening, "SCHEMA_VERSION", now + 2)
    later = [(now + 1, lambda _: ran.append(now + 1)), (now + 2, lambda _: ran.append(now + 2))]
    monkeypatch.setattr(opening, "MIGRATIONS", later)
    reopened(folder).close()
    reopened(folder).close()
    assert ran == [now + 1, now + 2]
    assert json.loads((folder / "schema.json").read_text()) == {"version": now + 2}


@pytest.mark.parametrize("cut_off", [False, True])
def test_first_schema_gets_new_columns(folder: Path, cut_off: bool) -> None:
    """cut_off: a crash between the change and its note in schema.json."""
    store = reopened(folder)
    store.put_memories([make_memory(1, "예전에 한 결정")])
    store.close()
    if not cut_off:
        table = lancedb.connect(str(folder)).open_table("memories")
        table.drop_columns(["superseded_ms", "pinned", "settled"])
    (folder / "schema.json").write_text('{"version": 1}')
    store = reopened(folder)
    try:
        assert store.memories() == [make_memory(1, "예전에 한 결정")]
        changed = replace(make_memory(1), pinned=True, superseded_ms=5, superseded_by="m2", settled="rules-1")
        store.put_memories([changed, make_memory(2)])
        assert store.memories(MemoryQuery(ids=["m1"])) == [changed]
        assert store.memories(MemoryQuery(is_current=True)) == [make_memory(2)]
        assert store.stats().schema_version == opening.SCHEMA_VERSION
    finally:
        store.close()


@pytest.mark.parametrize("reached", ["nothing", "table", "columns"])
def test_second_schema_gets_usages_and_evidence(folder: Path, reached: str) -> None:
    """reached: how far a migration that was killed had come."""
    store = reopened(folder)
    store.put_memories([make_memory(1, "예전에 한 결정")])
    store.close()
    if reached != "columns":
        lancedb.connect(str(folder)).open_table("memories").drop_columns(["evidence", "level"])
    if reached == "nothing":
        shutil.rmtree(folder / "usages.lance")
    (folder / "schema.json").write_text('{"version": 2}')
    for _ in range(2):
        store = reopened(folder)
        assert store.memories() == [make_memory(1, "예전에 한 결정")]
        assert store.damage() == []
        proven = replace(make_memory(2), evidence='{"start": 3}', level=2)
        store.put_memories([proven])
        assert store.memories(MemoryQuery(ids=["m2"])) == [proven]
        store.put_usages([usage_of(proven, "cited", session_id="s1", prompt_id="q9", at_ms=5)])
        assert store.stats().usages == {"cited": 1}
        store.forget(Selection(memory_ids=("m2",)))
        assert store.stats().usages == {}
        assert json.loads((folder / "schema.json").read_text()) == {"version": opening.SCHEMA_VERSION}
        store.close()


@pytest.mark.parametrize(
    ("version", "newer"), [(3, ["files", "error", "headline", "subject"]), (4, ["headline", "subject"])]
)
@pytest.mark.parametrize("cut_off", [False, True])
def test_earlier_schemas_get_the_columns_of_notes(folder: Path, version: int, newer: list[str], cut_off: bool) -> None:
    store = reopened(folder)
    store.put_memories([make_memory(1, "예전에 한 결정")])
    store.close()
    if not cut_off:
        lancedb.connect(str(folder)).open_table("memories").drop_columns(newer)
    (folder / "schema.json").write_text(json.dumps({"version": version}))
    store = reopened(folder)
    try:
        assert store.memories() == [make_memory(1, "예전에 한 결정")]
        note = replace(
            make_memory(2),
            files=("src/결제.py", "a b.go"),
            error="KeyError: 'currency'",
            headline="결제는 원 단위다",
            subject="결제",
        )
        store.put_memories([note])
        assert store.memories(MemoryQuery(ids=["m2"])) == [note]
        assert store.damage() == []
    finally:
        store.close()
