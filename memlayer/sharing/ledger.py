"""Record of a share: rows sent and taken, logs read.

A SQLite file of ids and hashes, no text. It may be lost: then this home takes a new name in the share.
"""

import hashlib
import json
import os
import re
import secrets
import sqlite3
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.model import Event, Memory, Usage
from memlayer.sharing.engine import Layout
from memlayer.sharing.seal import Damaged, Seal

VERSION = 2  # of what is written. 1 is read: its memories told authors and ends otherwise
READABLE = (1, VERSION)
MARK = "memlayer_share"
LOGS = ROWS, GONE = "rows", "gone"  # the two logs of a machine. Tombstones are read first
MAX_OBJECT_BYTES = 64 * 2**20  # unpacked: a hostile object must not fill the memory
NAMES: dict[type, str] = {Event: "event", Memory: "memory", Usage: "usage"}
_NAME = re.compile(r"(rows|gone)\.(\d{9})-(\d{9})\.(\d{4})\.([0-9a-f]{8})").fullmatch
is_machine = re.compile("[0-9a-f]{16}").fullmatch
_is_id = re.compile("[0-9a-f]{32}").fullmatch
DIGEST_BYTES = 12
AT_ONCE = 500
# Derived on each machine: not a reason to send a memory again.
LOCAL_FIELDS = ("rules", "level")
_SCHEMA = """
PRAGMA secure_delete = ON; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rows (id TEXT PRIMARY KEY, digest BLOB, clock INTEGER, machine TEXT, number INTEGER)
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS gone (id TEXT PRIMARY KEY, number INTEGER) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS own (name TEXT PRIMARY KEY, is_sent INTEGER NOT NULL, bytes INTEGER) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_commit ON rows (machine, number);
CREATE TABLE IF NOT EXISTS reached (machine TEXT, log TEXT, number INTEGER, at_ms INTEGER, who TEXT,
    PRIMARY KEY (machine, log)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS waiting (id TEXT PRIMARY KEY, line TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, order=True)
class ObjectName:
    """The name of an object.

    log: rows or gone. first, last: numbers of commits, from 1. round: of rewriting. chance: no two are alike.
    """

    log: str
    first: int
    last: int
    round: int = 0
    chance: str = ""

    @property
    def name(self) -> str:
        return "%s.%09d-%09d.%04d.%s" % (self.log, self.first, self.last, self.round, self.chance)

    @classmethod
    def new(cls, log: str, first: int, last: int, round_: int = 0) -> "ObjectName":
        """Return a span with a name of its own."""
        return cls(log, first, last, round_, secrets.token_hex(4))


def span_of(name: str) -> ObjectName | None:
    """Return the span that a name tells, None for a foreign file."""
    match = _NAME(name)
    if match is None or not 0 < int(match[2]) <= int(match[3]):
        return None
    return ObjectName(match[1], int(match[2]), int(match[3]), int(match[4]), match[5])


SHARE = Layout("memlayer-share", "refs/memlayer/", span_of, MAX_OBJECT_BYTES)


def living(spans: Iterable[ObjectName], log: str) -> list[ObjectName]:
    """Return a log's objects in order, without replaced ones."""
    wide = sorted((row for row in spans if row.log == log), key=lambda row: (row.first, -row.last, -row.round))
    out: list[ObjectName] = []
    for row in wide:
        if not out or row.last > out[-1].last:
            out.append(row)
    return out


@dataclass(frozen=True)
class Content:
    """The content of an object.

    machine: its writer. name: of the machine, for people. clock: a counter that grows with every commit of the share.
    at_ms: the writer's time. lines: records of an export. gone: forgotten ids.
    """

    machine: str
    name: str
    clock: int
    at_ms: int
    lines: tuple[dict[str, Any], ...] = ()
    gone: tuple[str, ...] = ()


def packed(content: Content, seal: Seal) -> bytes:
    """Return an object's bytes."""
    head = {
        MARK: VERSION, "build": __version__, "machine": content.machine, "name": content.name,
        "clock": content.clock, "at_ms": content.at_ms,
    }  # fmt: skip
    lines: Sequence[object] = [head, *content.lines, {"gone": list(content.gone)}]
    text = "\n".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    return seal.close(zlib.compress(text.encode("utf-8", "surrogateescape"), 6))


def unpacked(data: bytes, machine: str, seal: Seal) -> Content:
    """Read an object of a machine. Raises Damaged, for another machine's too."""
    unzip = zlib.decompressobj()
    try:
        text = unzip.decompress(seal.open(data), MAX_OBJECT_BYTES)
        if not unzip.eof:
            raise Damaged("an object of the share is cut short, or too large")
        head, *lines = [json.loads(line) for line in text.decode("utf-8", "surrogateescape").split("\n")]
        gone = lines.pop()["gone"]
        if head[MARK] not in READABLE:
            raise Damaged("an object of the share was written by another version of memlayer: format %s" % head[MARK])
        if head["machine"] != machine or not all(map(_is_id, gone)) or not all(type(line) is dict for line in lines):
            raise Damaged("an object of the share stands under another machine's name")
        return Content(machine, str(head["name"])[:100], int(head["clock"]), int(head["at_ms"]), tuple(lines), (*gone,))
    except (ValueError, KeyError, IndexError, TypeError, RecursionError, zlib.error) as bad:
        raise Damaged("an object of the share cannot be read") from bad


def line_of(row: Event | Memory | Usage) -> dict[str, Any]:
    """Return a row's line."""
    return {NAMES[type(row)]: row.fields()}


def ids_in(line: dict[str, Any]) -> list[str]:
    """Return the ids of a line's row and its sources, if any."""
    rows = [line[name] for name in NAMES.values() if isinstance(line.get(name), dict)]
    return [str(id_) for row in rows for id_ in (row.get("id", ""), *row.get("source_ids", ()))]


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
    fields = {name: value for name, value in row.fields().items() if name not in LOCAL_FIELDS}
    raw = json.dumps(fields, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=DIGEST_BYTES).digest()


def key_of(row: Event | Memory | Usage) -> str:
    """Return a row's key: a letter of its kind, and its id."""
    return NAMES[type(row)][0] + row.id


class Ledger:
    """The record of one share, for one thread. Raises sqlite3.Error."""

    def __init__(self, folder: str) -> None:
        paths.make_folder(folder)
        path = os.path.join(folder, "ledger.sqlite")
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, paths.FILE_MODE))
        self._base = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._base.executescript(_SCHEMA)
        self.close = self._base.close

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes inside one transaction."""
        if self._base.in_transaction:
            yield
            return
        with self._base:  # commits, or rolls back
            self._base.execute("BEGIN IMMEDIATE")
            yield

    # -- facts

    def facts(self) -> dict[str, Any]:
        """Return the numbers and texts that are kept by name."""
        return {name: json.loads(value) for name, value in self._all("SELECT name, value FROM facts")}

    def note(self, **facts: Any) -> None:
        self._many("INSERT OR REPLACE INTO facts VALUES (?, ?)", ((k, json.dumps(v)) for k, v in facts.items()))

    @property
    def clock(self) -> int:
        """The highest clock of the commits that were written and read."""
        return int(self.facts().get("clock", 0))

    def saw(self, clock: int) -> None:
        self.note(clock=max(self.clock, clock))

    # -- rows

    def versions(self, keys: Iterable[str]) -> dict[str, Version]:
        """Return the shared versions by key_of."""
        out, distinct = {}, list(dict.fromkeys(keys))
        for start in range(0, len(distinct), AT_ONCE):
            batch = distinct[start : start + AT_ONCE]
            marks = ",".join("?" * len(batch))
            for key, *rest in self._all(
                "SELECT id, digest, clock, machine, number FROM rows WHERE id IN (%s)" % marks, *batch
            ):
                out[key] = Version(*rest)
        return out

    def record(self, rows: Iterable[tuple[str, Version]]) -> None:
        """Note rows by key_of that are in the share."""
        self._many(
            "INSERT OR REPLACE INTO rows (id, digest, clock, machine, number) VALUES (?, ?, ?, ?, ?)",
            ((key, *row) for key, row in rows),
        )

    def to_erase(self) -> list[str]:
        """Return the forgotten ids whose rows own objects may still hold.

        Another machine may have sent the last version of a row, and this one an earlier version.
        """
        join = "gone CROSS JOIN rows ON rows.id IN ('e' || gone.id, 'm' || gone.id, 'u' || gone.id)"
        return [id_ for (id_,) in self._all("SELECT gone.id FROM %s" % join)]

    def drop_rows(self, ids: Iterable[str]) -> None:
        """Forget about rows that no object of this machine holds any more."""
        self._many("DELETE FROM rows WHERE id = ?", ((kind + id_,) for id_ in ids for kind in "emu"))

    def disown(self, machine: str, log: str, numbers: Iterable[int]) -> None:
        """Have the rows, or tombstones, of own commits sent again."""
        if log == GONE:
            self._many("DELETE FROM gone WHERE number = ? AND number > 0", ((number,) for number in numbers))
        else:
            self._many("DELETE FROM rows WHERE machine = ? AND number = ?", ((machine, number) for number in numbers))

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
                self.advance(former, log, LogReached(self.last(log), at_ms, who))
            self._all("UPDATE gone SET number = 0")
            self._all("DELETE FROM own")

    # -- forgotten ids

    def unsent_gone(self, ids: Iterable[str]) -> list[str]:
        """Return the forgotten ids that the share does not know."""
        return sorted(set(ids) - {id_ for (id_,) in self._all("SELECT id FROM gone")})

    def record_gone(self, ids: Iterable[str], number: int = 0) -> None:
        """number: of the own commit, 0 for another machine's."""
        self._many("INSERT OR REPLACE INTO gone (id, number) VALUES (?, ?)", ((id_, number) for id_ in ids))

    # -- own objects

    def own(self, *, is_sent: bool = True) -> dict[ObjectName, int]:
        """Return own objects with their bytes; is_sent: no writing was cut off."""
        rows = self._all("SELECT name, bytes FROM own WHERE is_sent = ?", is_sent)
        return {span: size for name, size in rows if (span := span_of(name)) is not None}

    def last(self, log: str) -> int:
        """Return the number of the last own commit, 0 for none."""
        spans = [*self.own(), *self.own(is_sent=False)]
        return max((span.last for span in spans if span.log == log), default=0)

    def begin(self, sizes: Mapping[ObjectName, int]) -> None:
        """Note objects that are about to be written, with their bytes."""
        self._many("INSERT OR REPLACE INTO own VALUES (?, 0, ?)", ((span.name, size) for span, size in sizes.items()))

    def wrote(self, there: Collection[ObjectName]) -> None:
        """Note the own objects that are there now."""
        with self.changing():
            sizes = {**self.own(is_sent=False), **self.own()}
            self._all("DELETE FROM own")
            self._many("INSERT INTO own VALUES (?, 1, ?)", ((span.name, sizes.get(span, 0)) for span in there))

    # -- other machines

    def reached(self, machine: str, log: str) -> LogReached:
        rows = self._all("SELECT number, at_ms, who FROM reached WHERE machine = ? AND log = ?", machine, log)
        return LogReached(*rows[0]) if rows else LogReached(0, 0, "")

    def advance(self, machine: str, log: str, reached: LogReached) -> None:
        self._all("INSERT OR REPLACE INTO reached VALUES (?, ?, ?, ?, ?)", machine, log, *reached)

    def read_again(self) -> None:
        """Have all logs of other machines read from their start."""
        self._all("UPDATE reached SET number = 0 WHERE log = ?", ROWS)

    def machines(self) -> dict[str, LogReached]:
        """Return the other machines whose rows were read."""
        rows = self._all("SELECT machine, number, at_ms, who FROM reached WHERE log = ? ORDER BY who", ROWS)
        return {machine: LogReached(*rest) for machine, *rest in rows}

    # -- uses whose memory is not here yet

    def waiting(self) -> list[Usage]:
        return [Usage(**json.loads(line)) for (line,) in self._all("SELECT line FROM waiting")]

    def wait_for(self, uses: Iterable[Usage]) -> None:
        self._many("INSERT OR REPLACE INTO waiting VALUES (?, ?)", ((use.id, json.dumps(use.fields())) for use in uses))

    def waited(self, uses: Iterable[Usage]) -> None:
        self._many("DELETE FROM waiting WHERE id = ?", ((use.id,) for use in uses))

    def _all(self, statement: str, *given: Any) -> list[Any]:
        return self._base.execute(statement, given).fetchall()

    def _many(self, statement: str, given: Iterable[tuple[Any, ...]]) -> None:
        with self.changing():
            self._base.executemany(statement, given)
