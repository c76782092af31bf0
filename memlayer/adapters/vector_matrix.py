"""The vectors of recently searched projects in memory: at these sizes an exact scan beats any index."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK_ROWS = 1024  # 1.5 MB as float32: stays in the processor's cache while it is multiplied
_STEPS = 32767.0
_BYTES_PER_ROW = 8 + 220  # scale and session; the id as a Python string with its place in a dictionary
_DEAD = -1
_MAX_DEAD_SHARE = 0.25


class ProjectVectors:
    """One project's vectors, 16 bits a dimension and a scale per row; grows at the end, dead rows stay until reload.

    Half the memory of float32 and as exact as needed: a cosine is off by less than 0.00001. Not thread-safe.
    """

    def __init__(self, dimensions: int, capacity: int = 0) -> None:
        self._dimensions = dimensions
        self._cells = np.empty((capacity, dimensions), np.int16)
        self._scales = np.empty(capacity, np.float32)
        self._sessions = np.empty(capacity, np.int32)
        self._session_codes: dict[str, int] = {}
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        return len(self._cells) * (2 * self._dimensions + _BYTES_PER_ROW)

    @property
    def is_worn(self) -> bool:
        """So many rows are dead that loading again pays."""
        return len(self._ids) > 256 and len(self._ids) - len(self._rows) > _MAX_DEAD_SHARE * len(self._ids)

    def put(self, ids: Sequence[str], session_ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add rows, or replace those whose id is there. vectors: (len(ids), dimensions)."""
        if not ids:
            return
        self.remove(ids)
        used, needed = len(self._ids), len(self._ids) + len(ids)
        if needed > len(self._cells):
            self._grow(max(needed, 64) if used == 0 else needed + needed // 2)
        peaks = np.abs(vectors).max(axis=1)
        scales = np.where(peaks > 0, peaks / _STEPS, 1.0).astype(np.float32)
        self._cells[used:needed] = np.rint(vectors / scales[:, None]).astype(np.int16)
        self._scales[used:needed] = scales
        for row, (chunk, session) in enumerate(zip(ids, session_ids, strict=True), start=used):
            self._sessions[row] = self._session_codes.setdefault(session, len(self._session_codes))
            self._ids.append(chunk)
            self._rows[chunk] = row

    def remove(self, ids: Iterable[str]) -> None:
        for chunk in ids:
            row = self._rows.pop(chunk, None)
            if row is not None:
                self._sessions[row] = _DEAD

    def nearest(
        self, vector: NDArray[np.float32], limit: int, session_id: str, excluded_session_id: str
    ) -> list[tuple[float, str]]:
        """(cosine, id) of the nearest rows, best first; "" does not restrict the session."""
        used = len(self._ids)
        scores = np.empty(used, np.float32)
        buffer = np.empty((min(_BLOCK_ROWS, used), self._dimensions), np.float32)
        for start in range(0, used, _BLOCK_ROWS):
            stop = min(start + _BLOCK_ROWS, used)
            block = buffer[: stop - start]
            np.copyto(block, self._cells[start:stop])
            np.dot(block, vector, out=scores[start:stop])
        scores *= self._scales[:used]
        sessions = self._sessions[:used]
        scores[sessions == _DEAD] = -np.inf
        if session_id:
            scores[sessions != self._session_codes.get(session_id, _DEAD)] = -np.inf
        if excluded_session_id in self._session_codes:
            scores[sessions == self._session_codes[excluded_session_id]] = -np.inf
        found = np.argpartition(scores, used - limit)[used - limit :] if used > limit else np.arange(used)
        best = found[np.argsort(-scores[found], kind="stable")]
        return [(float(scores[row]), self._ids[row]) for row in best if scores[row] != -np.inf]

    def _grow(self, capacity: int) -> None:
        used = len(self._ids)
        for name in ("_cells", "_scales", "_sessions"):
            old: NDArray[Any] = getattr(self, name)
            new = np.empty((capacity, *old.shape[1:]), old.dtype)
            new[:used] = old[:used]
            setattr(self, name, new)


class VectorMatrix:
    """The vectors of one model, by project, least recently used projects first out. The caller locks.

    max_bytes bounds vectors, ids and the tables over them.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._model = ""
        self._projects: OrderedDict[str, ProjectVectors] = OrderedDict()

    def fits(self, rows: int, dimensions: int) -> bool:
        """Whether a project of that many rows may be loaded at all."""
        return rows * (2 * dimensions + _BYTES_PER_ROW) <= self._max_bytes

    def get(self, model: str, project_id: str) -> ProjectVectors | None:
        """The project's vectors if they are loaded for that model."""
        if model != self._model or project_id not in self._projects:
            return None
        self._projects.move_to_end(project_id)
        return self._projects[project_id]

    def load(self, model: str, project_id: str, vectors: ProjectVectors) -> None:
        """Keep a project's vectors; drops another model's, and the oldest beyond the budget."""
        if model != self._model:
            self._projects.clear()
            self._model = model
        self._projects[project_id] = vectors
        self._projects.move_to_end(project_id)
        self._evict()

    def put(
        self,
        model: str,
        project_id: str,
        ids: Sequence[str],
        session_ids: Sequence[str],
        vectors: NDArray[np.float32],
    ) -> None:
        """Add rows to a loaded project; nothing for a project or a model that is not loaded."""
        if model == self._model and project_id in self._projects:
            self._projects[project_id].put(ids, session_ids, vectors)
            self._evict()

    def remove(self, ids: Sequence[str]) -> None:
        """Rows that are gone, or whose vector is."""
        for project_id in list(self._projects):
            self._projects[project_id].remove(ids)
            if self._projects[project_id].is_worn:
                del self._projects[project_id]

    def clear(self) -> None:
        self._projects.clear()

    def _evict(self) -> None:
        total = sum(vectors.nbytes for vectors in self._projects.values())
        while total > self._max_bytes and self._projects:
            _, oldest = self._projects.popitem(last=False)
            total -= oldest.nbytes
