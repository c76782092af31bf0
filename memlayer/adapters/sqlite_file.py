"""SQLite file for derived data, begun anew or left out when damaged."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key")

KEYS_PER_QUERY = 500
# Deleted rows are overwritten: forgotten rows must not stay in free pages. The file can be lost without harm, hence
# no waiting for the disk.
_PRAGMAS = (
    "PRAGMA secure_delete = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = -1024;"
)


class DispensableFile:
    """One SQLite file (mode 0600) with tables made by `schema`; thread-safe.

    A file that is damaged is begun anew, one that cannot be read or written is done without.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def run(self, operation: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Run a transaction; return `otherwise` when the file cannot be used."""
        with self._lock:
            for attempt in (1, 2):
                try:
                    database = self._open()
                    with database:
                        return operation(database)
                except (sqlite3.DatabaseError, ValueError, OSError) as error:
                    self._close()
                    # "locked", "full", "readonly" are OperationalErrors: the file is sound, only not usable now.
                    if attempt == 2 or isinstance(error, (sqlite3.OperationalError, OSError)):
                        return otherwise
                    self._remove()
        return otherwise

    def remove(self) -> bool:
        """Delete the file, to begin anew; False when that is impossible."""
        with self._lock:
            self._close()
            try:
                self._remove()
            except OSError:
                return False
            return True

    def close(self) -> None:
        with self._lock:
            self._close()

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            self._path.chmod(0o600)
            database = sqlite3.connect(self._path, timeout=1.0, check_same_thread=False)
            try:
                database.executescript(_PRAGMAS + self._schema)
            except sqlite3.Error:
                database.close()
                raise
            self._database = database
        return self._database

    def _close(self) -> None:
        if self._database is not None:
            with closing(self._database):
                self._database = None

    def _remove(self) -> None:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)


def in_batches(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Split keys into batches that one query can hold."""
    for start in range(0, len(keys), KEYS_PER_QUERY):
        yield keys[start : start + KEYS_PER_QUERY]


def marks(count: int) -> str:
    """Return that many question marks for an IN list."""
    return ",".join("?" * count)
