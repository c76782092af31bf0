"""Scan and count the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from memlayer.adapters.lance import filters as sql
from memlayer.adapters.lance.indexes import table_state
from memlayer.adapters.lance.opening import SCHEMA_VERSION, Tables
from memlayer.adapters.lance.schema import (
    CHUNKS,
    EVENT_COLUMNS,
    EVENTS,
    MEMORIES,
    MEMORY_COLUMNS,
    USAGE_COLUMNS,
    USAGES,
    events_from,
    memories_from,
    usages_from,
)
from memlayer.adapters.lance.table import LanceTable
from memlayer.model import Event, Memory, Usage
from memlayer.ports import StoreStats

_CHUNKS_AT_ONCE = 4096
_ROWS_AT_ONCE = 200  # other readers wait while some are consumed


def scan_records(
    tables: Mapping[str, LanceTable], consume: Callable[[Sequence[Event] | Sequence[Memory] | Sequence[Usage]], None]
) -> None:
    """Hand over every event, memory and usage, in parts.

    Events first, then memories, then usages; in no order.
    """
    tables[EVENTS].scan(EVENT_COLUMNS, "id IS NOT NULL", _ROWS_AT_ONCE, lambda rows: consume(events_from(rows)))
    tables[MEMORIES].scan(MEMORY_COLUMNS, "id IS NOT NULL", _ROWS_AT_ONCE, lambda rows: consume(memories_from(rows)))
    tables[USAGES].scan(USAGE_COLUMNS, "id IS NOT NULL", _ROWS_AT_ONCE, lambda rows: consume(usages_from(rows)))


def scan_chunks(tables: Mapping[str, LanceTable], columns: Sequence[str], consume: Callable[..., None]) -> None:
    """Call consume(one value a column) for every chunk."""

    def hand_over(batch: Any) -> None:
        for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
            consume(*row)

    tables[CHUNKS].scan(columns, "id IS NOT NULL", _CHUNKS_AT_ONCE, hand_over)


def stats_of(tables: Tables, folder: Path) -> StoreStats:
    """Count the rows, reading a few short columns, no texts."""
    scopes = tables[EVENTS].select(["session_id", "project_id"])
    kept = tables[MEMORIES].select(["category", "kind", "project_id", "superseded_by", "settled"])
    holds = pc.equal(kept.column("superseded_by"), "")
    core = kept.filter(pc.and_(pc.equal(kept.column("category"), "core"), holds))
    turns = kept.filter(pc.equal(kept.column("category"), "conversation"))
    return StoreStats(
        events=scopes.num_rows,
        memories=kept.num_rows,
        chunks=tables[CHUNKS].count(),
        sessions=pc.count_distinct(scopes.column("session_id")).as_py(),
        projects=pc.count_distinct(scopes.column("project_id")).as_py(),
        embedded=tables[CHUNKS].count(sql.differs("model", "")),
        disk_bytes=_disk_bytes(folder),
        schema_version=SCHEMA_VERSION,
        tables={name: table_state(table) for name, table in tables.items()},
        by_category=_counts(kept.column("category")),
        by_project=_counts(kept.column("project_id")),
        core_by_kind=_counts(core.column("kind")),
        turns_by_reader=_counts(turns.column("settled")),
        usages=_counts(tables[USAGES].select(["how"]).column("how")),
        superseded=kept.num_rows - (pc.sum(holds).as_py() or 0),
    )


def _counts(column: Any) -> dict[str, int]:
    """Count each value of a column."""
    return {found["values"]: found["counts"] for found in pc.value_counts(column).to_pylist()}


def _disk_bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:  # upkeep drops files meanwhile
            continue
    return total
