"""Schema versions on disk: newer is refused, older is migrated."""

import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest

from memlayer.adapters.lance import opening
from memlayer.adapters.lance.store import LanceStore
from memlayer.adapters.lance.table import LanceTable
from memlayer.errors import StoreError
from memlayer.kinds import Ended
from memlayer.model import replace
from memlayer.ports import MemoryQuery, Selection
from tests.support.store_rows import DIMENSIONS, make_event, make_memory


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


NEW = ("by", "ended_because", "ended_ms", "rules")  # columns that schema 5 had not
CORE = {"category": "core", "kind": "decision"}
USER, MODEL = {"evidence": '[{"speaker":"user"}]'}, {"evidence": '[{"speaker":"assistant"}]'}
OWN = {"superseded_by": "own id", "superseded_ms": 9}
OTHER = {"superseded_by": "m77", "superseded_ms": 9}
# (row of 8908da90, (by, ended_because, ended_ms, superseded_by, rules) of today)
EARLIER: list[tuple[dict[str, object], tuple[object, ...]]] = [
    ({"settled": "rules-6"}, ("person", "", 0, "", 6)),
    ({}, ("person", "", 0, "", 0)),
    ({**CORE, **USER}, ("person", "", 0, "", 6)),
    ({**CORE, **MODEL}, ("model", "", 0, "", 6)),
    ({**CORE, **USER, "pinned": True}, ("person", "", 0, "", 0)),
    ({**CORE, "session_id": "", "prompt_id": ""}, ("person", "", 0, "", 0)),
    ({**CORE, "prompt_id": "", "source_ids": ("asked",)}, ("model", "", 0, "", 0)),
    ({**CORE, **USER, "settled": "notes-1"}, ("reader", "", 0, "", 0)),
    ({**CORE, **USER, "settled": "notes-1", "session_id": ""}, ("adopted", "", 0, "", 0)),
    ({**CORE, **USER, "settled": "notes-1 by session"}, ("model", "", 0, "", 0)),
    ({**CORE, **USER, **OWN, "at_ms": 9}, ("person", "taken back", 9, "", 6)),
    ({**CORE, **USER, **OWN}, ("person", "let go", 9, "", 6)),
    ({**CORE, **USER, **OWN, "settled": "notes-1", "at_ms": 9}, ("reader", "found untrue", 9, "", 0)),
    ({**CORE, **USER, **OTHER}, ("person", "replaced", 9, "m77", 6)),
    ({**CORE, **USER, **OTHER, "key": "core_m77_%s"}, ("person", "reworded", 9, "m77", 6)),
    ({**CORE, **OWN, "kind": "task", "settled": "tasks-1"}, ("person", "carried out", 9, "", 0)),
    ({**OWN, "category": "custom", "kind": "a.md:1-2", "session_id": "file:/a.md"},
     ("file", "gone from its file", 9, "", 0)),
    ({"category": "custom", "kind": "team://fact/김민지"}, ("colleague", "", 0, "", 0)),
    ({"category": "daily", "kind": "session_summary", "settled": "notes-1"}, ("reader", "", 0, "", 0)),
    ({**OWN, "category": "daily", "kind": "topic"}, ("memlayer", "regrouped", 9, "", 0)),
]  # fmt: skip


def of_schema_5(folder: Path) -> None:
    """Make a store with EARLIER, as 8908da90 left it."""
    rows = []
    for number, (more, _) in enumerate(EARLIER):
        row = {**make_memory(number, "예전 %d" % number).fields(), "settled": "", "superseded_ms": 0, **more}
        row["superseded_by"] = row["id"] if row["superseded_by"] == "own id" else row["superseded_by"]
        row["key"] = str(row["key"]).replace("%s", str(row["id"])[:4])
        rows.append({name: value for name, value in row.items() if name not in NEW})
    store = reopened(folder)
    store.add_events([replace(make_event(1), id="asked", kind="remember", detail="model")])
    store.close()
    base = lancedb.connect(str(folder))
    schema = base.open_table("memories").schema
    kept = [field for field in schema if field.name not in NEW]
    more_fields = [
        pa.field("settled", pa.string(), nullable=False),
        pa.field("superseded_ms", pa.int64(), nullable=False),
    ]
    schema = pa.schema([*kept, *more_fields])
    base.create_table("memories", pa.Table.from_pylist(rows, schema=schema), mode="overwrite")
    (folder / "schema.json").write_text('{"version": 5}')


@pytest.mark.parametrize("killed_before", ["", "upsert", "drop"])
def test_schema_5_gets_authors_and_ends(folder: Path, killed_before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of_schema_5(folder)
    if killed_before:
        with monkeypatch.context() as patch, pytest.raises(StoreError):
            killed(patch, killed_before)
            reopened(folder)
    for _ in range(2):
        store = reopened(folder)
        found = {row.text: row for row in store.memories()}
        rows = [found["예전 %d" % number] for number in range(len(EARLIER))]
        told = [(row.by, row.ended_because, row.ended_ms, row.superseded_by, row.rules) for row in rows]
        assert told == [wanted for _, wanted in EARLIER]
        assert store.stats().schema_version == opening.SCHEMA_VERSION and store.damage() == []
        newer = make_memory(99, "새 결정").ended(Ended.REPLACED, 7, "m2")
        store.put_memories([newer])
        assert store.memories(MemoryQuery(ids=["m99"])) == [newer]
        store.forget(Selection(memory_ids=("m99",)))
        store.close()


def killed(patch: pytest.MonkeyPatch, before: str) -> None:
    """Have a migration end like a kill, before it writes the rows or drops the old columns."""

    def stop(*_: object) -> None:
        raise StoreError("killed")

    write = LanceTable.write

    def wrote(table: LanceTable, doing: str, coroutine: Coroutine[Any, Any, Any]) -> Any:
        if "drop" in doing:
            coroutine.close()
            stop()
        return write(table, doing, coroutine)

    if before == "upsert":
        patch.setattr(LanceTable, "upsert", stop)
    else:
        patch.setattr(LanceTable, "write", wrote)
