"""The store of record on LanceDB: implements ports.Store."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from lancedb.db import AsyncConnection

from memlayer.adapters.lance import opening, salvage, schema
from memlayer.adapters.lance import schema as sql
from memlayer.adapters.lance.indexes import compact, erase_old_versions, is_upkeep_due, recreate_indexes, stats_of
from memlayer.adapters.lance.schema import CHUNKS, COLUMNS, EVENTS, MEMORIES, USAGES
from memlayer.adapters.lance.search import ChunkSearch
from memlayer.adapters.lance.table import LanceTable, LoopThread, batches
from memlayer.errors import StoreError
from memlayer.kinds import Category
from memlayer.model import PROVEN, Chunk, Event, EventCount, Hit, Memory, Scope, Usage, replace
from memlayer.ports import (
    ANY_MEMORY,
    Damage,
    DeletionPlan,
    Holding,
    MemoryQuery,
    Removed,
    RetentionCutoffs,
    RowCount,
    Selection,
    StoreStats,
    UsageQuery,
    Vector,
)

SPOKEN = "kind NOT IN ('tool', 'task')"  # a task's events go with its memory
_FRAGMENT_SHIFT = 32  # a row id is its fragment's number and its offset in there
_CHUNKS_AT_ONCE = 4096
_ROWS_AT_ONCE = 200  # other readers wait while some are consumed


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


class LanceStore:
    """Events, memories and chunks in a LanceDB folder.

    One process at a time. Its threads may read and write together. Hits carry no vector. `dimensions` is the length of
    the embedding model's vectors; 0 while there is none.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._loop = LoopThread()
        self._writing = threading.RLock()
        try:
            self._connection = opening.open_connection(folder, self._loop)
            self._tables = opening.open_tables(self._connection, folder, dimensions, self._loop)
            self._dimensions = opening.stored_dimensions(self._tables[CHUNKS])
        except StoreError:
            self._loop.close()
            raise
        self._search = ChunkSearch(self._tables[CHUNKS], self._dimensions, folder)

    @classmethod
    def open(cls, folder: Path, dimensions: int) -> "LanceStore":
        """Open or create a store. Raises StoreError."""
        return cls(folder, dimensions)

    # -- events and memories

    def add_events(self, events: Sequence[Event]) -> list[str]:
        return self._add_new(EVENTS, events)

    def put_memories(self, memories: Sequence[Memory]) -> None:
        rows = schema.rows_to_arrow(schema.last_of_each(memories), schema.schema_of(MEMORIES, 0))
        with self._writing:
            self._tables[MEMORIES].upsert(rows)

    def events(
        self,
        *,
        ids: Sequence[str] | None = None,
        prompt_ids: Sequence[str] | None = None,
        session_id: str = "",
        project_id: str = "",
        kind: str | Sequence[str] = "",
        since_ms: int = 0,
        before_ms: int = 0,
        limit: int = 1000,
    ) -> list[Event]:
        where = schema.matching(id=ids, prompt_id=prompt_ids, session_id=session_id, project_id=project_id, kind=kind)
        where = schema.all_of(where, schema.since(since_ms), schema.before(before_ms))
        rows = self._tables[EVENTS].first(COLUMNS[EVENTS], where, limit, schema.ORDERS["newest"])
        return schema.rows_from(rows, Event)[::-1]

    def event_counts(self, project_id: str = "", since_ms: int = 0) -> list[EventCount]:
        where = schema.all_of(schema.matching(project_id=project_id), schema.since(since_ms))
        rows = self._tables[EVENTS].select(["at_ms", "session_id", "kind"], where)
        return [EventCount(*row) for row in schema.quarters(rows)]

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        where, order = schema.of_query(query), schema.ORDERS[query.order]
        return schema.rows_from(self._tables[MEMORIES].first(COLUMNS[MEMORIES], where, query.limit, order), Memory)

    def turn_counts(self, session_ids: Sequence[str]) -> dict[str, int]:
        where = schema.matching(session_id=session_ids, category=Category.CONVERSATION)
        return Counter(self._tables[MEMORIES].values("session_id", where))

    def put_usages(self, usages: Sequence[Usage]) -> None:
        self._add_new(USAGES, usages)

    def _add_new(self, name: str, items: Sequence[Event] | Sequence[Usage]) -> list[str]:
        """Add the items whose id is not there yet; return their ids."""
        new = {item.id: item for item in items}
        with self._writing:
            for ids in batches(new):
                for known in self._tables[name].values("id", schema.one_of("id", ids)):
                    new.pop(known, None)
            self._tables[name].add(schema.rows_to_arrow(list(new.values()), schema.schema_of(name, 0)))
        return list(new)

    def usages(self, query: UsageQuery) -> list[Usage]:
        where = schema.matching(
            memory_id=query.memory_ids, session_id=query.session_id, project_id=query.project_id, how=query.how
        )
        where = schema.all_of(where, schema.since(query.since_ms))
        rows = self._tables[USAGES].first(COLUMNS[USAGES], where, query.limit, schema.ORDERS["newest"])
        return schema.rows_from(rows, Usage)

    def prune_usages(self) -> int:
        with self._writing:
            known = set(self._tables[MEMORIES].values("id"))
            used = set(self._tables[USAGES].values("memory_id"))
            return drop_usages(self._tables, sorted(used - known))

    def scan(self, consume: Callable[[Sequence[Event] | Sequence[Memory] | Sequence[Usage]], None]) -> None:
        def hand_over(name: str, kind: type[Any]) -> None:
            read: Callable[[Any], None] = lambda rows: consume(schema.rows_from(rows, kind))  # noqa: E731
            self._tables[name].scan(COLUMNS[name], "id IS NOT NULL", _ROWS_AT_ONCE, read)

        hand_over(EVENTS, Event)
        hand_over(MEMORIES, Memory)
        hand_over(USAGES, Usage)

    # -- chunks

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        self._check_vectors(chunk.vector for chunk in chunks)
        latest = [
            chunk if chunk.vector is not None else replace(chunk, model="") for chunk in schema.last_of_each(chunks)
        ]
        rows = schema.rows_to_arrow(latest, schema.schema_of(CHUNKS, self._dimensions))
        with self._writing, self._search.changing():
            self._tables[CHUNKS].upsert(rows)
            self._search.put(latest)

    def drop_chunks(self, memory_ids: Sequence[str], kept: Collection[str] = ()) -> None:
        with self._writing, self._search.changing():
            for ids in batches(memory_ids):
                rows = self._tables[CHUNKS].values("id", schema.one_of("memory_id", ids))
                for gone in batches(row for row in rows if row not in kept):
                    self._tables[CHUNKS].delete(schema.one_of("id", gone))
                    self._search.remove(gone)

    def search_text(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        words = " ".join(word for term in terms for word in term.split())
        return self._search.text(words, scope, limit) if words and scope.project_ids != () and limit >= 1 else []

    def holding(self, terms: Sequence[str], project_id: str) -> Holding | None:
        return self._search.holding(terms, project_id)

    def sounding_like(self, words: Sequence[str], project_id: str) -> dict[str, list[str]]:
        return self._search.sounding_like(words, project_id)

    def search_vector(self, vector: Vector, model: str, scope: Scope, limit: int) -> list[Hit]:
        self._check_vectors([vector])
        return self._search.vector(vector, model, scope, limit) if scope.project_ids != () and limit >= 1 else []

    def cosines(self, vector: Vector, model: str, project_id: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        self._check_vectors([vector])
        return self._search.cosines(vector, model, project_id, chunk_ids)

    def warm(self, project_id: str, model: str) -> None:
        self._search.warm(project_id, model)

    def unembedded(self, model: str, limit: int) -> list[Chunk]:
        rows = self._tables[CHUNKS].select(COLUMNS[CHUNKS], _lacks_vector_of(model), limit=limit)
        return schema.chunks_from(rows)

    def count_unembedded(self, model: str) -> int:
        return self._tables[CHUNKS].count(_lacks_vector_of(model))

    def set_vectors(self, vectors: Sequence[tuple[str, Vector]], model: str) -> None:
        latest = dict(vectors)
        self._check_vectors(latest.values())
        with self._writing, self._search.changing():
            ids = list(latest)
            self._tables[CHUNKS].update_columns(
                schema.vectors_to_arrow(ids, list(latest.values()), model, self._dimensions)
            )
            for batch in batches(ids):
                rows = self._tables[CHUNKS].select(COLUMNS[CHUNKS], schema.one_of("id", batch))
                self._search.put([replace(chunk, vector=latest[chunk.id]) for chunk in schema.chunks_from(rows)])

    def scan_terms(self, consume: Callable[[str, str], None]) -> None:
        self._scan_chunks(["id", "terms"], consume)

    def scan_texts(self, consume: Callable[[str], None]) -> None:
        self._scan_chunks(["text"], consume)

    def _scan_chunks(self, columns: Sequence[str], consume: Callable[..., None]) -> None:
        """Call consume(one value a column) for every chunk."""

        def hand_over(batch: Any) -> None:
            for row in zip(*(batch.column(name).to_pylist() for name in columns), strict=True):
                consume(*row)

        self._tables[CHUNKS].scan(columns, "id IS NOT NULL", _CHUNKS_AT_ONCE, hand_over)

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def fit(self, dimensions: int) -> None:
        with self._writing, self._search.changing():
            opening.fit_dimensions(self._tables[CHUNKS], dimensions)
            self._dimensions = dimensions
            self._search.fit(dimensions)

    def clear_chunks(self) -> None:
        with self._writing, self._search.changing(), self._tables[CHUNKS].gate.removing():
            table = opening.create_table(self._connection, self._folder, CHUNKS, self._dimensions, self._loop)
            opening.complete_table(table)
            self._tables[CHUNKS].reopen(table)
            self._search.clear()

    # -- the whole

    def plan_deletion(self, selection: Selection) -> DeletionPlan:
        return plan_deletion(self._tables, selection)

    def plan_retention(self, cutoffs: RetentionCutoffs) -> DeletionPlan:
        return plan_retention(self._tables, cutoffs)

    def forget(self, plan: DeletionPlan | Selection) -> Removed:
        with self._writing, self._search.changing():
            chosen = self.plan_deletion(plan) if isinstance(plan, Selection) else plan
            removed = forget(self._tables, chosen)
            salvage.drop_aside(self._folder)  # it holds copies of the forgotten rows
            self._search.clear()
            self._connect(opening.reconnect(self._folder, self._tables, self._loop))
            return removed

    def upkeep(self, *, force: bool = False) -> bool:
        done = False
        for table in self._tables.values():
            with self._writing:
                if force or is_upkeep_due(table):
                    compact(table)
                    done = True
                    if table.name == CHUNKS:
                        self._search.tidied()
        if done:
            with self._writing:
                self._connect(opening.reconnect(self._folder, self._tables, self._loop))
        return done

    def stats(self) -> StoreStats:
        return stats_of(self._tables, self._folder)

    def damage(self) -> list[Damage]:
        return salvage.damage_of(self._folder)

    def clear_damage(self) -> None:
        salvage.clear_damage(self._folder)

    @property
    def is_suspect(self) -> bool:
        return any(table.has_failed for table in self._tables.values())

    def recheck(self) -> bool:
        with self._writing, self._search.changing():
            known = len(self.damage())
            self._connect(opening.reopen(self._folder, self._tables, self._dimensions, self._loop))
            self._search.clear()
            return len(self.damage()) > known

    def close(self) -> None:
        self._search.close()
        with self._writing:
            self._connection.close()  # type: ignore[no-untyped-call]
            self._loop.close()

    def _connect(self, connection: AsyncConnection) -> None:
        """Go on with another connection, behind the same tables."""
        old, self._connection = self._connection, connection
        old.close()  # type: ignore[no-untyped-call]

    def _check_vectors(self, vectors: Iterable[Vector | None]) -> None:
        for vector in vectors:
            if vector is not None and len(vector) != self._dimensions:
                raise StoreError(
                    f"a vector of {len(vector)} dimensions does not fit an index of {self._dimensions}; "
                    "open the store with the dimensions of the embedding model"
                )


def _lacks_vector_of(model: str) -> str:
    # A row has a model if and only if it has a vector. The index on `model` knows the answer without a scan.
    return schema.differs("model", model)
