"""One LanceDB table for plain threads: queries, fsynced writes, errors."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from lancedb.query import ColumnOrdering, FullTextOperator, MatchQuery
from lancedb.table import AsyncTable

from memlayer.adapters.lance.failures import failing, remedy
from memlayer.adapters.lance.schema import NOTHING, one_of, schema_of
from memlayer.errors import StoreError

T = TypeVar("T")

NO_LIMIT = 2**31 - 1
_MAX_U64 = 2**64 - 1  # less the version: a manifest's name
MAX_LISTED_IDS = 500  # in one filter
# Every commit rewrites these in place. All other files are written once, under new names.
_MUTABLE = frozenset({"latest_version_hint.json"})


def fsync_path(path: str | Path) -> None:
    """Flush a file or folder, if it exists. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def batches(values: Iterable[str]) -> Iterator[list[str]]:
    """Split the distinct values into batches that a filter can hold."""
    distinct = list(dict.fromkeys(values))
    for start in range(0, len(distinct), MAX_LISTED_IDS):
        yield distinct[start : start + MAX_LISTED_IDS]


class FolderSync:
    """Flushes the new files below one table's folder. Remembers the flushed ones.

    A table's files are immutable and lie in few flat folders (data, _versions, _transactions, _deletions) plus one
    folder per index, so a listing of names is enough to find new files. An index folder is complete when the
    commit that made it returns, so it is looked into only once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, set[str]] = {}

    def count(self, folder: str) -> int:
        """Count a sub-folder's entries at its last flush."""
        return len(self._names.get(os.path.join(str(self._folder), folder), ()))

    def flush(self) -> int:
        """Flush files and folders new since the last call; count fsyncs."""
        return self._flush(str(self._folder))

    def _flush(self, folder: str) -> int:
        known = self._names.get(folder)
        names: set[str] = set()
        calls = 0
        changed = known is None
        in_indices = os.path.basename(folder) == "_indices"
        with os.scandir(folder) as entries:
            found = list(entries)
        for entry in found:
            names.add(entry.name)
            is_new = known is None or entry.name not in known
            if entry.is_dir(follow_symlinks=False):
                if is_new or not in_indices:
                    calls += self._flush(entry.path)
                changed = changed or is_new
            elif is_new or entry.name in _MUTABLE:
                fsync_path(entry.path)
                calls += 1
                changed = True
        if known is not None and known - names:
            changed = True
        self._names[folder] = names
        if changed:
            fsync_path(folder)
            calls += 1
        return calls


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
        if type(error).__name__ == "RustPanic":  # of a module that cannot be imported. Damaged files bring it about
            raise RuntimeError("LanceDB panicked") from error
        return done.result()

    def close(self) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


class ReadGate:
    """Lock for many readers, or for one remover of their files."""

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
    """An open table for many readers and one writer (the store locks)."""

    def __init__(self, name: str, table: AsyncTable, loop: LoopThread, folder: Path) -> None:
        self.name = name
        self.inner = table
        self.folder = folder
        self.gate = ReadGate()
        self.loop = loop
        self.has_failed = False  # since it was opened
        self._sync = FolderSync(folder)
        self._sync.flush()  # of all files: an earlier process may have died before its flush

    def versions_on_disk(self) -> int:
        """Count the versions that the next write has to step over."""
        return self._sync.count("_versions")

    def fragments_with_deletions(self) -> set[int]:
        """Return the numbers of fragments with deleted rows, older versions' included.

        LanceDB has no call for it. Its format names the files `_deletions/{fragment}-{version}-{id}.arrow` (or .bin).
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
            with failing(f"table {self.name}: cannot {doing}", remedy(self.name)):
                yield
        except StoreError:
            self.has_failed = True
            raise

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
        """Update the given columns of rows by id; ignore unknown ids."""
        if rows.num_rows:
            builder = self.inner.merge_insert("id").when_matched_update_all()
            self.write("update rows", builder.execute(rows, on_bad_vectors="null"))

    def delete(self, where: str) -> None:
        self.write("delete rows", self.inner.delete(where))

    def reopen(self, other: "LanceTable") -> None:
        """Open a table that was created anew under the same name."""
        self.inner, self._sync, self.has_failed = other.inner, other._sync, False

    def row_ids(self, where: str) -> list[int]:
        """Return LanceDB's numbers of the matching rows, valid until a write."""

        rows = self._read("read rows", lambda: self.inner.query().with_row_id().select(["id"]), where)
        numbers: list[int] = rows.column("_rowid").to_pylist()
        return numbers

    def values(self, column: str, where: str = "") -> list[str]:
        """Return a column of the matching rows."""
        values: list[str] = self.select([column], where).column(column).to_pylist()
        return values

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
        self, columns: Sequence[str], where: str = "", *, limit: int = NO_LIMIT, order: Sequence[tuple[str, bool]] = ()
    ) -> Any:
        """Return the matching rows as an Arrow table. order: (column, ascending) pairs."""

        def query() -> Any:
            builder = self.inner.query().select(list(columns))
            if order:
                builder = builder.order_by([ColumnOrdering(column_name=name, ascending=up) for name, up in order])
            return builder

        return self._read("read rows", query, where, limit)

    def first(self, columns: Sequence[str], where: str, limit: int, order: Sequence[tuple[str, bool]]) -> Any:
        """Return the first `limit` matching rows, in order, then by id.

        Sorting reads all matching rows, so for a few of many it reads the columns to sort by alone, then these rows.
        """
        none = schema_of(self.name, 0).empty_table().select(list(columns))
        if limit < 1 or where == NOTHING:
            return none  # LanceDB panics over an ordered query for nothing
        if limit > MAX_LISTED_IDS:
            return self.select(columns, where, limit=limit, order=order)
        ids = self.select([name for name, _ in order], where, limit=limit, order=order).column("id").to_pylist()
        if not ids:
            return none
        rows = self.select(columns, one_of("id", ids))
        places = {row_id: place for place, row_id in enumerate(rows.column("id").to_pylist())}
        # Typed: Arrow cannot tell the type of an empty list.
        return rows.take(pa.array([places[row_id] for row_id in ids if row_id in places], pa.int64()))

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

        def query() -> Any:
            return self.inner.query().nearest_to_text(match_query(words, column)).select([*columns, "_score"])

        return self._read("search text", query, where, limit)

    def nearest(self, vector: Sequence[float], columns: Sequence[str], where: str, limit: int, refine: int) -> Any:
        """Return rows nearest by dot product, with `_distance`: 1 - dot product."""

        def query() -> Any:
            builder = self.inner.query().nearest_to(list(vector)).distance_type("dot").refine_factor(refine)
            return builder.select([*columns, "_distance"])

        return self._read("search vectors", query, where, limit)

    def _read(self, doing: str, query: Callable[[], Any], where: str, limit: int = NO_LIMIT) -> Any:
        """Return the matching rows of a query as an Arrow table."""

        async def read() -> Any:
            builder = query().where(where) if where else query()
            return await (builder.limit(limit) if limit < NO_LIMIT else builder).to_arrow()

        with self.gate.reading(), self.translated(doing):
            return self.loop.run(read())


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
