"""Chunks by id in an SQLite file, for fast reads.

Fetching forty rows costs LanceDB 10 to 18 ms of CPU. The file is derived and filled as rows are written or asked for:
0.4 kB a chunk, and no memory worth mentioning however many there are. It carries the version of the table that it
agrees with, none while the table is being changed, and the boot of the machine, since nobody waits for the disk. So a
crash in between, a power failure, a restored backup or whoever else changed the table is noticed when it is opened, and
it begins anew.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import uuid
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from memlayer.adapters.lance.schema import CHUNK_CATEGORY, CHUNKS, COLUMNS
from memlayer.adapters.sqlite_files import DispensableFile, in_batches, marks
from memlayer.kinds import Category
from memlayer.model import Chunk

FILE_NAME = "rows.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (key INTEGER PRIMARY KEY, packed BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS agrees (with_version INTEGER NOT NULL, since_boot TEXT NOT NULL);
"""
_FORMAT = 1  # raise it when rows are packed in another way
_NO_VERSION = -1
MAX_RECENT = 1000  # chunks kept unpacked


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
        keys = [_key(chunk_id) for chunk_id in ids]

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
        rows = [(_key(chunk.id), _packed(chunk)) for chunk in chunks]
        self._file.run(lambda database: database.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?)", rows), None)

    def fill(self, chunks: Iterable[Chunk], state: int) -> None:
        """Cache rows read after `state`, if nothing has changed since."""
        with self._guard:
            if state == self._changes and not self._is_changing:
                self._write(chunks)

    def remove(self, ids: Sequence[str]) -> None:
        """Drop rows that are gone, between begin and end."""
        self._forget_recent(ids)
        keys = [(_key(chunk),) for chunk in ids]
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


def _key(chunk_id: str) -> int:
    digest = hashlib.blake2b(chunk_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _packed(chunk: Chunk) -> bytes:
    values = [getattr(chunk, name) for name in COLUMNS[CHUNKS]]
    # A lone surrogate is stored as a question mark, as in the table.
    return zlib.compress(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"), 1)


def _unpacked(packed: bytes) -> Chunk:
    values = json.loads(zlib.decompress(packed))
    values[CHUNK_CATEGORY] = Category(values[CHUNK_CATEGORY])
    return Chunk(*values)
