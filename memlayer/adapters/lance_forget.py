"""Forgetting: which rows go, and how their bytes leave the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memlayer.adapters import lance_filter as sql
from memlayer.adapters.lance_index import drop_old_versions, recreate_indexes
from memlayer.adapters.lance_schema import CHUNKS, EVENTS, MEMORIES
from memlayer.adapters.lance_table import MAX_LISTED_IDS, LanceTable
from memlayer.ports import Removed, Selection

_FRAGMENT_SHIFT = 32  # a row id is its fragment's number and its offset in there


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """The distinct values in pieces that a filter can hold."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), MAX_LISTED_IDS):
        yield distinct[start : start + MAX_LISTED_IDS]


def forget(tables: dict[str, LanceTable], selection: Selection) -> Removed:
    """Remove what the selection names, what it came from, and whatever else was drawn from that.

    Memories go that match the selection; events that match it (unless it names memories) or that those memories come
    from; then every other memory drawn from one of these events, since it may repeat them; and the chunks of all.
    The order makes a crash half way harmless: derived rows first, and a second forget finds the rest.
    """
    memories, events, chunks = tables[MEMORIES], tables[EVENTS], tables[CHUNKS]
    where = _where(selection, "id")
    rows = memories.select(["id", "source_ids"], where)
    memory_ids = dict.fromkeys(rows.column("id").to_pylist())
    sources = {source for group in rows.column("source_ids").to_pylist() for source in group}
    event_ids = [found for ids in batches(sorted(sources)) for found in _ids(events, sql.one_of("id", ids))]
    if not selection.memory_ids:
        event_ids += _ids(events, where)
    event_ids = list(dict.fromkeys(event_ids))
    for ids in batches(event_ids):
        memory_ids.update(dict.fromkeys(_ids(memories, sql.any_in("source_ids", ids))))

    chunk_filters = [sql.one_of("memory_id", ids) for ids in batches(memory_ids)]
    chunk_filters += [sql.one_of("event_id", ids) for ids in batches(event_ids)]
    if not selection.memory_ids:
        chunk_filters.append(_where(selection, "memory_id"))
    chunk_texts: dict[str, str] = {}
    for chunk_filter in chunk_filters:
        found = chunks.select(["id", "text"], chunk_filter)
        chunk_texts.update(zip(found.column("id").to_pylist(), found.column("text").to_pylist(), strict=True))

    erase_rows(chunks, list(chunk_texts))
    erase_rows(memories, list(memory_ids))
    erase_rows(events, event_ids)
    return Removed(
        events=len(event_ids),
        memories=len(memory_ids),
        chunks=len(chunk_texts),
        event_ids=tuple(event_ids),
        chunk_texts=tuple(dict.fromkeys(chunk_texts.values())),
    )


def erase_rows(table: LanceTable, ids: Sequence[str]) -> None:
    """Delete rows so that their bytes are gone: from the data files, from the indexes, from old versions.

    A deletion only marks rows, and compaction leaves a fragment alone in which few are marked. So the survivors of
    the fragments concerned are written again, which empties those fragments; LanceDB then drops their files.
    """
    if ids:
        fragments: set[int] = set()
        for batch in batches(ids):
            row_ids = table.row_ids(sql.one_of("id", batch))
            fragments.update(row_id >> _FRAGMENT_SHIFT for row_id in row_ids)
        for batch in batches(ids):
            table.delete(sql.one_of("id", batch))
        table.rewrite(sorted(fragments))
        recreate_indexes(table)
    # Without ids too: an earlier forget may have been cut off right here.
    drop_old_versions(table)


def _where(selection: Selection, id_column: str) -> str:
    return sql.all_of(
        sql.one_of(id_column, selection.memory_ids) if selection.memory_ids else "",
        sql.equals("session_id", selection.session_id) if selection.session_id else "",
        sql.equals("project_id", selection.project_id) if selection.project_id else "",
        f"at_ms < {int(selection.before_ms)}" if selection.before_ms else "",
    )


def _ids(table: LanceTable, where: str) -> list[str]:
    found: list[str] = table.select(["id"], where).column("id").to_pylist()
    return found
