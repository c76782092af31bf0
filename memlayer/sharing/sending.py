"""Push: new rows and tombstones, as one commit of the own log."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memlayer.keep.keep import Keep
from memlayer.kinds import KINDS
from memlayer.model import Event, Memory, Usage
from memlayer.records.projects import Projects
from memlayer.sharing.channel import Channel
from memlayer.sharing.ledger import (
    GONE,
    LOGS,
    ROWS,
    Content,
    Ledger,
    ObjectName,
    Version,
    digest_of,
    ids_in,
    key_of,
    line_of,
    living,
)

OBJECT_LINES = 5000
OBJECT_CHARS = 8_000_000  # of lines. Packed a fifth
COMMIT_OBJECTS = 8
SMALL_BYTES = 4 * 2**20  # a larger object is not merged again
MERGE_AT = 12  # small objects at the end of a log
KNOWN_FIELDS = ("name", "keys", "since_ms")  # of a project: no folder of this machine

Shared = Event | Memory | Usage
Draft = list[tuple[Shared, bytes]]  # rows of an object that is to be written, with digest_of


def is_shared(row: Shared, keep: Keep) -> bool:
    """Return whether a row travels.

    Not: pieces of files on this machine, colleagues' notes, memories that the book makes of task events, forgotten
    rows.
    """
    if row.id in keep.tombstones:
        return False
    if isinstance(row, Memory):
        return not KINDS[row.known_kind].is_local
    return True


@dataclass
class Sending:
    """Push of one home. Called from one thread."""

    keep: Keep
    projects: Projects

    def push(self, channel: Channel) -> None:
        """Send all that the share lacks. Raises ShareError, StoreError."""
        self._mend(channel)
        self._send_gone(channel)
        self._erase(channel)
        while True:
            drafts = self._drafts(channel.ledger)
            if drafts:
                self._commit(channel, drafts)
            if len(drafts) < COMMIT_OBJECTS:
                return

    def to_send(self, ledger: Ledger) -> int:
        """Count the rows and tombstones that wait."""
        waiting = ledger.unsent_gone(self.keep.tombstones.ids())
        self._scan(ledger, lambda row, digest: waiting.append(row.id))
        return len(waiting)

    def _scan(self, ledger: Ledger, consume: Callable[[Shared, bytes], object]) -> None:
        """Hand over the shared rows that the share lacks, with their digests."""
        sent: set[str] = set()

        def rows(batch: Sequence[Event] | Sequence[Memory] | Sequence[Usage]) -> None:
            known = ledger.versions(map(key_of, batch))
            used = ledger.versions("m" + row.memory_id for row in batch if isinstance(row, Usage)).keys() | sent
            for row in batch:
                key, digest = key_of(row), digest_of(row)
                is_known = key in known and known[key].digest == digest
                if is_known or not is_shared(row, self.keep):
                    continue
                if isinstance(row, Usage) and "m" + row.memory_id not in used:
                    continue
                if isinstance(row, Memory):
                    sent.add(key)
                consume(row, digest)

        self.keep.store.scan(rows)

    def _drafts(self, ledger: Ledger) -> list[Draft]:
        """Return up to COMMIT_OBJECTS objects of new rows."""
        drafts: list[Draft] = []
        chars = 0

        def consume(row: Shared, digest: bytes) -> None:
            nonlocal chars
            if not drafts or len(drafts[-1]) >= OBJECT_LINES or chars >= OBJECT_CHARS:
                if len(drafts) == COMMIT_OBJECTS:
                    return
                drafts.append([])
                chars = 0
            drafts[-1].append((row, digest))
            chars += len(getattr(row, "text", "")) + 400

        self._scan(ledger, consume)
        return drafts

    # -- commits

    def _mend(self, channel: Channel) -> None:
        """Undo a push that was cut off.

        Rows of own objects that are gone are sent again.
        """
        ledger = channel.ledger
        begun = ledger.own(is_sent=False).keys()
        cut_off = [span.name for span in channel.own() if span in begun]
        if cut_off:
            channel.engine.change(channel.machine, {}, cut_off)
        before, there = ledger.own(), channel.own()
        made: dict[ObjectName, Content] = {}
        replaced: list[ObjectName] = []
        for log in LOGS:
            held = _covered(there, log)
            ledger.disown(channel.machine, log, _covered(before, log) - held)
            last = max([ledger.last(log), *(span.last for span in there if span.log == log)])
            holes = set(range(1, last + 1)) - held
            if holes:  # readers go from commit to commit: an empty object bridges those that are gone
                span = ObjectName.new(log, min(holes), max(holes), 1)
                inner = [row for row in living(there, log) if row.first <= span.last and row.last >= span.first]
                contents = channel.read(channel.machine, inner)
                clock = max((row.clock for row in contents), default=ledger.clock)
                gone = [id_ for row in contents for id_ in row.gone]
                made[span] = channel.content(clock, self._lines(contents), gone)
                replaced += inner
        if made:
            channel.write(made, replaced)
        else:
            ledger.wrote(there)

    def _send_gone(self, channel: Channel) -> None:
        """Send tombstones."""
        ledger = channel.ledger
        new, number = ledger.unsent_gone(self.keep.tombstones.ids()), ledger.last(GONE) + 1
        if new or number == 1:
            span, merged = _next(channel, GONE, number)
            gone = [*new, *(id_ for content in channel.read(channel.machine, merged) for id_ in content.gone)]
            channel.write({span: channel.content(ledger.clock + 1, gone=gone)}, merged, gone=new)
            channel.sent.tombstones += len(new)

    def _erase(self, channel: Channel) -> None:
        """Take forgotten rows out of own objects, and rows drawn from them.

        A row that was sent again stands in several objects, a summary of a forgotten turn in any: all are read.
        """
        ids = channel.ledger.to_erase()
        for span in living(channel.own(), ROWS) if ids else ():
            [held] = channel.read(channel.machine, [span])
            if any(map(self._is_gone, held.lines)):
                made = ObjectName.new(ROWS, span.first, span.last, span.round + 1)
                channel.write({made: channel.content(held.clock, self._lines([held]), held.gone)}, [span])
        channel.ledger.drop_rows(ids)
        channel.sent.erased += len(ids)

    def _commit(self, channel: Channel, drafts: Sequence[Draft]) -> None:
        """Write new rows, with small objects of the log's end."""
        clock, number = channel.ledger.clock + 1, channel.ledger.last(ROWS) + 1
        first, merged = _next(channel, ROWS, number)
        made: dict[ObjectName, Content] = {}
        rows: list[tuple[str, Version]] = []
        for at, draft in enumerate(drafts, number):
            content = channel.content(clock, self._new_lines(draft, clock))
            if at > number:
                made[ObjectName.new(ROWS, at, at)] = content
            else:
                made[first] = channel.content(clock, self._lines([*channel.read(channel.machine, merged), content]))
            rows += [(key_of(row), Version(digest, clock, channel.machine, at)) for row, digest in draft]
        channel.write(made, merged, rows)
        for key, _ in rows:
            channel.sent.events += key[0] == "e"
            channel.sent.memories += key[0] == "m"
            channel.sent.usages += key[0] == "u"

    def _new_lines(self, draft: Draft, clock: int) -> list[dict[str, Any]]:
        """Return the lines of new rows, with their projects."""
        projects, known = self.projects.known(), set[str]()
        lines: list[dict[str, Any]] = []
        for row, _ in draft:
            entry = projects.get(row.project_id)
            if entry is not None and row.project_id not in known:
                fields = {name: entry[name] for name in KNOWN_FIELDS if name in entry}
                lines.append({"project": {"id": row.project_id, **fields}})
            known.add(row.project_id)
            lines.append(line_of(row) | ({"clock": clock} if isinstance(row, Memory) else {}))
        return lines

    def _lines(self, contents: Sequence[Content]) -> list[dict[str, Any]]:
        """Return each row's last line, forgotten ones aside."""
        lines = {(ids_in(line) or [str(line)])[0]: line for content in contents for line in content.lines}
        return [line for line in lines.values() if not self._is_gone(line)]

    def _is_gone(self, line: dict[str, Any]) -> bool:
        return any(id_ in self.keep.tombstones for id_ in ids_in(line))


def _covered(spans: Iterable[ObjectName], log: str) -> set[int]:
    return {number for span in living(spans, log) for number in range(span.first, span.last + 1)}


def _next(channel: Channel, log: str, number: int) -> tuple[ObjectName, list[ObjectName]]:
    """Return a log's next object, and the old ones within it.

    These are the small ones of its end, once they are many.
    """
    sizes = channel.ledger.own()
    tail: list[ObjectName] = []
    for span in reversed(living(channel.own(), log)):
        if sizes.get(span, SMALL_BYTES) >= SMALL_BYTES:
            break
        tail.insert(0, span)
    if len(tail) < MERGE_AT:
        return ObjectName.new(log, number, number), []
    return ObjectName.new(log, tail[0].first, number, max(span.round for span in tail) + 1), tail
