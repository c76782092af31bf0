"""The store of record on LanceDB: implements ports.Store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from memlayer.adapters.lance import deletion
from memlayer.adapters.lance import filters as sql
from memlayer.adapters.lance.deletion import batches
from memlayer.adapters.lance.indexes import compact, is_upkeep_due
from memlayer.adapters.lance.opening import (
    complete_table,
    create_table,
    fit_dimensions,
    open_connection,
    open_tables,
    reconnect,
    reopen,
    stored_dimensions,
)
from memlayer.adapters.lance.salvage import clear_damage, damage_of, drop_aside
from memlayer.adapters.lance.schema import (
    CHUNK_COLUMNS,
    CHUNKS,
    EVENT_COLUMNS,
    EVENTS,
    MEMORIES,
    MEMORY_COLUMNS,
    USAGE_COLUMNS,
    USAGES,
    chunks_from,
    events_from,
    last_of_each,
    memories_from,
    rows_to_arrow,
    schema_of,
    usages_from,
    vectors_to_arrow,
)
from memlayer.adapters.lance.search import ChunkSearch
from memlayer.adapters.lance.stats import scan_chunks, scan_records, stats_of
from memlayer.adapters.lance.table import LoopThread
from memlayer.errors import StoreError
from memlayer.model import Chunk, Event, Hit, Memory, Scope, Usage
from memlayer.ports import (
    ANY_MEMORY,
    Damage,
    DeletionPlan,
    Holding,
    MemoryQuery,
    Removed,
    RetentionCutoffs,
    Selection,
    StoreStats,
    UsageQuery,
    Vector,
)


class LanceStore:
    """Events, memories and chunks in a LanceDB folder.

    One process at a time; its threads may read and write together. Hits carry no vector. `dimensions` is the length of
    the embedding model's vectors; 0 while there is none.
    """

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._loop = LoopThread()
        self._writing = threading.RLock()
        try:
            self._connection = open_connection(folder, self._loop)
            self._tables = open_tables(self._connection, folder, dimensions, self._loop)
            self._dimensions = stored_dimensions(self._tables[CHUNKS])
        except StoreError:
            self._loop.close()
            raise
        self._search = ChunkSearch(self._tables[CHUNKS], self._dimensions, folder)

    @classmethod
    def open(cls, folder: Path, dimensions: int) -> LanceStore:
        """Open or create a store. Raises StoreError.

        For a store of a newer version, damage, or no permission.
        """
        return cls(folder, dimensions)

    # -- events and memories

    def add_events(self, events: Sequence[Event]) -> list[str]:
        new = {event.id: event for event in events}
        with self._writing:
            for ids in batches(list(new)):
                rows = self._tables[EVENTS].select(["id"], sql.one_of("id", ids))
                for known in rows.column("id").to_pylist():
                    new.pop(known, None)
            self._tables[EVENTS].add(rows_to_arrow(list(new.values()), schema_of(EVENTS, 0)))
        return list(new)

    def put_memories(self, memories: Sequence[Memory]) -> None:
        rows = rows_to_arrow(last_of_each(memories), schema_of(MEMORIES, 0))
        with self._writing:
            self._tables[MEMORIES].upsert(rows)

    def events(
        self,
        *,
        ids: Sequence[str] | None = None,
        prompt_ids: Sequence[str] | None = None,
        session_id: str = "",
        project_id: str = "",
        kind: str = "",
        limit: int = 1000,
    ) -> list[Event]:
        where = sql.all_of(
            sql.one_of("id", ids) if ids is not None else "",
            sql.one_of("prompt_id", prompt_ids) if prompt_ids is not None else "",
            sql.equals("session_id", session_id) if session_id else "",
            sql.equals("project_id", project_id) if project_id else "",
            sql.equals("kind", kind) if kind else "",
        )
        rows = self._tables[EVENTS].first(EVENT_COLUMNS, where, limit, sql.ORDERS["newest"])
        return events_from(rows)[::-1]

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        order = sql.ORDERS[query.order]
        return memories_from(self._tables[MEMORIES].first(MEMORY_COLUMNS, sql.of_query(query), query.limit, order))

    def put_usages(self, usages: Sequence[Usage]) -> None:
        new = {usage.id: usage for usage in usages}
        with self._writing:
            for ids in batches(list(new)):
                for known in self._tables[USAGES].select(["id"], sql.one_of("id", ids)).column("id").to_pylist():
                    new.pop(known, None)
            self._tables[USAGES].add(rows_to_arrow(list(new.values()), schema_of(USAGES, 0)))

    def usages(self, query: UsageQuery) -> list[Usage]:
        where = sql.all_of(
            sql.one_of("memory_id", query.memory_ids) if query.memory_ids is not None else "",
            sql.equals("session_id", query.session_id) if query.session_id else "",
            sql.equals("project_id", query.project_id) if query.project_id else "",
            sql.equals("how", query.how) if query.how else "",
            f"at_ms >= {int(query.since_ms)}" if query.since_ms else "",
        )
        return usages_from(self._tables[USAGES].first(USAGE_COLUMNS, where, query.limit, sql.ORDERS["newest"]))

    def prune_usages(self) -> int:
        with self._writing:
            known = set(self._tables[MEMORIES].select(["id"]).column("id").to_pylist())
            used = set(self._tables[USAGES].select(["memory_id"]).column("memory_id").to_pylist())
            return deletion.drop_usages(self._tables, sorted(used - known))

    def scan(self, consume: Callable[[Sequence[Event] | Sequence[Memory] | Sequence[Usage]], None]) -> None:
        scan_records(self._tables, consume)

    # -- chunks

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        self._check_vectors(chunk.vector for chunk in chunks)
        latest = [chunk if chunk.vector is not None else replace(chunk, model="") for chunk in last_of_each(chunks)]
        rows = rows_to_arrow(latest, schema_of(CHUNKS, self._dimensions))
        with self._writing, self._search.changing():
            self._tables[CHUNKS].upsert(rows)
            self._search.put(latest)

    def drop_chunks(self, memory_ids: Sequence[str]) -> None:
        with self._writing, self._search.changing():
            for ids in batches(memory_ids):
                where = sql.one_of("memory_id", ids)
                gone = self._tables[CHUNKS].select(["id"], where).column("id").to_pylist()
                if gone:
                    self._tables[CHUNKS].delete(where)
                    self._search.remove(gone)

    def search_text(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        words = " ".join(word for term in terms for word in term.split())
        return self._search.text(words, scope, limit) if words and scope.project_ids != () and limit >= 1 else []

    def holding(self, terms: Sequence[str], project_id: str) -> Holding | None:
        return self._search.holding(terms, project_id)

    def search_vector(self, vector: Vector, model: str, scope: Scope, limit: int) -> list[Hit]:
        self._check_vectors([vector])
        return self._search.vector(vector, model, scope, limit) if scope.project_ids != () and limit >= 1 else []

    def warm(self, project_id: str, model: str) -> None:
        """Load a project's words and vectors, as its first search would."""
        self._search.warm(project_id, model)

    def unembedded(self, model: str, limit: int) -> list[Chunk]:
        rows = self._tables[CHUNKS].select(CHUNK_COLUMNS, _lacks_vector_of(model), limit=limit)
        return chunks_from(rows)

    def count_unembedded(self, model: str) -> int:
        return self._tables[CHUNKS].count(_lacks_vector_of(model))

    def set_vectors(self, vectors: Sequence[tuple[str, Vector]], model: str) -> None:
        latest = dict(vectors)
        self._check_vectors(latest.values())
        with self._writing, self._search.changing():
            ids = list(latest)
            self._tables[CHUNKS].update_columns(vectors_to_arrow(ids, list(latest.values()), model, self._dimensions))
            for batch in batches(ids):
                rows = self._tables[CHUNKS].select([*CHUNK_COLUMNS], sql.one_of("id", batch))
                self._search.put([replace(chunk, vector=latest[chunk.id]) for chunk in chunks_from(rows)])

    def scan_terms(self, consume: Callable[[str, str], None]) -> None:
        scan_chunks(self._tables, ["id", "terms"], consume)

    def scan_texts(self, consume: Callable[[str], None]) -> None:
        scan_chunks(self._tables, ["text"], consume)

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def fit(self, dimensions: int) -> None:
        with self._writing, self._search.changing():
            fit_dimensions(self._tables[CHUNKS], dimensions)
            self._dimensions = dimensions
            self._search.fit(dimensions)

    def clear_chunks(self) -> None:
        with self._writing, self._search.changing(), self._tables[CHUNKS].gate.removing():
            table = create_table(self._connection, self._folder, CHUNKS, self._dimensions, self._loop)
            complete_table(table)
            self._tables[CHUNKS].reopen(table)
            self._search.clear()

    # -- the whole

    def plan_deletion(self, selection: Selection) -> DeletionPlan:
        return deletion.plan_deletion(self._tables, selection)

    def plan_retention(self, cutoffs: RetentionCutoffs) -> DeletionPlan:
        return deletion.plan_retention(self._tables, cutoffs)

    def forget(self, plan: DeletionPlan | Selection) -> Removed:
        with self._writing, self._search.changing():
            chosen = self.plan_deletion(plan) if isinstance(plan, Selection) else plan
            removed = deletion.forget(self._tables, chosen)
            drop_aside(self._folder)  # it holds copies of the forgotten rows
            self._search.clear()
            self._reconnect()
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
                self._reconnect()
        return done

    def stats(self) -> StoreStats:
        return stats_of(self._tables, self._folder)

    def damage(self) -> list[Damage]:
        return damage_of(self._folder)

    def clear_damage(self) -> None:
        clear_damage(self._folder)

    @property
    def is_suspect(self) -> bool:
        return any(table.has_failed for table in self._tables.values())

    def recheck(self) -> bool:
        with self._writing, self._search.changing():
            known = len(self.damage())
            old, self._connection = self._connection, reopen(self._folder, self._tables, self._dimensions, self._loop)
            old.close()  # type: ignore[no-untyped-call]
            self._search.clear()
            return len(self.damage()) > known

    def close(self) -> None:
        self._search.close()
        with self._writing:
            self._connection.close()  # type: ignore[no-untyped-call]
            self._loop.close()

    def _reconnect(self) -> None:
        old, self._connection = self._connection, reconnect(self._folder, self._tables, self._loop)
        old.close()  # type: ignore[no-untyped-call]

    def _check_vectors(self, vectors: Iterable[Vector | None]) -> None:
        for vector in vectors:
            if vector is not None and len(vector) != self._dimensions:
                raise StoreError(
                    f"a vector of {len(vector)} dimensions does not fit an index of {self._dimensions}; "
                    "open the store with the dimensions of the embedding model"
                )


def _lacks_vector_of(model: str) -> str:
    # A row has a model if and only if it has a vector; the index on `model` knows the answer without a scan.
    return sql.differs("model", model)
