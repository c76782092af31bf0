"""Restore memories that damage set back, from the newer search index."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from memlayer.adapters.lance.salvage import amend_damage, memory_of, text_of
from memlayer.adapters.lance.schema import (
    CHUNKS,
    COLUMNS,
    MEMORIES,
    chunks_from,
    rows_from,
    rows_to_arrow,
    schema_of,
)
from memlayer.adapters.lance.table import LanceTable
from memlayer.edge.counting import counted
from memlayer.kinds import Category, Ended
from memlayer.model import Chunk, Memory, replace

PINNED = 1.0  # the importance of pinned memories in the index, see indexing.indexer


class SetBack(NamedTuple):
    """Damage that set a table back. ids: of older rows; None: all."""

    is_so: bool = False
    ids: frozenset[str] | None = None


@dataclass(frozen=True)
class Reconciled:
    """Rows to write, number restored, citations of memories in doubt."""

    rows: tuple[Memory, ...] = ()
    brought_back: int = 0
    in_doubt: tuple[str, ...] = ()


def put_right(folder: Path, memories: LanceTable, chunks: LanceTable | None, set_back: Collection[str] | None) -> None:
    """Write the rows that `reconcile` finds, and note the memories in doubt.

    chunks: None where they are damaged as well. Raises StoreError.
    """
    rows = rows_from(memories, Memory)
    if chunks is None:
        reconciled = unknown(rows, set_back)
    else:
        reconciled = reconcile(rows, chunks_from(chunks.select(COLUMNS[CHUNKS])), set_back)
    memories.upsert(rows_to_arrow(reconciled.rows, schema_of(MEMORIES, 0)))
    if reconciled.brought_back or reconciled.in_doubt:
        says = counted(reconciled.brought_back, "memory", "are as the search index has it")
        if reconciled.in_doubt:
            says += f", {len(reconciled.in_doubt)} may lack the last change made to them"
        amend_damage(folder, MEMORIES, says, reconciled.brought_back, reconciled.in_doubt)


def reconcile(memories: Sequence[Memory], chunks: Iterable[Chunk], set_back: Collection[str] | None) -> Reconciled:
    """Return the rows that the index knows better.

    set_back: ids of the rows of an older version. None: the table as a whole is older. The index holds the current
    memories, with text and pin. A memory that it lacks was superseded. Its successor is known where just one memory
    came back that could have replaced it.
    """
    kept = (chunk for chunk in chunks if chunk.category != Category.DAILY)
    ordered = sorted(kept, key=lambda chunk: (chunk.memory_id, chunk.start))
    indexed = {key: list(group) for key, group in groupby(ordered, key=lambda chunk: chunk.memory_id)}
    known = {memory.id for memory in memories}
    lost = [memory_of(pieces) for key, pieces in indexed.items() if key not in known]
    changed: list[Memory] = []
    in_doubt: list[str] = []
    for row in memories:
        if row.category == Category.DAILY or not row.holds or (set_back is not None and row.id not in set_back):
            continue
        if row.id in indexed:
            newest = _as_indexed(row, indexed[row.id])
            changed += [newest] if newest != row else []
        elif row.category != Category.CONVERSATION and (set_back is not None or lost):
            changed.append(_replaced(row, lost))
            in_doubt.append(row.citation)
    return Reconciled((*lost, *changed), len(lost) + len(changed), tuple(in_doubt))


def unknown(memories: Iterable[Memory], set_back: Collection[str] | None) -> Reconciled:
    """Reconcile without an index: rows of older versions are in doubt."""
    ids = set_back or ()
    older = [memory for memory in memories if memory.id in ids and memory.category != Category.CONVERSATION]
    return Reconciled(in_doubt=tuple(memory.citation for memory in older))


def _as_indexed(row: Memory, pieces: Sequence[Chunk]) -> Memory:
    """Return the row as it was when the index was written."""
    pinned = pieces[0].importance >= PINNED if row.importance < PINNED else row.pinned
    indexed = replace(row, pinned=pinned)
    if row.category == Category.CONVERSATION:  # its text in the index is that of its events
        return indexed
    text = text_of(pieces)
    if text.split() != row.text.split():
        indexed = replace(indexed, text=text, at_ms=pieces[0].at_ms, session_id=pieces[0].session_id)
    return indexed


def _replaced(row: Memory, lost: Sequence[Memory]) -> Memory:
    """Return the row replaced by the only newer restored memory, else lost."""
    newer = [memory for memory in lost if memory.project_id == row.project_id and memory.category == row.category]
    newer = [memory for memory in newer if memory.at_ms >= row.at_ms]
    if len(newer) == 1:
        return row.ended(Ended.REPLACED, newer[0].at_ms, newer[0].id)
    return row.ended(Ended.LOST, row.at_ms)
