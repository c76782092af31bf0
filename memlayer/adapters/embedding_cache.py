"""Cache of vectors by text hash: a rebuilt index embeds nothing again."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from memlayer.adapters.sqlite_file import DispensableFile, in_batches, marks
from memlayer.ports import Vector

MAX_BYTES = 256 * 2**20
_ROW_OVERHEAD_BYTES = 64
_SHRINK_TO = 0.8
_HASH_BYTES = 32
_MODEL_BYTES = 8
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used_s INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_use ON vectors (used_s);
"""


class EmbeddingCache:
    """Vectors in an SQLite file (mode 0600), by model and text; thread-safe.

    Only hashes of the texts are stored. It never fails: a file that is damaged is begun anew, one that cannot be
    written is done without.
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self._file = DispensableFile(path, _SCHEMA)
        self._max_bytes = max_bytes

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the cached vectors of a model, by text."""
        keys = {_key(fingerprint, text): text for text in texts}

        def get(database: sqlite3.Connection) -> dict[str, Vector]:
            found: dict[str, Vector] = {}
            for batch in in_batches(list(keys)):
                wanted = f"key IN ({marks(len(batch))})"
                for key, raw in database.execute(f"SELECT key, vector FROM vectors WHERE {wanted}", batch):
                    vector = array("f")
                    vector.frombytes(raw)
                    found[keys[key]] = tuple(vector)
                database.execute(f"UPDATE vectors SET used_s = ? WHERE {wanted}", [_now_s(), *batch])
            return found

        return self._file.run(get, {})

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None:
        """Cache vectors of a model; the least recently used make room."""
        rows = [(_key(fingerprint, text), array("f", vector).tobytes(), _now_s()) for text, vector in vectors.items()]

        def put(database: sqlite3.Connection) -> None:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
            if rows:
                self._shrink(database, len(rows[0][1]) + _ROW_OVERHEAD_BYTES)

        self._file.run(put, None)

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None:
        """Drop all vectors, of any model, but those that `scan` names."""

        def hashes(database: sqlite3.Connection) -> set[bytes]:
            return {bytes(key[:_HASH_BYTES]) for (key,) in database.execute("SELECT key FROM vectors")}

        unused: set[bytes] = self._file.run(hashes, set())
        if not unused:
            return
        scan(lambda text: unused.discard(_text_hash(text)))
        ranges = [(found, found + b"\xff" * (_MODEL_BYTES + 1)) for found in unused]

        def drop(database: sqlite3.Connection) -> None:
            database.executemany("DELETE FROM vectors WHERE key >= ? AND key < ?", ranges)

        self._file.run(drop, None)

    def count(self) -> int:
        """Count the cached vectors of all models."""
        return self._file.run(lambda database: int(database.execute("SELECT count(*) FROM vectors").fetchone()[0]), 0)

    def close(self) -> None:
        self._file.close()

    def _shrink(self, database: sqlite3.Connection, bytes_per_row: int) -> None:
        most = max(1, self._max_bytes // bytes_per_row)
        rows = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
        if rows > most:
            surplus = rows - int(most * _SHRINK_TO)
            database.execute(
                "DELETE FROM vectors WHERE key IN (SELECT key FROM vectors ORDER BY used_s LIMIT ?)", (surplus,)
            )


def _text_hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _key(fingerprint: str, text: str) -> bytes:
    return _text_hash(text) + _text_hash(fingerprint)[:_MODEL_BYTES]


def _now_s() -> int:
    return int(time.time())
