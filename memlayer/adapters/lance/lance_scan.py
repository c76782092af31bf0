"""Reads whole tables in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memlayer.adapters.lance.lance_schema import (
    CHUNKS,
    EVENT_COLUMNS,
    EVENTS,
    MEMORIES,
    MEMORY_COLUMNS,
    events_from,
    memories_from,
)
from memlayer.adapters.lance.lance_table import LanceTable
from memlayer.model import Event, Memory

_CHUNKS_AT_ONCE = 4096
_ROWS_AT_ONCE = 200  # other readers wait while some are consumed


def scan_records(
    tables: Mapping[str, LanceTable], consume: Callable[[Sequence[Event] | Sequence[Memory]], None]
) -> None:
    """Hand over every event and then every memory, some at a time and in no order."""
    tables[EVENTS].scan(EVENT_COLUMNS, "id IS NOT NULL", _ROWS_AT_ONCE, lambda rows: consume(events_from(rows)))
    tables[MEMORIES].scan(MEMORY_COLUMNS, "id IS NOT NULL", _ROWS_AT_ONCE, lambda rows: consume(memories_from(rows)))


def scan_chunks(tables: Mapping[str, LanceTable], columns: Sequence[str], consume: Callable[..., None]) -> None:
    """Call consume(one value a column) for every chunk."""

    def hand_over(batch: Any) -> None:
        for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
            consume(*row)

    tables[CHUNKS].scan(columns, "id IS NOT NULL", _CHUNKS_AT_ONCE, hand_over)
