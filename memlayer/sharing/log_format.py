"""The append-only log of a machine: names and content of its objects.

An object holds the rows `first` to `last` of its machine's commits, as JSON Lines, packed and sealed. A later object
of the same span (a higher round) replaces an earlier one: that is how its owner merges commits, and forgets.
"""

from __future__ import annotations

import json
import re
import secrets
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memlayer import __version__
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
    def new(cls, log: str, first: int, last: int, round_: int = 0) -> ObjectName:
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
