"""One LanceDB table for plain threads: queries, durable writes, errors."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from lancedb.query import ColumnOrdering, FullTextOperator, MatchQuery
from lancedb.table import AsyncTable

from memlayer.adapters.folder_sync import FolderSync, fsync_path
from memlayer.adapters.lance.filters import NOTHING, one_of
from memlayer.errors import StoreError

T = TypeVar("T")

FAILURES = (RuntimeError, ValueError, OSError, pa.ArrowException)
_SOURCE = re.compile(r",? ?/(?:rustc|root|home|Users|build)/\S*\.rs:\d+:\d+")  # where in LanceDB an error was raised
NO_LIMIT = 2**31 - 1
_MAX_U64 = 2**64 - 1  # less the version: a manifest's name
MAX_LISTED_IDS = 500  # in one filter


class LoopThread:
    """An event loop in a thread: LanceDB's asynchronous calls cost half."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="memlayer-store", daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run to the end in the loop; blocks the calling thread."""
        done = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        error = done.exception()
        if type(error).__name__ == "RustPanic":  # of a module that cannot be imported; damaged files bring it about
            raise RuntimeError("LanceDB panicked") from error
        return done.result()

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class ReadGate:
    """A lock for many readers or one remover of old versions.

    A reader whose files vanish would fail.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._closed)
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                self._condition.notify_all()

    @contextmanager
    def removing(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._closed)
            self._closed = True
            self._condition.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._condition:
                self._closed = False
                self._condition.notify_all()


class LanceTable:
    """An open table.

    Writers must not overlap (the store locks); readers come from any thread.
    """

    def __init__(self, name: str, table: AsyncTable, loop: LoopThread, folder: Path) -> None:
        self.name = name
        self.inner = table
        self.folder = folder
        self.gate = ReadGate()
        self.loop = loop
        self.has_failed = False  # since it was opened
        self._sync = FolderSync(folder)
        self._sync.adopt()

    def versions_on_disk(self) -> int:
        """Count the versions that the next write has to step over."""
        return self._sync.count("_versions")

    def fragments_with_deletions(self) -> set[int]:
        """Return the numbers of fragments with deleted rows, older versions' included.

        LanceDB has no call for it; its format names the files `_deletions/{fragment}-{version}-{id}.arrow` (or .bin).
        """
        with self.translated("list its deletions"):
            names = [path.name for path in self.folder.glob("_deletions/*")]
        return {int(name.split("-", 1)[0]) for name in names if name.split("-", 1)[0].isdigit()}

    def remove_old_manifests(self) -> int:
        """Unlink all versions but the newest, without readers; return their number."""
        with self.translated("remove old versions"):
            newest = self.folder / "_versions" / f"{_MAX_U64 - self.version():020}.manifest"
            old = [path for path in newest.parent.glob("*.manifest") if path != newest] if newest.exists() else []
            for path in old:
                path.unlink()
            if old:
                fsync_path(self.folder / "_versions")
        return len(old)

    def version(self) -> int:
        """Return the number of the table's newest version."""
        with self.translated("read its version"):
            return self.loop.run(self.inner.version())

    @contextmanager
    def translated(self, doing: str) -> Iterator[None]:
        """Turn any LanceDB error into a StoreError that names the table."""
        try:
            yield
        except FAILURES as error:
            self.has_failed = True
            raise StoreError(f"table {self.name}: cannot {doing}: {first_line(error)}; {remedy(self.name)}") from error

    def write(self, doing: str, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine that changes the table, then fsync its files."""
        with self.translated(doing):
            result = self.loop.run(coroutine)
            self._sync.flush()
            return result

    def add(self, rows: Any) -> None:
        """Append an Arrow table."""
        if rows.num_rows:
            self.write("add rows", self.inner.add(rows, on_bad_vectors="null"))

    def upsert(self, rows: Any) -> None:
        """Insert or replace rows by id; ids must be distinct."""
        if not rows.num_rows:
            return
        if rows.num_rows <= MAX_LISTED_IDS and not self.count(one_of("id", rows.column("id").to_pylist())):
            self.add(rows)  # the usual case, at a third of the price of a merge
        else:
            builder = self.inner.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
            self.write("write rows", builder.execute(rows, on_bad_vectors="null"))

    def update_columns(self, rows: Any) -> None:
        """Update columns of existing rows.

        `rows` holds id and those columns only; rows with an unknown id are ignored.
        """
        if rows.num_rows:
            builder = self.inner.merge_insert("id").when_matched_update_all()
            self.write("update rows", builder.execute(rows, on_bad_vectors="null"))

    def delete(self, where: str) -> None:
        self.write("delete rows", self.inner.delete(where))

    def reopen(self, other: LanceTable) -> None:
        """Open a table that was created anew under the same name."""
        self.inner, self._sync, self.has_failed = other.inner, other._sync, False

    def row_ids(self, where: str) -> list[int]:
        """Return LanceDB's numbers of the matching rows, valid until a write."""

        async def query() -> list[int]:
            builder = self.inner.query().with_row_id().select(["id"])
            if where:
                builder = builder.where(where)
            found: list[int] = (await builder.to_arrow()).column("_rowid").to_pylist()
            return found

        with self.gate.reading(), self.translated("read rows"):
            return self.loop.run(query())

    def rewrite(self, fragments: Sequence[int]) -> None:
        """Rewrite these fragments' rows, so that nothing refers to old files."""

        async def rewrite() -> None:
            for fragment in fragments:
                rows = await self.inner.query().fragment_ids([fragment]).to_arrow()
                if rows.num_rows:
                    builder = self.inner.merge_insert("id").when_matched_update_all()
                    await builder.execute(rows, on_bad_vectors="null")

        self.write("rewrite rows", rewrite())

    def count(self, where: str = "") -> int:
        with self.gate.reading(), self.translated("count rows"):
            return self.loop.run(self.inner.count_rows(where or None))

    def select(
        self,
        columns: Sequence[str],
        where: str = "",
        *,
        limit: int = NO_LIMIT,
        order: Sequence[tuple[str, bool]] = (),
    ) -> Any:
        """Return the matching rows as an Arrow table. order: (column, ascending) pairs."""

        async def query() -> Any:
            builder = self.inner.query().select(list(columns))
            if where:
                builder = builder.where(where)
            if order:
                builder = builder.order_by([ColumnOrdering(column_name=name, ascending=up) for name, up in order])
            if limit < NO_LIMIT:
                builder = builder.limit(limit)
            return await builder.to_arrow()

        with self.gate.reading(), self.translated("read rows"):
            return self.loop.run(query())

    def first(self, columns: Sequence[str], where: str, limit: int, order: Sequence[tuple[str, bool]]) -> Any:
        """Return the first `limit` matching rows, in order, then by id.

        Sorting reads all matching rows, so for a few of many it reads the columns to sort by alone, then these rows.
        """
        if limit < 1:
            return self.select(columns, NOTHING)  # LanceDB panics over an ordered query for nothing
        if limit > MAX_LISTED_IDS:
            return self.select(columns, where, limit=limit, order=order)
        ids = self.select([name for name, _ in order], where, limit=limit, order=order).column("id").to_pylist()
        rows = self.select(columns, one_of("id", ids))
        places = {found: place for place, found in enumerate(rows.column("id").to_pylist())}
        # Typed: Arrow cannot tell the type of an empty list.
        return rows.take(pa.array([places[found] for found in ids if found in places], pa.int64()))

    def scan(self, columns: Sequence[str], where: str, rows_per_batch: int, consume: Callable[[Any], None]) -> None:
        """Hand the matching rows over as record batches, never all at once.

        They are consumed in the calling thread: in the loop every other reader would wait for it.
        """

        async def begun() -> Any:
            builder = self.inner.query().select(list(columns)).where(where)
            return await builder.to_batches(max_batch_length=rows_per_batch)

        async def next_of(reader: Any) -> Any:
            return await anext(reader, None)

        with self.gate.reading(), self.translated("read rows"):
            reader = self.loop.run(begun())
            while (batch := self.loop.run(next_of(reader))) is not None:
                consume(batch)

    def match(self, column: str, words: str, columns: Sequence[str], where: str, limit: int) -> Any:
        """Return rows whose column holds any word, best first (`_score`: BM25)."""

        async def query() -> Any:
            builder = self.inner.query().nearest_to_text(match_query(words, column)).select([*columns, "_score"])
            if where:
                builder = builder.where(where)
            return await builder.limit(limit).to_arrow()

        with self.gate.reading(), self.translated("search text"):
            return self.loop.run(query())

    def nearest(self, vector: Sequence[float], columns: Sequence[str], where: str, limit: int, refine: int) -> Any:
        """Return rows nearest by dot product, with `_distance` (1 - dot product).

        refine: rows re-ranked per row wanted.
        """

        async def query() -> Any:
            builder = self.inner.query().nearest_to(list(vector)).distance_type("dot").refine_factor(refine)
            builder = builder.select([*columns, "_distance"])
            if where:
                builder = builder.where(where)
            return await builder.limit(limit).to_arrow()

        with self.gate.reading(), self.translated("search vectors"):
            return self.loop.run(query())


def match_query(words: str, column: str) -> MatchQuery:
    """Build the query for rows with any of these split words."""
    return MatchQuery(
        words,
        column,
        boost=1.0,
        fuzziness=0,
        max_expansions=50,
        operator=FullTextOperator.OR,
        prefix_length=0,
        document_granularity=None,
    )


def first_line(error: BaseException) -> str:
    """Return an error's first line, without the source locations LanceDB adds."""
    text = _SOURCE.sub("", str(error)).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__


def remedy(table: str) -> str:
    """Return a person's remedy for a table that does not work."""
    if table == "chunks":
        return "stop the daemon and remove the folder chunks.lance: it is rebuilt from the events"
    return "restore the store folder from a backup, or move it away to start with an empty one"
