"""SQLite files that may be dropped, and the imports noted in them."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
Key = TypeVar("Key")

KEYS_PER_QUERY = 500
# Deleted rows are overwritten: what is forgotten must not stay in free pages. The file can be lost without harm, hence
# no waiting for the disk.
_PRAGMAS = (
    "PRAGMA secure_delete = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = -1024;"
)


class DispensableFile:
    """One SQLite file (mode 0600) with tables made by `schema`; may be used from any thread, one at a time.

    A file that is damaged is begun anew, one that cannot be read or written is done without.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._schema = schema
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def run(self, operation: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What the operation returns, in a transaction; `otherwise` when the file cannot be used."""
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
        """Delete the file; the next operation begins a new one. False when it cannot be deleted."""
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
    """The keys in pieces that one query can hold."""
    for start in range(0, len(keys), KEYS_PER_QUERY):
        yield keys[start : start + KEYS_PER_QUERY]


def marks(count: int) -> str:
    """So many question marks for an IN list."""
    return ",".join("?" * count)


_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, offset INTEGER, size INTEGER, mtime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (record BLOB PRIMARY KEY, session BLOB NOT NULL) WITHOUT ROWID;
"""
_KEY_BYTES = 8


class ImportLog:
    """An SQLite file of hashes and paths. Without it an import reads everything again, and finds what is known."""

    def __init__(self, path: Path) -> None:
        self._file = DispensableFile(path, _SCHEMA)

    def offset(self, path: str, size: int, mtime_ns: int) -> int:
        """Where to go on reading a transcript; its size when nothing was written since it was read to its end."""

        def get(database: sqlite3.Connection) -> int:
            row = database.execute("SELECT offset, size, mtime_ns FROM files WHERE path = ?", (path,)).fetchone()
            if row is None or row[0] > size:
                return 0
            return size if (row[1], row[2]) == (size, mtime_ns) else int(row[0])

        return self._file.run(get, 0)

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]:
        """Of these (record uuid, session id): the uuids that another session had first."""
        wanted = {_key(uuid): (uuid, _key(session)) for uuid, session in records if uuid}

        def get(database: sqlite3.Connection) -> set[str]:
            found: set[str] = set()
            for batch in in_batches(list(wanted)):
                rows = database.execute(
                    f"SELECT record, session FROM seen WHERE record IN ({marks(len(batch))})", batch
                )
                found.update(wanted[record][0] for record, session in rows if session != wanted[record][1])
            return found

        return self._file.run(get, set())

    def reached(self, path: str, offset: int, records: Iterable[tuple[str, str]]) -> None:
        """A transcript is taken in up to this offset, with these (record uuid, session id)."""
        rows = [(_key(uuid), _key(session)) for uuid, session in records if uuid]

        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, -1, -1)", (path, offset))
            database.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)

        self._file.run(put, None)

    def done(self, path: str, size: int, mtime_ns: int) -> None:
        """A transcript of this size and time is read to its end."""

        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR IGNORE INTO files VALUES (?, 0, -1, -1)", (path,))
            database.execute("UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?", (size, mtime_ns, path))

        self._file.run(put, None)

    def restart(self) -> None:
        """Read every transcript from its start again."""
        self._file.run(lambda database: database.execute("DELETE FROM files"), None)

    def close(self) -> None:
        """Release the file."""
        self._file.close()


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:_KEY_BYTES]
