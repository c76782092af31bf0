"""Search over chunks, with used projects' words and vectors in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from memlayer.adapters.lance.filters import all_of, equals, of_scope, one_of
from memlayer.adapters.lance.row_cache import RowCache
from memlayer.adapters.lance.schema import HIT_COLUMNS, VECTOR, chunks_from
from memlayer.adapters.lance.table import LanceTable
from memlayer.adapters.priority import GivingWay
from memlayer.adapters.search.vector_matrix import ProjectVectors, VectorMatrix
from memlayer.adapters.search.word_index import ProjectWords, WordIndex
from memlayer.errors import StoreError
from memlayer.model import Chunk, Hit, Scope
from memlayer.ports import Holding

MAX_VECTOR_BYTES = 54 * 2**20  # 110,000 chunks of 384 dimensions; a larger project is searched in the table
MAX_WORD_BYTES = 48 * 2**20
MAX_WORD_ROWS = 110_000  # chunks of a project whose words are kept in memory; they are loaded behind an answer
_ROWS_PER_BATCH = 2048
_REFINE = 5  # rows an approximate index re-ranks exactly for each row wanted: finds 99 of 100 of the true forty


class ChunkSearch:
    """Searches one chunks table from any thread.

    Whoever changes rows does so within `changing` and reports the change there by put, remove or clear; searches never
    wait for it. A project whose words or vectors are not in memory is searched in the table; they are loaded behind the
    answer, and the loading pauses while others are made.
    """

    def __init__(
        self, table: LanceTable, dimensions: int, folder: Path, max_vector_bytes: int = MAX_VECTOR_BYTES
    ) -> None:
        """folder: the store's."""
        self._lock = threading.RLock()  # one change, or one loading, at a time
        self._guard = threading.RLock()  # of the structures in memory; held for a millisecond or two
        self._table = table
        self._dimensions = dimensions
        self._rows = RowCache(folder, table.version())
        self._vectors = VectorMatrix(max_vector_bytes)
        self._words = WordIndex(MAX_WORD_BYTES)
        self._too_big: set[str] = set()
        self._too_wordy: set[str] = set()
        self._loading: dict[tuple[str, str], threading.Thread] = {}
        self._giving_way = GivingWay()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Enclose a change of the table's rows."""
        with self._lock:
            self._rows.begin()
            try:
                yield
            except BaseException:
                self.clear()  # nobody knows how much of it was done; the next change ends this one
                raise
            self._rows.end(self._table.version())

    def tidied(self) -> None:
        """Report a new version of the table with the same rows."""
        with self._lock:
            self._rows.end(self._table.version())

    def text(self, words: str, scope: Scope, limit: int) -> list[Hit]:
        """Find chunks that hold any of the words, best BM25 first."""
        self._giving_way.announce()
        scored = self._best_in_memory(words, scope, limit)
        if scored is None:
            rows = self._table.match("terms", words, ["id"], of_scope(scope), limit)
            scored = list(zip(rows.column("_score").to_pylist(), rows.column("id").to_pylist(), strict=True))
        chunks = self._chunks([chunk for _, chunk in scored], scope)
        hits = [Hit(chunk=chunks[found], lexical=score) for score, found in scored if found in chunks]
        return sorted(hits, key=lambda hit: (-(hit.lexical or 0.0), hit.chunk.id))

    def holding(self, terms: Sequence[str], project_id: str) -> Holding | None:
        """Count the chunks with each term; None without words in memory."""
        with self._guard:
            project = self._words.get(project_id)
            return None if project is None else project.holding(terms)

    def vector(self, vector: Sequence[float], model: str, scope: Scope, limit: int) -> list[Hit]:
        """Find the nearest chunks of a model, best first, with their cosines."""
        self._giving_way.announce()
        query = np.asarray(vector, np.float32)
        scored = self._nearest_in_memory(query, model, scope, limit)
        if scored is None:
            where = all_of(of_scope(scope), equals("model", model))
            rows = self._table.nearest(query.tolist(), ["id"], where, limit, _REFINE)
            cosines = (1.0 - rows.column("_distance").to_numpy()).tolist()
            scored = list(zip(cosines, rows.column("id").to_pylist(), strict=True))
        chunks = self._chunks([found for _, found in scored], scope)
        hits = [Hit(chunk=chunks[found], cosine=cosine) for cosine, found in scored if found in chunks]
        return sorted(hits, key=lambda hit: (-(hit.cosine or 0.0), hit.chunk.id))

    def warm(self, project_id: str, model: str) -> None:
        """Load a project's words, and its vectors by that model, now."""
        self._load_words(project_id)
        self._load(project_id, model)

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Report rows that were inserted or replaced."""
        groups: dict[tuple[str, str], list[Chunk]] = {}
        projects: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            projects.setdefault(chunk.project_id, []).append(chunk)
            if chunk.vector is not None:
                groups.setdefault((chunk.model, chunk.project_id), []).append(chunk)
        self._rows.put(chunks)
        with self._guard:
            self._vectors.remove([chunk.id for chunk in chunks])
            self._words.remove([chunk.id for chunk in chunks])
            for project_id, group in projects.items():
                ids, sessions = [chunk.id for chunk in group], [chunk.session_id for chunk in group]
                self._words.put(project_id, ids, sessions, [chunk.terms for chunk in group])
            for (model, project_id), group in groups.items():
                vectors = np.asarray([chunk.vector for chunk in group], np.float32)
                ids, sessions = [chunk.id for chunk in group], [chunk.session_id for chunk in group]
                self._vectors.put(model, project_id, ids, sessions, vectors)

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
            self._too_wordy.clear()

    def fit(self, dimensions: int) -> None:
        """Report that vectors have another length now."""
        self._dimensions = dimensions
        self.clear()

    def close(self) -> None:
        """Wait for the loading threads."""
        for thread in list(self._loading.values()):
            thread.join()
        self._rows.close()

    def _best_in_memory(self, words: str, scope: Scope, limit: int) -> list[tuple[float, str]] | None:
        """Return (BM25, id) pairs; None when the table has to search."""
        if scope.project_ids is None or scope.extra:
            return None
        found: list[tuple[float, str]] = []
        missing = []
        with self._guard:
            for project_id in dict.fromkeys(scope.project_ids):
                project = self._words.get(project_id)
                if project is None:
                    missing.append(project_id)
                else:
                    found += project.best(words, limit, scope.session_id, scope.excluded_session_id)
        for project_id in missing:
            if project_id not in self._too_wordy:
                self._load_behind((project_id, ""), partial(self._load_words, project_id))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        return None if missing else found[:limit]

    def _nearest_in_memory(
        self, query: NDArray[np.float32], model: str, scope: Scope, limit: int
    ) -> list[tuple[float, str]] | None:
        """Return (cosine, id) pairs; None when the table has to search."""
        if scope.project_ids is None or scope.extra:
            return None
        found: list[tuple[float, str]] = []
        missing = []
        with self._guard:
            for project_id in dict.fromkeys(scope.project_ids):
                project = self._vectors.get(model, project_id)
                if project is None:
                    missing.append(project_id)
                else:
                    found += project.nearest(query, limit, scope.session_id, scope.excluded_session_id)
        for project_id in missing:
            if project_id not in self._too_big:
                self._load_behind((project_id, model), partial(self._load, project_id, model))
        found.sort(reverse=True)
        return None if missing else found[:limit]

    def _chunks(self, ids: Sequence[str], scope: Scope) -> dict[str, Chunk]:
        """Return the rows of these ids, without those that vanished meanwhile."""
        state = self._rows.state
        found = self._rows.get(ids)
        missing = [chunk for chunk in ids if chunk not in found]
        if missing:
            where = all_of(of_scope(scope), one_of("id", missing))
            read = chunks_from(self._table.select(HIT_COLUMNS, where))
            self._rows.fill(read, state)
            found.update((chunk.id, chunk) for chunk in read)
        return found

    def _load_behind(self, key: tuple[str, str], load: Callable[[], None]) -> None:
        """Load in a thread, so that the search does not wait.

        key: project and model, "" for words.
        """

        def run() -> None:
            try:
                load()
            except StoreError:
                pass  # the search that asked for it reads the same table and reports its failure
            finally:
                self._loading.pop(key, None)

        thread = threading.Thread(target=run, name="memlayer-load", daemon=True)
        if self._loading.setdefault(key, thread) is thread:
            thread.start()

    def _load(self, project_id: str, model: str) -> None:
        with self._lock:
            if self._vectors.get(model, project_id) is not None:
                return
            where = all_of(equals("project_id", project_id), equals("model", model))
            count = self._table.count(where)
            if not self._vectors.fits(count, self._dimensions):
                self._too_big.add(project_id)
                return
            loaded = ProjectVectors(self._dimensions, capacity=count)

            def consume(batch: Any) -> None:
                self._giving_way.wait()
                ids, sessions = batch.column("id").to_pylist(), batch.column("session_id").to_pylist()
                loaded.put(ids, sessions, _matrix_of(batch))

            self._table.scan(["id", "session_id", VECTOR], where, _ROWS_PER_BATCH, consume)
            pa.default_memory_pool().release_unused()
            with self._guard:
                self._vectors.load(model, project_id, loaded)

    def _load_words(self, project_id: str) -> None:
        with self._lock:
            if self._words.get(project_id) is not None:
                return
            where = equals("project_id", project_id)
            if self._table.count(where) > MAX_WORD_ROWS:
                self._too_wordy.add(project_id)
                return
            loaded = ProjectWords()

            def consume(batch: Any) -> None:
                self._giving_way.wait()
                ids, sessions = batch.column("id").to_pylist(), batch.column("session_id").to_pylist()
                loaded.put(ids, sessions, batch.column("terms").to_pylist())

            self._table.scan(["id", "session_id", "terms"], where, _ROWS_PER_BATCH, consume)
            if loaded.nbytes > MAX_WORD_BYTES:
                self._too_wordy.add(project_id)
                return
            with self._guard:
                self._words.load(project_id, loaded)


def _matrix_of(rows: Any) -> NDArray[np.float32]:
    """Return the vector column as (rows, dimensions), no vector missing."""
    column = rows.column(VECTOR)
    flat: NDArray[np.float32] = (
        (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
        .flatten()
        .to_numpy(zero_copy_only=False)
    )
    return flat.reshape(rows.num_rows, -1)
