"""Import progress: each transcript's offset, each record's first session."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from memlayer.adapters.sqlite_file import DispensableFile, in_batches, marks

_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, offset INTEGER, size INTEGER, mtime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (record BLOB PRIMARY KEY, session BLOB NOT NULL) WITHOUT ROWID;
"""
_KEY_BYTES = 8


class ImportLog:
    """An SQLite file of hashes and paths for import progress.

    Without it an import reads every transcript again.
    """

    def __init__(self, path: Path) -> None:
        self._file = DispensableFile(path, _SCHEMA)

    def offset(self, path: str, size: int, mtime_ns: int) -> int:
        """Return the offset to read on from.

        The size when nothing was written since its end was read.
        """

        def get(database: sqlite3.Connection) -> int:
            row = database.execute("SELECT offset, size, mtime_ns FROM files WHERE path = ?", (path,)).fetchone()
            if row is None or row[0] > size:
                return 0
            return size if (row[1], row[2]) == (size, mtime_ns) else int(row[0])

        return self._file.run(get, 0)

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]:
        """Return the uuids, of (uuid, session id) pairs, known from another session."""
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
        """Record that a transcript is read up to this offset.

        records: (record uuid, session id).
        """
        rows = [(_key(uuid), _key(session)) for uuid, session in records if uuid]

        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, -1, -1)", (path, offset))
            database.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)

        self._file.run(put, None)

    def done(self, path: str, size: int, mtime_ns: int) -> None:
        """Record that a transcript of this size and time was read whole."""

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
