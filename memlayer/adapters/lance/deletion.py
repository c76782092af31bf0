"""Plans of the rows to delete, and erasure of their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.adapters.lance import schema as sql
from memlayer.adapters.lance.indexes import erase_old_versions, recreate_indexes
from memlayer.adapters.lance.schema import CHUNKS, EVENTS, MEMORIES, USAGES
from memlayer.adapters.lance.table import LanceTable, batches
from memlayer.kinds import Category
from memlayer.model import PROVEN
from memlayer.ports import DeletionPlan, Removed, RetentionCutoffs, RowCount, Selection

SPOKEN = "kind NOT IN ('tool', 'task')"  # a task's events go with its memory
_FRAGMENT_SHIFT = 32  # a row id is its fragment's number and its offset in there


def plan_deletion(tables: dict[str, LanceTable], selection: Selection) -> DeletionPlan:
    """Return the rows that a selection takes with it; see ports.Store.plan_deletion."""
    memories, events, chunks = tables[MEMORIES], tables[EVENTS], tables[CHUNKS]
    where = _where(selection, "id")
    rows = memories.select(["id", "source_ids"], where)
    memory_ids = dict.fromkeys(rows.column("id").to_pylist())
    sources = {source for group in rows.column("source_ids").to_pylist() for source in group}
    event_ids = _ids_among(events, "id", sorted(sources))
    if not selection.memory_ids:
        event_ids += events.values("id", where)
        # A crash may have left chunks of a memory that is gone.
        memory_ids.update(dict.fromkeys(chunks.values("memory_id", _where(selection, "memory_id"))))
    event_ids = list(dict.fromkeys([*event_ids, *_of_their_turns(events, event_ids)]))
    for ids in batches(event_ids):
        memory_ids.update(dict.fromkeys(memories.values("id", sql.any_in("source_ids", ids))))
        memory_ids.update(dict.fromkeys(chunks.values("memory_id", sql.one_of("event_id", ids))))
    return DeletionPlan(tuple(event_ids), tuple(memory_ids))


def _of_their_turns(events: LanceTable, event_ids: Sequence[str]) -> list[str]:
    """Return all events of these events' turns, tool calls included."""
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


def plan_retention(tables: dict[str, LanceTable], cutoffs: RetentionCutoffs) -> DeletionPlan:
    """Return the rows older than the cutoffs; see ports.Store.plan_retention."""
    events = [
        _older(tables[EVENTS], "kind", before_ms, of_kind)
        for before_ms, of_kind in ((cutoffs.conversation_ms, SPOKEN), (cutoffs.tools_ms, "kind = 'tool'"))
    ]
    memories = [
        _older(tables[MEMORIES], "category", before_ms, f"pinned = false AND level < {PROVEN} AND {of_category}")
        for before_ms, of_category in (
            (cutoffs.conversation_ms, sql.equals("category", Category.CONVERSATION)),
            (cutoffs.daily_ms, sql.equals("category", Category.DAILY)),
            # A custom one of a session stands for a file, and goes with that.
            (
                cutoffs.core_ms,
                "(%s OR (%s AND session_id = ''))"
                % (sql.equals("category", Category.CORE), sql.equals("category", Category.CUSTOM)),
            ),
        )
    ]
    counts = [count for _, counted in (*memories, *events) for count in counted]
    return DeletionPlan(
        tuple(row_id for ids, _ in events for row_id in ids),
        tuple(row_id for ids, _ in memories for row_id in ids),
        tuple(counts),
    )


def _older(table: LanceTable, kind_column: str, before_ms: int, where: str) -> tuple[list[str], list[RowCount]]:
    if not before_ms:
        return [], []
    rows = table.select(["id", "project_id", kind_column, "at_ms"], f"at_ms < {int(before_ms)} AND {where}")
    groups = rows.group_by(["project_id", kind_column]).aggregate([("id", "count"), ("at_ms", "min")])
    counted = [
        RowCount(group["project_id"], group[kind_column], group["id_count"], group["at_ms_min"])
        for group in groups.to_pylist()
    ]
    return rows.column("id").to_pylist(), sorted(counted, key=lambda count: (count.project_id, count.kind))


def forget(tables: dict[str, LanceTable], plan: DeletionPlan) -> Removed:
    """Erase the planned rows, derived first; run again after a crash."""
    chunks = tables[CHUNKS]
    chunk_ids = _ids_among(chunks, "memory_id", plan.memory_ids)
    memory_ids = _ids_among(tables[MEMORIES], "id", plan.memory_ids)
    event_ids = _ids_among(tables[EVENTS], "id", plan.event_ids)
    # Usages go before events, which name the prompts of the plan.
    erase_rows(tables[USAGES], _usages_of(tables, plan))
    erase_rows(chunks, chunk_ids)
    erase_rows(tables[MEMORIES], memory_ids)
    erase_rows(tables[EVENTS], event_ids)
    return Removed(events=len(event_ids), memories=len(memory_ids), chunks=len(chunk_ids))


def drop_usages(tables: dict[str, LanceTable], memory_ids: Sequence[str]) -> int:
    """Erase the usages of these memories; their number."""
    usage_ids = _ids_among(tables[USAGES], "memory_id", memory_ids)
    erase_rows(tables[USAGES], usage_ids)
    return len(usage_ids)


def _usages_of(tables: dict[str, LanceTable], plan: DeletionPlan) -> list[str]:
    """The usages of the plan's memories, and those by its prompts."""
    usage_ids = _ids_among(tables[USAGES], "memory_id", plan.memory_ids)
    prompts = {
        prompt_id
        for ids in batches(plan.event_ids)
        for prompt_id in tables[EVENTS].values("prompt_id", sql.one_of("id", ids))
        if prompt_id
    }
    return [*usage_ids, *_ids_among(tables[USAGES], "prompt_id", sorted(prompts))]


def erase_rows(table: LanceTable, ids: Sequence[str]) -> None:
    """Erase rows: from the data files, from the indexes, from old versions.

    A deletion only marks rows, and compaction leaves a fragment alone in which few are marked. So the survivors of
    the fragments concerned are written again, which empties those fragments. LanceDB then drops their files.
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
    ids = {id_column: selection.memory_ids or None}
    wanted = sql.matching(session_id=selection.session_id, project_id=selection.project_id, **ids)
    return sql.all_of(wanted, sql.before(selection.before_ms))


def _ids_among(table: LanceTable, column: str, values: Sequence[str]) -> list[str]:
    return [row_id for batch in batches(values) for row_id in table.values("id", sql.one_of(column, batch))]
