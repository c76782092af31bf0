"""SQLite files of derived data: cached vectors, progress of imports.

A damaged file is begun anew or done without: a rebuilt index embeds more, an import reads more.
"""

import hashlib
import os
import sqlite3
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from memlayer.ports import Vector

T = TypeVar("T")
Key = TypeVar("Key")

KEYS_PER_QUERY = 500
# Deleted rows are overwritten: forgotten rows must not stay in free pages. The file can be lost without harm, hence
# no waiting for the disk.
_PRAGMAS = (
    "PRAGMA secure_delete = ON; PRAGMA synchronous = OFF; PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = -1024;"
)

MAX_BYTES = 256 * 2**20
_ROW_OVERHEAD_BYTES = 64
_SHRINK_TO = 0.8
_HASH_BYTES, _MODEL_BYTES, _IMPORT_KEY_BYTES = 32, 8, 8
_VECTORS = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used_s INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON vectors (used_s);
"""
_IMPORTS = """
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, offset INTEGER, size INTEGER, mtime_ns INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (record BLOB PRIMARY KEY, session BLOB NOT NULL) WITHOUT ROWID;
"""


class DispensableFile:
    """One SQLite file (mode 0600) with tables made by `schema`. Thread-safe.

    A damaged file is begun anew. An unreadable or read-only file counts as empty.
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


class EmbeddingCache(DispensableFile):
    """Vectors by model and hash of the text; thread-safe. It never fails."""

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        super().__init__(path, _VECTORS)
        self._max_bytes = max_bytes

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors of a model, by text."""
        keys = {_key(fingerprint, text): text for text in texts}

        def get(database: sqlite3.Connection) -> dict[str, Vector]:
            vectors: dict[str, Vector] = {}
            for batch in in_batches(list(keys)):
                wanted = f"key IN ({marks(len(batch))})"
                for key, raw in database.execute(f"SELECT key, vector FROM vectors WHERE {wanted}", batch):
                    vector = array("f")
                    vector.frombytes(raw)
                    vectors[keys[key]] = tuple(vector)
                database.execute(f"UPDATE vectors SET used_s = ? WHERE {wanted}", [_now_s(), *batch])
            return vectors

        return self.run(get, {})

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None:
        """Cache vectors of a model; the least recently used make room."""
        rows = [(_key(fingerprint, text), array("f", vector).tobytes(), _now_s()) for text, vector in vectors.items()]

        def put(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            if rows:
                self._shrink(database, len(rows[0][1]) + _ROW_OVERHEAD_BYTES)

        self.run(put, None)

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None:
        """Drop all vectors, of any model, but those that `scan` names."""

        def hashes(database: sqlite3.Connection) -> set[bytes]:
            return {bytes(key[:_HASH_BYTES]) for (key,) in database.execute("SELECT key FROM vectors")}

        unused: set[bytes] = self.run(hashes, set())
        if not unused:
            return
        scan(lambda text: unused.discard(_hash(text)))
        ranges = [(text_hash, text_hash + b"\xff" * (_MODEL_BYTES + 1)) for text_hash in unused]

        def drop(database: sqlite3.Connection) -> None:
            database.executemany("DELETE FROM vectors WHERE key >= ? AND key < ?", ranges)

        self.run(drop, None)

    def count(self) -> int:
        """Count the cached vectors of all models."""
        return self.run(lambda database: int(database.execute("SELECT count(*) FROM vectors").fetchone()[0]), 0)

    def _shrink(self, database: sqlite3.Connection, bytes_per_row: int) -> None:
        most = max(1, self._max_bytes // bytes_per_row)
        rows = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
        if rows > most:
            surplus = rows - int(most * _SHRINK_TO)
            database.execute(
                "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used_s LIMIT ?)", (surplus,)
            )


class ImportLog(DispensableFile):
    """Import progress: each transcript's offset, each record's first session."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, _IMPORTS)

    def offset(self, path: str, size: int, mtime_ns: int) -> int:
        """Return the offset to read on from, the size at the end."""

        def get(database: sqlite3.Connection) -> int:
            row = database.execute("SELECT offset, size, mtime_ns FROM files WHERE path = ?", (path,)).fetchone()
            if row is None or row[0] > size:
                return 0
            return size if (row[1], row[2]) == (size, mtime_ns) else int(row[0])

        return self.run(get, 0)

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]:
        """Return the uuids, of (uuid, session id) pairs, known from another session."""
        wanted = {_import_key(uuid): (uuid, _import_key(session)) for uuid, session in records if uuid}

        def get(database: sqlite3.Connection) -> set[str]:
            copies: set[str] = set()
            for batch in in_batches(list(wanted)):
                rows = database.execute(
                    f"SELECT record, session FROM seen WHERE record IN ({marks(len(batch))})", batch
                )
                copies.update(wanted[record][0] for record, session in rows if session != wanted[record][1])
            return copies

        return self.run(get, set())

    def reached(self, path: str, offset: int, records: Iterable[tuple[str, str]]) -> None:
        """Record that a transcript is read so far, with its records."""
        rows = [(_import_key(uuid), _import_key(session)) for uuid, session in records if uuid]

        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR REPLACE INTO files VALUES (?, ?, -1, -1)", (path, offset))
            database.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)

        self.run(put, None)

    def done(self, path: str, size: int, mtime_ns: int) -> None:
        """Record that a transcript of this size and time was read whole."""

        def put(database: sqlite3.Connection) -> None:
            database.execute("INSERT OR IGNORE INTO files VALUES (?, 0, -1, -1)", (path,))
            database.execute("UPDATE files SET size = ?, mtime_ns = ? WHERE path = ?", (size, mtime_ns, path))

        self.run(put, None)


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _key(fingerprint: str, text: str) -> bytes:
    return _hash(text) + _hash(fingerprint)[:_MODEL_BYTES]


def _import_key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()[:_IMPORT_KEY_BYTES]


def _now_s() -> int:
    return int(time.time())
