"""Search over chunks, with used projects' words and vectors in memory."""

import json
import sqlite3
import threading
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memlayer.adapters.lance import schema
from memlayer.adapters.lance.schema import CHUNK_CATEGORY, CHUNKS, COLUMNS, VECTOR
from memlayer.adapters.lance.table import LanceTable
from memlayer.adapters.search.project_rows import Key, LoadedProject, P, QueriesFirst, RecentProjects, key_of
from memlayer.adapters.search.vector_matrix import ProjectVectors, bytes_per_row
from memlayer.adapters.search.word_index import ProjectWords
from memlayer.adapters.sqlite_files import DispensableFile, in_batches, marks
from memlayer.errors import StoreError
from memlayer.kinds import Category
from memlayer.model import Chunk, Hit, Scope
from memlayer.ports import Holding

FILE_NAME = "rows.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (key INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS agrees (with_version INTEGER NOT NULL, since_boot TEXT NOT NULL);
"""
_FORMAT = 1  # raise it when rows are packed in another way
_NO_VERSION = -1
MAX_RECENT = 1000  # chunks kept unpacked
MAX_VECTOR_BYTES = 54 * 2**20  # 110,000 chunks of 384 dimensions. A larger project is searched in the table
MAX_WORD_BYTES = 48 * 2**20
MAX_WORD_ROWS = 110_000  # chunks of a project whose words are kept in memory. They are loaded behind an answer
_ROWS_PER_BATCH = 2048
Scored = list[tuple[float, str]]  # BM25 or cosine, and the chunk's id
_REFINE = 5  # rows an approximate index re-ranks exactly for each row wanted: finds 99 of 100 of the true forty


class RowCache:
    """Chunks by id, without vectors. Thread-safe.

    A single writer at a time announces changes by begin and end. It never fails: unreadable chunks are missing.
    """

    def __init__(self, folder: Path, version: int) -> None:
        """version: of the table now."""
        self._file = DispensableFile(folder / FILE_NAME, _SCHEMA)
        self._guard = threading.Lock()
        self._changes = 0
        self._is_changing = False
        self._recent: dict[str, Chunk] = {}  # the chunks fetched last, unpacked
        self._is_off = False  # a file that does not agree and cannot be deleted
        self._boot = _boot()
        none: list[tuple[int, str]] = []
        agreed = self._file.run(lambda database: database.execute("SELECT * FROM agrees").fetchall(), none)
        if agreed != [(_stamp(version), self._boot)]:
            self.clear()
            self.end(version)

    @property
    def state(self) -> int:
        """A number that differs after every change: see fill."""
        return self._changes

    def begin(self) -> None:
        """Note that the table is about to change."""
        with self._guard:
            self._changes += 1
            self._is_changing = True
            self._agree(_NO_VERSION)

    def end(self, version: int) -> None:
        """Note the table's version once put, remove or clear reported all."""
        with self._guard:
            self._changes += 1
            self._is_changing = False
            self._agree(_stamp(version))

    def get(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """Return the cached chunks, by id."""
        if self._is_off:
            return {}
        with self._guard:
            state = self._changes
            cached = {chunk_id: self._recent[chunk_id] for chunk_id in ids if chunk_id in self._recent}
        wanted = set(ids) - cached.keys()
        try:
            read = {chunk.id: chunk for chunk in map(_unpacked, self._read(wanted)) if chunk.id in wanted}
        except (ValueError, TypeError, zlib.error):  # damage that SQLite does not see
            self.clear()
            return {}
        with self._guard:
            if state == self._changes and not self._is_changing:
                self._recent.update(read)
                for oldest in list(self._recent)[: max(0, len(self._recent) - MAX_RECENT)]:
                    del self._recent[oldest]
        return {**cached, **read}

    def _read(self, ids: Iterable[str]) -> list[bytes]:
        """Read those of these chunks that are there, packed."""
        keys = [key_of(chunk_id) for chunk_id in ids]

        def read(database: sqlite3.Connection) -> list[bytes]:
            packed: list[bytes] = []
            for batch in in_batches(keys):
                rows = database.execute(f"SELECT packed FROM rows WHERE key IN ({marks(len(batch))})", batch)
                packed.extend(row[0] for row in rows)
            return packed

        none: list[bytes] = []
        return self._file.run(read, none) if keys else none

    def put(self, chunks: Iterable[Chunk]) -> None:
        """Cache rows that were inserted or replaced, between begin and end."""
        chunks = list(chunks)
        self._forget_recent(chunk.id for chunk in chunks)
        self._write(chunks)

    def _write(self, chunks: Iterable[Chunk]) -> None:
        if self._is_off:
            return
        rows = [(key_of(chunk.id), _packed(chunk)) for chunk in chunks]
        self._file.run(lambda database: database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", rows), None)

    def fill(self, chunks: Iterable[Chunk], state: int) -> None:
        """Cache rows read after `state`, if nothing has changed since."""
        with self._guard:
            if state == self._changes and not self._is_changing:
                self._write(chunks)

    def remove(self, ids: Sequence[str]) -> None:
        """Drop rows that are gone, between begin and end."""
        self._forget_recent(ids)
        keys = [(key_of(chunk),) for chunk in ids]
        self._file.run(lambda database: database.executemany("DELETE FROM rows WHERE key = ?", keys), None)

    def clear(self) -> None:
        """Drop all chunks: any row may have changed, reported or not."""
        with self._guard:
            self._changes += 1
            self._recent = {}
            self._is_off = not self._file.remove()

    def close(self) -> None:
        self._file.close()

    def _forget_recent(self, ids: Iterable[str]) -> None:
        with self._guard:
            for chunk_id in ids:
                self._recent.pop(chunk_id, None)

    def _agree(self, stamp: int) -> None:
        def agree(database: sqlite3.Connection) -> None:
            database.execute("DELETE FROM agrees")
            database.execute("INSERT INTO agrees VALUES (?, ?)", (stamp, self._boot))

        self._file.run(agree, None)


def _boot() -> str:
    """Return an id of this boot, or else of this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return uuid.uuid4().hex


def _stamp(version: int) -> int:
    return version << 8 | _FORMAT


def _packed(chunk: Chunk) -> bytes:
    values = [getattr(chunk, name) for name in COLUMNS[CHUNKS]]
    # A lone surrogate is stored as a question mark, as in the table.
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"), 1)


def _unpacked(packed: bytes) -> Chunk:
    values = json.loads(zlib.decompress(packed))
    values[CHUNK_CATEGORY] = Category(values[CHUNK_CATEGORY])
    return Chunk(*values)


class ChunkSearch:
    """Searches one chunks table from any thread.

    Whoever changes rows does so within `changing` and reports the change there by put, remove or clear. Searches never
    wait for it. A project whose words or vectors are not in memory is searched in the table. They are loaded behind the
    answer, and the loading pauses while others are made.
    """

    def __init__(
        self, table: LanceTable, dimensions: int, folder: Path, max_vector_bytes: int = MAX_VECTOR_BYTES
    ) -> None:
        """folder: the store's."""
        self._lock = threading.RLock()  # one change, or one loading, at a time
        self._guard = threading.RLock()  # of the structures in memory. Held for a millisecond or two
        self._table = table
        self._dimensions = dimensions
        self._rows = RowCache(folder, table.version())
        self._vectors = RecentProjects[ProjectVectors](max_vector_bytes)
        self._words = RecentProjects[ProjectWords](MAX_WORD_BYTES)
        self._too_big: set[Key] = set()
        self._loading: dict[Key, threading.Thread] = {}
        self._queries_first = QueriesFirst()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Enclose a change of the table's rows."""
        with self._lock:
            self._rows.begin()
            try:
                yield
            except BaseException:  # a panic in Rust as well: nobody knows how much of the change was done
                self.clear()
                raise
            self._rows.end(self._table.version())

    def tidied(self) -> None:
        """Report a new version of the table with the same rows."""
        with self._lock:
            self._rows.end(self._table.version())

    def text(self, words: str, scope: Scope, limit: int) -> list[Hit]:
        """Find chunks that hold any of the words, best BM25 first."""
        self._queries_first.announce()
        scored = self._best_in_memory(
            self._words,
            "",
            scope,
            lambda project: project.best(words, limit, scope.session_id, scope.excluded_session_id),
            limit,
        )
        if scored is None:
            rows = self._table.match("terms", words, ["id"], schema.of_scope(scope), limit)
            scored = list(zip(rows.column("_score").to_pylist(), rows.column("id").to_pylist(), strict=True))
        chunks = self._chunks([chunk for _, chunk in scored], scope)
        hits = [Hit(chunk=chunks[chunk_id], lexical=score) for score, chunk_id in scored if chunk_id in chunks]
        return sorted(hits, key=lambda hit: (-(hit.lexical or 0.0), hit.chunk.id))

    def holding(self, terms: Sequence[str], project_id: str) -> Holding | None:
        """Count the chunks with each term; None without words in memory."""
        with self._guard:
            project = self._words.get((project_id, ""))
            return None if project is None else project.holding(terms)

    def sounding_like(self, words: Sequence[str], project_id: str) -> dict[str, list[str]]:
        """Return words by sound; {} without words in memory."""
        with self._guard:
            project = self._words.get((project_id, ""))
            return {} if project is None else project.sounding_like(words)

    def vector(self, vector: Sequence[float], model: str, scope: Scope, limit: int) -> list[Hit]:
        """Find the nearest chunks of a model, best first, with their cosines."""
        self._queries_first.announce()
        query = np.asarray(vector, np.float32)
        scored = self._best_in_memory(
            self._vectors,
            model,
            scope,
            lambda project: project.nearest(query, limit, scope.session_id, scope.excluded_session_id),
            limit,
        )
        if scored is None:
            where = schema.all_of(schema.of_scope(scope), schema.equals("model", model))
            rows = self._table.nearest(query.tolist(), ["id"], where, limit, _REFINE)
            cosines = (1.0 - rows.column("_distance").to_numpy()).tolist()
            scored = list(zip(cosines, rows.column("id").to_pylist(), strict=True))
        chunks = self._chunks([chunk_id for _, chunk_id in scored], scope)
        hits = [Hit(chunk=chunks[chunk_id], cosine=cosine) for cosine, chunk_id in scored if chunk_id in chunks]
        return sorted(hits, key=lambda hit: (-(hit.cosine or 0.0), hit.chunk.id))

    def cosines(self, vector: Sequence[float], model: str, project_id: str, ids: Sequence[str]) -> dict[str, float]:
        """Measure named chunks; {} without vectors in memory."""
        with self._guard:
            project = self._vectors.get((project_id, model))
            return {} if project is None else project.cosines(np.asarray(vector, np.float32), ids)

    def warm(self, project_id: str, model: str) -> None:
        """Load a project's words, and its vectors by that model, now."""
        self._load(project_id, "")
        self._load(project_id, model)

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Report rows that were inserted or replaced."""
        groups: dict[Key, list[Chunk]] = {}
        for chunk in chunks:
            if chunk.category == Category.DAILY:
                continue
            groups.setdefault((chunk.project_id, ""), []).append(chunk)
            if chunk.model and chunk.vector is not None:
                groups.setdefault((chunk.project_id, chunk.model), []).append(chunk)
        self._rows.put(chunks)
        with self._guard:
            self._vectors.remove([chunk.id for chunk in chunks])
            self._words.remove([chunk.id for chunk in chunks])
            for key, group in groups.items():
                ids, sessions = [chunk.id for chunk in group], [chunk.session_id for chunk in group]
                if key[1]:
                    vectors = np.asarray([chunk.vector for chunk in group], np.float32)
                    self._vectors.put(key, ids, sessions, vectors)
                else:
                    self._words.put(key, ids, sessions, [chunk.terms for chunk in group])

    def remove(self, ids: Sequence[str]) -> None:
        """Report rows that are gone."""
        self._rows.remove(ids)
        with self._guard:
            self._vectors.remove(ids)
            self._words.remove(ids)

    def clear(self) -> None:
        """Report that anything may have changed."""
        self._rows.clear()
        with self._guard:
            self._vectors.clear()
            self._words.clear()
            self._too_big.clear()

    def fit(self, dimensions: int) -> None:
        """Report that vectors have another length now."""
        self._dimensions = dimensions
        self.clear()

    def close(self) -> None:
        """Wait for the loading threads."""
        for thread in list(self._loading.values()):
            thread.join()
        self._rows.close()

    def _best_in_memory(
        self, kept: RecentProjects[P], model: str, scope: Scope, best: Callable[[P], Scored], limit: int
    ) -> Scored | None:
        """Return the best of the projects; None: the table has to search."""
        if scope.project_ids is None or scope.extra:
            return None
        scored: Scored = []
        missing = []
        with self._guard:
            for project_id in dict.fromkeys(scope.project_ids):
                project = kept.get((project_id, model))
                if project is None:
                    missing.append((project_id, model))
                else:
                    scored += best(project)
        for key in missing:
            if key not in self._too_big:
                self._load_behind(key)
        scored.sort(key=lambda pair: (-pair[0], pair[1]))
        return None if missing else scored[:limit]

    def _chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return the rows of these ids, without those that vanished meanwhile."""
        state = self._rows.state
        chunks = self._rows.get(ids)
        missing = [chunk for chunk in ids if chunk not in chunks]
        if missing:
            where = schema.all_of(schema.of_scope(scope), schema.one_of("id", missing))
            read = schema.chunks_from(self._table.select(schema.COLUMNS[schema.CHUNKS], where))
            self._rows.fill(read, state)
            chunks.update((chunk.id, chunk) for chunk in read)
        return chunks

    def _load_behind(self, key: Key) -> None:
        """Load in a thread, so that the search does not wait."""

        def run() -> None:
            try:
                self._load(*key)
            except StoreError:
                pass  # the search that asked for it reads the same table and reports its failure
            finally:
                self._loading.pop(key, None)

        thread = threading.Thread(target=run, name="memlayer-load", daemon=True)
        if self._loading.setdefault(key, thread) is thread:
            thread.start()

    def _load(self, project_id: str, model: str) -> None:
        """Load a project's vectors by a model, or for "" its words."""
        key = project_id, model
        kept: RecentProjects[Any] = self._vectors if model else self._words
        with self._lock:
            if kept.get(key) is not None:
                return
            where = schema.all_of(schema.matching(project_id=project_id, model=model), schema.NO_DAYS)
            loaded = self._room_for(self._table.count(where), model)
            if loaded is not None:
                self._fill(loaded, where, VECTOR if model else "terms")
            if loaded is None or loaded.nbytes > kept.max_bytes:
                self._too_big.add(key)
                return
            with self._guard:
                kept.load(key, loaded)

    def _room_for(self, count: int, model: str) -> ProjectWords | ProjectVectors | None:
        """Return an empty project for some rows; None for too many."""
        if not model:
            return ProjectWords() if count <= MAX_WORD_ROWS else None
        fits = count * bytes_per_row(self._dimensions, count) <= self._vectors.max_bytes
        return ProjectVectors(self._dimensions, capacity=count) if fits else None

    def _fill(self, project: LoadedProject, where: str, column: str) -> None:
        def consume(batch: Any) -> None:
            self._queries_first.wait()
            ids, sessions = batch.column("id").to_pylist(), batch.column("session_id").to_pylist()
            project.put(ids, sessions, _matrix_of(batch) if column == VECTOR else batch.column(column).to_pylist())

        self._table.scan(["id", "session_id", column], where, _ROWS_PER_BATCH, consume)
        pa.default_memory_pool().release_unused()


def _matrix_of(rows: Any) -> NDArray[np.float32]:
    """Return the vector column as (rows, dimensions), no vector missing."""
    column = rows.column(VECTOR)
    flat: NDArray[np.float32] = (
        (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        .flatten()
        .to_numpy(zero_copy_only=False)
    )
    return flat.reshape(rows.num_rows, -1)
