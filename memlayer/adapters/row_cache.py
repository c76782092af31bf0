"""The chunks of recently searched projects in memory, as Arrow: fetching fifty rows by id costs LanceDB 6 to 12 ms."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from memlayer.adapters.lance_schema import HIT_COLUMNS, chunks_from
from memlayer.core.model import Chunk

_FEW_VALUES = ("role", "session_id", "project_id", "category", "model")
_MAX_NEW_ROWS = 2048  # rows put since loading are Python objects, several times the size of Arrow's
_BYTES_PER_ID = 220  # an id as a Python string with its place in a dictionary
_LEAST_BYTES_PER_ROW = 200  # ids, offsets and numbers, without any text


class ProjectRows:
    """One project's chunks, without vectors: those read from the table, and those put since."""

    def __init__(self, rows: Any) -> None:
        """rows: an Arrow table of HIT_COLUMNS."""
        columns = [
            _one_piece(rows.column(name).dictionary_encode() if name in _FEW_VALUES else rows.column(name))
            for name in HIT_COLUMNS
        ]
        self._table = pa.table(columns, names=HIT_COLUMNS)
        self._places = {chunk: place for place, chunk in enumerate(rows.column("id").to_pylist())}
        self._new: dict[str, Chunk] = {}
        self.nbytes: int = self._table.nbytes + _BYTES_PER_ID * len(self._places)

    @property
    def is_worn(self) -> bool:
        """So much was put since loading that loading again pays."""
        return len(self._new) > _MAX_NEW_ROWS

    def put(self, chunk: Chunk) -> None:
        self._new[chunk.id] = replace(chunk, vector=None)

    def remove(self, ids: Iterable[str]) -> None:
        for chunk in ids:
            self._new.pop(chunk, None)
            self._places.pop(chunk, None)

    def get(self, ids: Sequence[str]) -> dict[str, Chunk]:
        """The chunks that are there, by id."""
        found = {chunk: self._new[chunk] for chunk in ids if chunk in self._new}
        places = [self._places[chunk] for chunk in ids if chunk in self._places and chunk not in found]
        found.update((chunk.id, chunk) for chunk in chunks_from(self._table.take(pa.array(places, pa.int64()))))
        return found


class RowCache:
    """Chunks by project, least recently used projects first out. The caller locks."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._projects: OrderedDict[str, ProjectRows] = OrderedDict()

    def get(self, project_id: str) -> ProjectRows | None:
        if project_id in self._projects:
            self._projects.move_to_end(project_id)
        return self._projects.get(project_id)

    def fits(self, rows: int) -> bool:
        """Whether it makes sense to read a project of that many rows."""
        return rows * (_BYTES_PER_ID + _LEAST_BYTES_PER_ROW) <= self._max_bytes

    def load(self, project_id: str, loaded: ProjectRows) -> bool:
        """Keep a project's chunks; False when they are too many."""
        if loaded.nbytes > self._max_bytes:
            return False
        self._projects[project_id] = loaded
        while sum(project.nbytes for project in self._projects.values()) > self._max_bytes:
            self._projects.popitem(last=False)
        return True

    def put(self, chunks: Sequence[Chunk]) -> None:
        """Chunks that were inserted or replaced; those of projects that are not loaded are left out."""
        self.remove([chunk.id for chunk in chunks])
        for chunk in chunks:
            project = self._projects.get(chunk.project_id)
            if project is not None:
                project.put(chunk)
        for project_id in [name for name, project in self._projects.items() if project.is_worn]:
            del self._projects[project_id]

    def remove(self, ids: Sequence[str]) -> None:
        for project in self._projects.values():
            project.remove(ids)

    def clear(self) -> None:
        self._projects.clear()


def _one_piece(column: Any) -> Any:
    """A column as a single array: taking rows from many pieces costs a search each."""
    whole = column.combine_chunks()
    return whole if isinstance(whole, pa.Array) else pa.concat_arrays(whole.chunks)
