"""Push: new rows and tombstones, as one commit of the own log."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memlayer.kinds import Kind
from memlayer.model import Event, Memory, Usage
from memlayer.ports import Store
from memlayer.records.projects import Projects
from memlayer.records.tombstones import Tombstones
from memlayer.sharing.engine import Engine
from memlayer.sharing.ledger import Ledger, Version, digest_of, key_of
from memlayer.sharing.log_format import (
    GONE,
    ROWS,
    Content,
    ObjectName,
    id_in,
    line_of,
    living,
    packed,
    span_of,
    unpacked,
)
from memlayer.sharing.seal import Seal
from memlayer.sharing.share import Share
from memlayer.tasks.task_memory import MADE_BY_BOOK
from memlayer.wire.sharing import SharePushed

OBJECT_LINES = 5000
OBJECT_CHARS = 8_000_000  # of lines. Packed a fifth
COMMIT_OBJECTS = 8
SMALL_BYTES = 4 * 2**20  # a larger object is not merged again
MERGE_AT = 12  # small objects at the end of a log
KNOWN_FIELDS = ("name", "keys", "since_ms")  # of a project: no folder of this machine

Shared = Event | Memory | Usage


@dataclass(frozen=True)
class Channel:
    """An open share: record, ledger, encryption and place."""

    share: Share
    ledger: Ledger
    seal: Seal
    engine: Engine

    @property
    def machine(self) -> str:
        return self.share.machine

    def spans(self, machine: str) -> list[ObjectName]:
        """Return a machine's objects, replaced ones included."""
        return [span for name in self.engine.names(machine) if (span := span_of(name)) is not None]


@dataclass
class _Draft:
    """Lines that are about to be an object."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    rows: list[tuple[str, Version]] = field(default_factory=list)
    chars: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.lines) >= OBJECT_LINES or self.chars >= OBJECT_CHARS


def is_shared(row: Shared, tombstones: Tombstones) -> bool:
    """Return whether a row travels.

    Not: pieces of files on this machine, colleagues' notes, memories that the book makes of task events, forgotten
    rows.
    """
    if row.id in tombstones:
        return False
    if isinstance(row, Memory):
        is_of_book = row.known_kind is Kind.TASK and row.settled == MADE_BY_BOOK
        return not is_of_book and row.known_kind not in (Kind.PIECE, Kind.TEAM)
    return True


class Sending:
    """Push of one home. Called from one thread."""

    def __init__(self, store: Store, projects: Projects, tombstones: Tombstones) -> None:
        self._store, self._projects, self._tombstones = store, projects, tombstones

    def push(self, channel: Channel) -> SharePushed:
        """Send all that the share lacks. Raises ShareError, StoreError."""
        done = SharePushed()
        self._restore_missing(channel)
        self._send_gone(channel, done)
        while True:
            drafts = self._drafts(channel)
            self._commit(channel, drafts, done)
            if len(drafts) < COMMIT_OBJECTS:
                return done

    def to_send(self, ledger: Ledger) -> int:
        """Count the rows and tombstones that wait."""
        return len(self._waiting(ledger)) + len(ledger.unsent_gone(self._tombstones.ids()))

    def _waiting(self, ledger: Ledger) -> list[Shared]:
        out: list[Shared] = []
        self._scan(ledger, lambda row, version: out.append(row))
        return out

    def _scan(self, ledger: Ledger, consume: Callable[[Shared, Version], object]) -> None:
        """Hand over the shared rows that the share lacks."""
        sent: set[str] = set()

        def rows(batch: Sequence[Event] | Sequence[Memory] | Sequence[Usage]) -> None:
            known = ledger.versions(map(key_of, batch))
            of_uses = {"m" + row.memory_id for row in batch if isinstance(row, Usage)}
            shared = ledger.versions(of_uses).keys() | sent
            for row in batch:
                version = known.get(key_of(row))
                digest = digest_of(row)
                is_known = version is not None and version.digest == digest
                if is_known or not is_shared(row, self._tombstones):
                    continue
                if isinstance(row, Usage) and "m" + row.memory_id not in shared:
                    continue
                if isinstance(row, Memory):
                    sent.add(key_of(row))
                consume(row, Version(digest, 0, "", 0))

        self._store.scan(rows)

    def _drafts(self, channel: Channel) -> list[_Draft]:
        """Return up to COMMIT_OBJECTS objects of new rows."""
        clock = int(channel.ledger.fact("clock")) + 1
        drafts: list[_Draft] = []
        known_projects: set[str] = set()

        def consume(row: Shared, version: Version) -> None:
            if not drafts or drafts[-1].is_full:
                if len(drafts) == COMMIT_OBJECTS:
                    return
                known_projects.clear()
                drafts.append(_Draft())
            draft = drafts[-1]
            if row.project_id not in known_projects:
                known_projects.add(row.project_id)
                draft.lines += self._project_line(row.project_id)
            line = line_of(row)
            if isinstance(row, Memory):
                line["clock"] = clock
            draft.lines.append(line)
            draft.rows.append((key_of(row), Version(version.digest, clock, channel.machine, 0)))
            draft.chars += len(getattr(row, "text", "")) + 400

        self._scan(channel.ledger, consume)
        return drafts

    def _project_line(self, project_id: str) -> list[dict[str, Any]]:
        entry = self._projects.known().get(project_id)
        if entry is None:
            return []
        return [{"project": {"id": project_id, **{name: entry[name] for name in KNOWN_FIELDS if name in entry}}}]

    # -- commits

    def _restore_missing(self, channel: Channel) -> None:
        """Have the rows of removed own objects sent again."""
        ledger, there = channel.ledger, channel.spans(channel.machine)
        for log in (ROWS, GONE):
            numbers = _covered(ledger.own(), log) - _covered(there, log)
            if numbers:
                ledger.disown(channel.machine, log, numbers)
        ledger.settle(there)
        for log in (ROWS, GONE):
            last = max([int(ledger.fact("last_" + log)), *(span.last for span in there if span.log == log)])
            ledger.note(**{"last_" + log: last})
            holes = set(range(1, last + 1)) - _covered(there, log)
            if holes:  # readers go from commit to commit: an empty object bridges those that are gone
                span = ObjectName.new(log, min(holes), max(holes), 1)
                inner = [row for row in living(there, log) if row.first <= span.last and row.last >= span.first]
                self._merge(channel, inner, span)

    def _send_gone(self, channel: Channel, done: SharePushed) -> None:
        """Send tombstones, and take forgotten rows out of own objects."""
        ledger = channel.ledger
        new = ledger.unsent_gone(self._tombstones.ids())
        if new or not ledger.fact("last_" + GONE):
            number = int(ledger.fact("last_" + GONE)) + 1
            clock = int(ledger.fact("clock")) + 1
            merged = _small_tail(channel, GONE)
            gone = [*new, *(id_ for content in self._read(channel, merged) for id_ in content.gone)]
            span = ObjectName.new(GONE, merged[0].first if merged else number, number, _next_round(merged))
            data = packed(self._content(channel, clock, gone=gone), channel.seal)
            with ledger.changing():
                ledger.record_gone(new, number, is_sent=False)
                ledger.note(clock=clock, last_gone=number)
            self._write(channel, {span: data}, merged, done)
            done.tombstones += len(new)
        by_commit = ledger.to_erase(channel.machine)
        if by_commit:
            hurt = [
                span
                for span in living(channel.spans(channel.machine), ROWS)
                if any(span.first <= number <= span.last for number in by_commit)
            ]
            for span in hurt:
                self._merge(channel, [span], ObjectName.new(ROWS, span.first, span.last, span.round + 1), done)
            ids = {id_ for row in by_commit.values() for id_ in row}
            ledger.drop_rows(ids)
            done.erased += len(ids)

    def _merge(
        self, channel: Channel, spans: Sequence[ObjectName], made: ObjectName, done: SharePushed | None = None
    ) -> None:
        """Replace objects by one, without forgotten rows."""
        contents = self._read(channel, spans)
        clock = max((row.clock for row in contents), default=int(channel.ledger.fact("clock")))
        gone = [id_ for row in contents for id_ in row.gone]
        data = packed(self._content(channel, clock, self._lines(contents), gone), channel.seal)
        self._write(channel, {made: data}, spans, done or SharePushed())

    def _commit(self, channel: Channel, drafts: Sequence[_Draft], done: SharePushed) -> None:
        """Write new rows, with small objects of the log's end."""
        if not drafts:
            return
        ledger = channel.ledger
        clock, number = int(ledger.fact("clock")) + 1, int(ledger.fact("last_" + ROWS)) + 1
        merged = _small_tail(channel, ROWS)
        objects: dict[ObjectName, bytes] = {}
        rows: list[tuple[str, Version]] = []
        for at, draft in enumerate(drafts):
            span, lines = ObjectName.new(ROWS, number + at, number + at), draft.lines
            if at == 0 and merged:
                span = ObjectName.new(ROWS, merged[0].first, number, _next_round(merged))
                lines = self._lines([*self._read(channel, merged), self._content(channel, clock, draft.lines)])
            objects[span] = packed(self._content(channel, clock, lines), channel.seal)
            rows += [(key, version._replace(number=number + at)) for key, version in draft.rows]
        with ledger.changing():
            ledger.record(rows, is_sent=False)
            ledger.note(clock=clock, last_rows=number + len(drafts) - 1)
        self._write(channel, objects, merged, done)
        for key, _ in rows:
            done.events += key[0] == "e"
            done.memories += key[0] == "m"
            done.usages += key[0] == "u"

    def _write(
        self, channel: Channel, objects: dict[ObjectName, bytes], replaced: Iterable[ObjectName], done: SharePushed
    ) -> None:
        channel.ledger.begin({span: len(data) for span, data in objects.items()})
        names = [span.name for span in replaced]
        there = [span for span in channel.spans(channel.machine) if span.name not in names]
        channel.engine.change(channel.machine, {span.name: data for span, data in objects.items()}, names)
        channel.ledger.settle([*there, *objects])
        done.objects += len(objects)
        done.bytes += sum(map(len, objects.values()))
        done.commits += 1

    def _read(self, channel: Channel, spans: Sequence[ObjectName]) -> list[Content]:
        data = channel.engine.read(channel.machine, [span.name for span in spans])
        return [unpacked(data[span.name], channel.machine, channel.seal) for span in spans if span.name in data]

    def _lines(self, contents: Sequence[Content]) -> list[dict[str, Any]]:
        """Return each row's last line, forgotten ones aside."""
        out: dict[str, dict[str, Any]] = {}
        for content in contents:
            for line in content.lines:
                name = id_in(line) or str(line)
                if name not in self._tombstones:
                    out[name] = line
        return list(out.values())

    @staticmethod
    def _content(
        channel: Channel, clock: int, lines: Sequence[dict[str, Any]] = (), gone: Sequence[str] = ()
    ) -> Content:
        now_ms = int(time.time() * 1000)
        return Content(channel.machine, channel.share.name, clock, now_ms, tuple(lines), tuple(gone))


def _covered(spans: Iterable[ObjectName], log: str) -> set[int]:
    return {number for span in living(spans, log) for number in range(span.first, span.last + 1)}


def _small_tail(channel: Channel, log: str) -> list[ObjectName]:
    """Return a log's last small objects, once there are many."""
    sizes = channel.ledger.own()
    tail: list[ObjectName] = []
    for span in reversed(living(channel.spans(channel.machine), log)):
        if sizes.get(span, SMALL_BYTES) >= SMALL_BYTES:
            break
        tail.insert(0, span)
    return tail if len(tail) >= MERGE_AT else []


def _next_round(spans: Sequence[ObjectName]) -> int:
    return max((span.round for span in spans), default=-1) + 1
