"""Projects in memory: rows, the recent ones, and way given to answers."""

import hashlib
import time
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

_DEAD = -1
_MAX_DEAD_SHARE = 0.25
GOES_FIRST_S = 0.08  # a query and the search that follows it

Key = tuple[str, str]  # project and model, "" for words
P = TypeVar("P", bound="LoadedProject")


class ProjectRows:
    """Chunk ids and sessions by row. `len` counts rows alive.

    Not thread-safe. It grows at the end. Dead rows stay until reload. Of several rows of an id one at most is alive.
    """

    def __init__(self) -> None:
        self._alive = 0
        self._text = bytearray()
        self._ends = array("Q")
        self._keys = array("q")  # 64 bits of a hash
        self._sessions = array("i")
        self._session_codes: dict[str, int] = {}

    def __len__(self) -> int:
        return self._alive

    @property
    def rows(self) -> int:
        """The number of rows, dead ones included."""
        return len(self._ends)

    @property
    def is_worn(self) -> bool:
        """True when so many rows are dead that loading again pays."""
        return self.rows > 256 and self.rows - self._alive > _MAX_DEAD_SHARE * self.rows

    def id_of(self, row: int) -> str:
        """Return a row's id."""
        start = self._ends[row - 1] if row else 0
        return self._text[start : self._ends[row]].decode("utf-8", "surrogatepass")

    def extend(self, ids: Sequence[str], session_ids: Sequence[str]) -> None:
        """Add rows at the end."""
        codes = self._session_codes
        self._sessions.extend(codes.setdefault(session_id, len(codes)) for session_id in session_ids)
        for row_id in ids:
            self._text += row_id.encode("utf-8", "surrogatepass")
            self._ends.append(len(self._text))
            self._keys.append(key_of(row_id))
        self._alive += len(ids)

    def remove(self, ids: Sequence[str]) -> NDArray[np.intp]:
        """Mark rows of these ids as dead; return newly dead rows."""
        sessions = np.frombuffer(self._sessions, np.int32)
        rows: NDArray[np.intp] = self.rows_of(ids)
        rows = rows[sessions[rows] != _DEAD]
        sessions[rows] = _DEAD
        self._alive -= len(rows)
        return rows

    def are_alive(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
        """Return a mask of those rows that are alive."""
        mask: NDArray[np.bool_] = np.frombuffer(self._sessions, np.int32)[rows] != _DEAD
        return mask

    def allowed(self, session_id: str, excluded_session_id: str) -> NDArray[np.bool_] | None:
        """Return a mask of allowed rows, None for all; "": any session."""
        excluded = self._session_codes.get(excluded_session_id) if excluded_session_id else None
        if self._alive == self.rows and not session_id and excluded is None:
            return None
        sessions = np.frombuffer(self._sessions, np.int32)
        allowed: NDArray[np.bool_] = sessions != _DEAD
        if session_id:
            allowed &= sessions == self._session_codes.get(session_id, _DEAD)
        if excluded is not None:
            allowed &= sessions != excluded
        return allowed

    def rows_of(self, ids: Sequence[str]) -> NDArray[np.intp]:
        """Return all rows of these ids, unordered, by a 64-bit hash."""
        if not self.rows:
            return np.empty(0, np.intp)
        keys = np.frombuffer(self._keys, np.int64)
        wanted = np.fromiter((key_of(row_id) for row_id in ids), np.int64, len(ids))
        might_be = np.zeros(1 << 16, np.bool_)  # by 16 bits of the key: of 100,000 rows few are left
        might_be[_part(wanted)] = True
        rows = np.flatnonzero(might_be[_part(keys)])
        return rows[np.isin(keys[rows], wanted)]


def _part(keys: NDArray[np.int64]) -> NDArray[np.uint16]:
    return keys.view(np.uint16)[::4]


def key_of(row_id: str) -> int:
    """Return a 64-bit hash of a row's id, with a sign."""
    digest = hashlib.blake2b(row_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class LoadedProject(Protocol):
    """One project's rows with their words or vectors."""

    @property
    def nbytes(self) -> int: ...

    @property
    def is_worn(self) -> bool: ...

    def put(self, ids: Sequence[str], session_ids: Sequence[str], cells: Any, /) -> None: ...

    def remove(self, ids: Sequence[str]) -> object: ...


class RecentProjects(Generic[P]):
    """Projects within max_bytes; the least recently used go first. The caller locks."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._projects: OrderedDict[Key, P] = OrderedDict()

    def get(self, key: Key) -> P | None:
        """Return the project if it is loaded."""
        if key not in self._projects:
            return None
        self._projects.move_to_end(key)
        return self._projects[key]

    def load(self, key: Key, project: P) -> None:
        """Keep a project; drop the oldest beyond the budget."""
        self._projects[key] = project
        self._projects.move_to_end(key)
        self._evict()

    def put(self, key: Key, ids: Sequence[str], session_ids: Sequence[str], cells: Any) -> None:
        """Add rows to a loaded project, without counting as a use."""
        if key in self._projects:
            self._projects[key].put(ids, session_ids, cells)
            self._evict()

    def remove(self, ids: Sequence[str]) -> None:
        """Remove rows that are gone; drop a worn project whole."""
        for key in list(self._projects):
            self._projects[key].remove(ids)
            if self._projects[key].is_worn:
                del self._projects[key]

    def clear(self) -> None:
        self._projects.clear()

    def _evict(self) -> None:
        total = sum(project.nbytes for project in self._projects.values())
        while total > self.max_bytes and self._projects:
            _, oldest = self._projects.popitem(last=False)
            total -= oldest.nbytes


class QueriesFirst:
    """Answers call `announce`. Background work calls `wait` between two pieces. Thread-safe."""

    def __init__(self) -> None:
        self._until = 0.0

    def announce(self) -> None:
        """Note that an answer is being waited for."""
        self._until = time.monotonic() + GOES_FIRST_S

    def wait(self) -> None:
        """Pause while an answer is being made, at most GOES_FIRST_S."""
        time.sleep(min(GOES_FIRST_S, max(0.0, self._until - time.monotonic())))
