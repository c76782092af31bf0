"""Record of a share: rows sent and taken, logs read.

A SQLite file of ids and hashes, no text. It may be lost: then this home takes a new name in the share.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

from memlayer.edge.home import paths
from memlayer.model import Event, Memory, Usage
from memlayer.sharing.log_format import GONE, NAMES, ROWS, ObjectName, span_of

DIGEST_BYTES = 12
AT_ONCE = 500
# Derived on each machine: not a reason to send a memory again.
LOCAL_FIELDS = ("settled", "level")
_SCHEMA = """
PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (id TEXT PRIMARY KEY, digest BLOB, clock INTEGER, machine TEXT, number INTEGER,
    is_sent INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS gone (id TEXT PRIMARY KEY, number INTEGER, is_sent INTEGER NOT NULL DEFAULT 1) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own (name TEXT PRIMARY KEY, is_sent INTEGER NOT NULL, bytes INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_commit ON rows (machine, number);
CREATE TABLE IF NOT EXISTS reached (machine TEXT, log TEXT, number INTEGER, at_ms INTEGER, who TEXT,
    PRIMARY KEY (machine, log)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
"""


class Version(NamedTuple):
    """The last shared version of a row; the higher (clock, machine) wins."""

    digest: bytes
    clock: int
    machine: str
    number: int


class LogReached(NamedTuple):
    """How far a machine's log was read: its name, its last time."""

    number: int
    at_ms: int
    who: str


def digest_of(row: Event | Memory | Usage) -> bytes:
    """Return a hash of all that is shared of a row."""
    if not isinstance(row, Memory):
        return b""  # never changes
    fields = {name: value for name, value in vars(row).items() if name not in LOCAL_FIELDS}  # asdict: thrice the time
    raw = json.dumps(fields, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()


def key_of(row: Event | Memory | Usage) -> str:
    """Return a row's key: a letter of its kind, and its id."""
    return NAMES[type(row)][0] + row.id


class Ledger:
    """The record of one share. Thread-safe. Raises sqlite3.Error."""

    def __init__(self, folder: str) -> None:
        paths.make_folder(folder)
        self._path = os.path.join(folder, "ledger.sqlite")
        self._lock = threading.RLock()
        os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, paths.FILE_MODE))
        self._base = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        self._base.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._base.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes inside one transaction."""
        with self._lock:
            if self._base.in_transaction:
                yield
                return
            with self._base:  # commits, or rolls back
                self._base.execute("BEGIN IMMEDIATE")
                yield

    # -- facts

    def fact(self, name: str, otherwise: Any = 0) -> Any:
        """Return a number or text kept by name."""
        rows = self._all("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(rows[0][0]) if rows else otherwise

    def note(self, **facts: Any) -> None:
        with self.changing():
            self._many("INSERT OR REPLACE INTO facts VALUES (?, ?)", [(k, json.dumps(v)) for k, v in facts.items()])

    # -- rows

    def versions(self, keys: Iterable[str]) -> dict[str, Version]:
        """Return the shared versions by key_of; unsent ones are left out."""
        out = {}
        for batch in _batches(keys):
            marks = ",".join("?" * len(batch))
            for key, *rest in self._all(
                "SELECT id, digest, clock, machine, number FROM rows WHERE is_sent = 1 AND id IN (%s)" % marks, *batch
            ):
                out[key] = Version(*rest)
        return out

    def record(self, rows: Iterable[tuple[str, Version]], *, is_sent: bool = True) -> None:
        with self.changing():
            self._many(
                "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?, ?)", [(key, *row, is_sent) for key, row in rows]
            )

    def to_erase(self, machine: str) -> dict[int, list[str]]:
        """Return commit -> forgotten ids that a machine's objects still hold."""
        out: dict[int, list[str]] = {}
        for kind in "emu":
            rows = self._all(
                "SELECT rows.number, gone.id FROM gone JOIN rows ON rows.id = ? || gone.id WHERE rows.machine = ?",
                kind, machine,
            )  # fmt: skip
            for number, id_ in rows:
                out.setdefault(number, []).append(id_)
        return out

    def drop_rows(self, ids: Iterable[str]) -> None:
        """Forget about rows that no object of this machine holds any more."""
        with self.changing():
            self._many("DELETE FROM rows WHERE id = ?", [(kind + id_,) for id_ in ids for kind in "emu"])

    def disown(self, machine: str, log: str, numbers: Iterable[int]) -> None:
        """Have the rows, or tombstones, of own commits sent again."""
        given = [(number,) for number in numbers]
        with self.changing():
            if log == GONE:
                self._many("DELETE FROM gone WHERE number = ? AND number > 0", given)
            else:
                self._many("DELETE FROM rows WHERE machine = ? AND number = ?", [(machine, n) for (n,) in given])

    def inherit(self, machine: str) -> None:
        """Have all rows of a lost machine sent by this one."""
        with self.changing():
            self._all("DELETE FROM rows WHERE machine = ?", machine)
            self._all("DELETE FROM reached WHERE machine = ?", machine)
            self._all("DELETE FROM gone WHERE number = 0")

    def renamed(self, former: str, at_ms: int, who: str) -> None:
        """Begin a log of another name; the former one is another machine's."""
        with self.changing():
            for log in (ROWS, GONE):
                self.advance(former, log, LogReached(int(self.fact("last_" + log)), at_ms, who))
            self._all("UPDATE gone SET number = 0 WHERE is_sent = 1")
            self._all("DELETE FROM rows WHERE is_sent = 0")
            self._all("DELETE FROM gone WHERE is_sent = 0")
            self._all("DELETE FROM own")
            self.note(last_rows=0, last_gone=0)

    def read_again(self) -> None:
        """Have all logs of other machines read from their start."""
        with self.changing():
            self._all("UPDATE reached SET number = 0 WHERE log = ?", ROWS)

    # -- forgotten ids

    def unsent_gone(self, ids: Iterable[str]) -> list[str]:
        """Return the forgotten ids that the share does not know."""
        known = {id_ for (id_,) in self._all("SELECT id FROM gone WHERE is_sent = 1")}
        return sorted(set(ids) - known)

    def record_gone(self, ids: Iterable[str], number: int, *, is_sent: bool = True) -> None:
        """number: of the own commit, 0 for another machine's."""
        with self.changing():
            self._many("INSERT OR REPLACE INTO gone VALUES (?, ?, ?)", [(id_, number, is_sent) for id_ in ids])

    # -- own objects

    def own(self) -> dict[ObjectName, int]:
        """Return the objects that this machine has written, with their bytes."""
        return self._spans(1)

    def pending(self) -> dict[ObjectName, int]:
        """Return the objects whose writing may have been cut off."""
        return self._spans(0)

    def _spans(self, is_sent: int) -> dict[ObjectName, int]:
        rows = self._all("SELECT name, bytes FROM own WHERE is_sent = ?", is_sent)
        return {span: size for name, size in rows if (span := span_of(name)) is not None}

    def begin(self, spans: Mapping[ObjectName, int]) -> None:
        """Note objects that are about to be written, with their bytes."""
        with self.changing():
            self._many("INSERT OR REPLACE INTO own VALUES (?, 0, ?)", [(row.name, size) for row, size in spans.items()])

    def settle(self, there: Iterable[ObjectName]) -> None:
        """Note the own objects that are there; undo a cut off writing."""
        with self.changing():
            sizes, pending = {**self.own(), **self.pending()}, self.pending()
            spans = {span: sizes.get(span, 0) for span in there}
            for span in spans.keys() & pending.keys():
                table = "rows" if span.log == ROWS else "gone"
                self._all(
                    "UPDATE %s SET is_sent = 1 WHERE is_sent = 0 AND number BETWEEN ? AND ?" % table,
                    span.first, span.last,
                )  # fmt: skip
            self._all("DELETE FROM rows WHERE is_sent = 0")
            self._all("DELETE FROM gone WHERE is_sent = 0")
            self._all("DELETE FROM own")
            self._many("INSERT INTO own VALUES (?, 1, ?)", [(span.name, size) for span, size in spans.items()])

    # -- other machines

    def reached(self, machine: str, log: str) -> LogReached:
        rows = self._all("SELECT number, at_ms, who FROM reached WHERE machine = ? AND log = ?", machine, log)
        return LogReached(*rows[0]) if rows else LogReached(0, 0, "")

    def advance(self, machine: str, log: str, reached: LogReached) -> None:
        with self.changing():
            self._all("INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?, ?)", machine, log, *reached)

    def machines(self) -> list[tuple[str, LogReached]]:
        """Return the other machines whose rows were read."""
        rows = self._all("SELECT machine, number, at_ms, who FROM reached WHERE log = ? ORDER BY who", ROWS)
        return [(machine, LogReached(*rest)) for machine, *rest in rows]

    # -- uses whose memory is not here yet

    def waiting(self) -> dict[str, dict[str, Any]]:
        return {id_: json.loads(line) for id_, line in self._all("SELECT id, line FROM waiting")}

    def wait_for(self, uses: Iterable[Usage]) -> None:
        with self.changing():
            self._many("INSERT OR REPLACE INTO waiting VALUES (?, ?)", [(u.id, json.dumps(asdict(u))) for u in uses])

    def waited(self, ids: Iterable[str]) -> None:
        with self.changing():
            self._many("DELETE FROM waiting WHERE id = ?", [(id_,) for id_ in ids])

    def _all(self, statement: str, *given: Any) -> list[Any]:
        with self._lock, closing(self._base.cursor()) as cursor:
            return cursor.execute(statement, given).fetchall()

    def _many(self, statement: str, given: Sequence[tuple[Any, ...]]) -> None:
        with self._lock, closing(self._base.cursor()) as cursor:
            cursor.executemany(statement, given)


def _batches(keys: Iterable[str]) -> Iterator[list[str]]:
    distinct = list(dict.fromkeys(keys))
    for start in range(0, len(distinct), AT_ONCE):
        yield distinct[start : start + AT_ONCE]
