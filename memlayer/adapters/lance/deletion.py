"""Forgetting: which rows go, and how their bytes leave the disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memlayer.adapters.lance import filters as sql
from memlayer.adapters.lance.indexes import erase_old_versions, recreate_indexes
from memlayer.adapters.lance.schema import CHUNKS, EVENTS, MEMORIES
from memlayer.adapters.lance.table import MAX_LISTED_IDS, LanceTable
from memlayer.ports import Counted, Cutoffs, Doomed, Removed, Selection

_FRAGMENT_SHIFT = 32  # a row id is its fragment's number and its offset in there


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """The distinct values in pieces that a filter can hold."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), MAX_LISTED_IDS):
        yield distinct[start : start + MAX_LISTED_IDS]


def doomed(tables: dict[str, LanceTable], selection: Selection) -> Doomed:
    """See ports.Store.doomed."""
    memories, events, chunks = tables[MEMORIES], tables[EVENTS], tables[CHUNKS]
    where = _where(selection, "id")
    rows = memories.select(["id", "source_ids"], where)
    memory_ids = dict.fromkeys(rows.column("id").to_pylist())
    sources = {source for group in rows.column("source_ids").to_pylist() for source in group}
    event_ids = [found for ids in batches(sorted(sources)) for found in _ids(events, sql.one_of("id", ids))]
    if not selection.memory_ids:
        event_ids += _ids(events, where)
        # A crash may have left chunks of a memory that is gone.
        memory_ids.update(dict.fromkeys(_memory_ids(chunks, _where(selection, "memory_id"))))
    event_ids = list(dict.fromkeys([*event_ids, *_of_their_turns(events, event_ids)]))
    for ids in batches(event_ids):
        memory_ids.update(dict.fromkeys(_ids(memories, sql.any_in("source_ids", ids))))
        memory_ids.update(dict.fromkeys(_memory_ids(chunks, sql.one_of("event_id", ids))))
    return Doomed(tuple(event_ids), tuple(memory_ids))


def _of_their_turns(events: LanceTable, event_ids: Sequence[str]) -> list[str]:
    """All events of the turns that these belong to: a memory names those that were spoken, and not the tool calls."""
    columns = ["id", "session_id", "prompt_id"]
    turns = {
        (row["session_id"], row["prompt_id"])
        for ids in batches(event_ids)
        for row in events.select(columns, sql.one_of("id", ids)).to_pylist()
        if row["prompt_id"]
    }
    return [
        row["id"]
        for prompts in batches(sorted({prompt for _, prompt in turns}))
        for row in events.select(columns, sql.one_of("prompt_id", prompts)).to_pylist()
        if (row["session_id"], row["prompt_id"]) in turns
    ]


def aged(tables: dict[str, LanceTable], cutoffs: Cutoffs) -> Doomed:
    """See ports.Store.aged."""
    events = [
        _older(tables[EVENTS], "kind", before_ms, of_kind)
        for before_ms, of_kind in ((cutoffs.conversation_ms, "kind != 'tool'"), (cutoffs.tools_ms, "kind = 'tool'"))
    ]
    memories = [
        _older(tables[MEMORIES], "category", before_ms, f"pinned = false AND {of_category}")
        for before_ms, of_category in (
            (cutoffs.conversation_ms, "category = 'conversation'"),
            (cutoffs.daily_ms, "category = 'daily'"),
            # A custom one of a session stands for a file, and goes with that.
            (cutoffs.core_ms, "(category = 'core' OR (category = 'custom' AND session_id = ''))"),
        )
    ]
    counts = [count for _, counted in (*memories, *events) for count in counted]
    return Doomed(
        tuple(one for ids, _ in events for one in ids), tuple(one for ids, _ in memories for one in ids), tuple(counts)
    )


def _older(table: LanceTable, what: str, before_ms: int, where: str) -> tuple[list[str], list[Counted]]:
    if not before_ms:
        return [], []
    rows = table.select(["id", "project_id", what, "at_ms"], f"at_ms < {int(before_ms)} AND {where}")
    groups = rows.group_by(["project_id", what]).aggregate([("id", "count"), ("at_ms", "min")])
    counted = [
        Counted(group["project_id"], group[what], group["id_count"], group["at_ms_min"]) for group in groups.to_pylist()
    ]
    return rows.column("id").to_pylist(), sorted(counted, key=lambda one: (one.project_id, one.what))


def forget(tables: dict[str, LanceTable], what: Doomed) -> Removed:
    """Erase these rows. Derived ones go first; whoever asks for it sees to it that it is done again after a crash."""
    chunks = tables[CHUNKS]
    chunk_ids = [one for ids in batches(what.memory_ids) for one in _ids(chunks, sql.one_of("memory_id", ids))]
    memory_ids = [
        one for ids in batches(what.memory_ids) for one in _ids(tables[MEMORIES], sql.one_of("id", ids))
    ]  # fmt: skip
    event_ids = [one for ids in batches(what.event_ids) for one in _ids(tables[EVENTS], sql.one_of("id", ids))]
    erase_rows(chunks, chunk_ids)
    erase_rows(tables[MEMORIES], memory_ids)
    erase_rows(tables[EVENTS], event_ids)
    return Removed(events=len(event_ids), memories=len(memory_ids), chunks=len(chunk_ids))


def erase_rows(table: LanceTable, ids: Sequence[str]) -> None:
    """Delete rows so that their bytes are gone: from the data files, from the indexes, from old versions.

    A deletion only marks rows, and compaction leaves a fragment alone in which few are marked. So the survivors of
    the fragments concerned are written again, which empties those fragments; LanceDB then drops their files.
    """
    fragments: set[int] = set()
    for batch in batches(ids):
        row_ids = table.row_ids(sql.one_of("id", batch))
        fragments.update(row_id >> _FRAGMENT_SHIFT for row_id in row_ids)
    for batch in batches(ids):
        table.delete(sql.one_of("id", batch))
    # Without ids too: an earlier forget may have been cut off, and an update leaves a row's former text behind.
    fragments |= table.fragments_with_deletions()
    if fragments:
        table.rewrite(sorted(fragments))
        recreate_indexes(table)
    erase_old_versions(table)


def _where(selection: Selection, id_column: str) -> str:
    return sql.all_of(
        sql.one_of(id_column, selection.memory_ids) if selection.memory_ids else "",
        sql.equals("session_id", selection.session_id) if selection.session_id else "",
        sql.equals("project_id", selection.project_id) if selection.project_id else "",
        f"at_ms < {int(selection.before_ms)}" if selection.before_ms else "",
    )


def _memory_ids(chunks: LanceTable, where: str) -> list[str]:
    found: list[str] = chunks.select(["memory_id"], where).column("memory_id").to_pylist()
    return found


def _ids(table: LanceTable, where: str) -> list[str]:
    found: list[str] = table.select(["id"], where).column("id").to_pylist()
    return found
