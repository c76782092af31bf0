"""Pull: other machines' tombstones first, then their rows, like an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from memlayer.errors import ShareError, UserError
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import Category
from memlayer.model import GLOBAL, Event, Memory, Usage
from memlayer.ports import MemoryQuery, Store
from memlayer.records.projects import Projects
from memlayer.records.tombstones import TOOL, Tombstones
from memlayer.sharing.ledger import Ledger, LogReached, Version, digest_of, key_of
from memlayer.sharing.log_format import GONE, ROWS, Content, ObjectName, living, unpacked
from memlayer.sharing.seal import Damaged
from memlayer.sharing.sending import Channel, is_shared
from memlayer.transfer import export_line
from memlayer.wire.sharing import SharePulled

_KNOWN = {
    "event": export_line.EVENT, "memory": export_line.MEMORY, "usage": export_line.USAGE,
    "project": export_line.PROJECT,
}  # fmt: skip


@dataclass
class Taking:
    """Pull of one home.

    in_writer: runs a job in the thread that writes the store. forget: erases rows by their ids, and returns how many.
    """

    store: Store
    indexer: Indexer
    projects: Projects
    tombstones: Tombstones
    in_writer: Callable[[str, Callable[[], Any]], Any]
    forget: Callable[[Sequence[str]], int]

    def tombstones_first(self, channel: Channel, done: SharePulled) -> None:
        """Forget all that other machines have forgotten. Raises ShareError, StoreError."""
        for machine in self._others(channel):
            for span, content in self._unread(channel, machine, GONE, done):
                new = [id_ for id_ in content.gone if id_ not in self.tombstones]
                if new:
                    done.erased += self.in_writer("forget of another machine " + span.name, lambda: self.forget(new))  # noqa: B023
                with channel.ledger.changing():
                    channel.ledger.record_gone(content.gone, 0)
                    self._advance(channel, machine, span, content)

    def rows(self, channel: Channel, done: SharePulled) -> set[str]:
        """Take in all rows; return the ids of the projects concerned."""
        touched: set[str] = set()
        for machine in self._others(channel):
            for span, content in self._unread(channel, machine, ROWS, done):
                touched |= self.in_writer("shared " + span.name, lambda: self._take(channel, span, content, done))  # noqa: B023
        touched |= self.in_writer("shared uses", lambda: self._take_waiting(channel.ledger, done))
        return touched

    def behind(self, channel: Channel, machine: str) -> int:
        """Count the commits of a machine that were not taken in."""
        spans = living(channel.spans(machine), ROWS)
        reached = channel.ledger.reached(machine, ROWS).number
        return max(0, (spans[-1].last if spans else 0) - reached)

    def _others(self, channel: Channel) -> list[str]:
        return [machine for machine in channel.engine.machines() if machine != channel.machine]

    def _unread(
        self, channel: Channel, machine: str, log: str, done: SharePulled
    ) -> Iterator[tuple[ObjectName, Content]]:
        """Yield a machine's new objects in order, while they are whole."""
        for span in living(channel.spans(machine), log):
            reached = channel.ledger.reached(machine, log).number
            if span.last <= reached:
                continue
            try:
                if span.first > reached + 1:
                    raise Damaged("commit %d of another machine is not there yet" % (reached + 1))
                data = channel.engine.read(machine, [span.name]).get(span.name)
                if data is None:
                    raise Damaged("an object of the share has gone while it was read")
                content = unpacked(data, machine, channel.seal)
            except Damaged as bad:
                done.behind += living(channel.spans(machine), log)[-1].last - reached
                done.behind_why = str(bad)
                return
            done.bytes += len(data)
            done.commits += 1
            yield span, content

    def _advance(self, channel: Channel, machine: str, span: ObjectName, content: Content) -> None:
        ledger = channel.ledger
        ledger.advance(machine, span.log, LogReached(span.last, content.at_ms, content.name))
        ledger.note(clock=max(int(ledger.fact("clock")), content.clock))

    # -- the writer's

    def _take(self, channel: Channel, span: ObjectName, content: Content, done: SharePulled) -> set[str]:
        """Store an object's rows; return the projects' ids."""
        rows, clocks = self._read(content, done)
        events = [row for row in rows if isinstance(row, Event)]
        memories = [row for row in rows if isinstance(row, Memory)]
        usages = [row for row in rows if isinstance(row, Usage)]
        ledger = channel.ledger
        versions: dict[str, Version] = {}

        def version_of(row: Event | Memory | Usage) -> Version:
            return Version(digest_of(row), clocks.get(row.id, content.clock), content.machine, span.last)

        new_events = self._new_events(events, done)
        versions.update((key_of(row), version_of(row)) for row in events if row.id not in self.tombstones)
        with self.indexer.lock:
            added = set(self.store.add_events(new_events))
            done.events += len(added)
            taken = self._new_memories(memories, ledger, version_of, versions, done)
            self.indexer.index([*taken, *self._completed(taken, added)], embed=False)  # chunks before their memories
            self.store.put_memories(taken)
            done.memories += len(taken)
            self._take_usages(usages, ledger, done)
        versions.update((key_of(row), version_of(row)) for row in usages)
        known = ledger.versions(versions)
        with ledger.changing():
            # An event or a use that this machine sent itself stays its own: it is in its objects as well.
            ledger.record((k, row) for k, row in versions.items() if k[0] == "m" or k not in known)
            self._advance(channel, content.machine, span, content)
        return {*(row.project_id for row in taken), *(row.project_id for row in new_events)}

    def _read(self, content: Content, done: SharePulled) -> tuple[list[Event | Memory | Usage], dict[str, int]]:
        """Return the checked rows, of this home's projects, and memories' clocks."""
        here: dict[str, str] = {GLOBAL: GLOBAL}
        rows: list[Event | Memory | Usage] = []
        clocks: dict[str, int] = {}
        for line in content.lines:
            try:
                clock = line.get("clock", 0)
                row = export_line.record_of(
                    {name: _known_fields(name, value) for name, value in line.items() if name != "clock"}
                )
                if isinstance(row, export_line.ExportedProject):
                    here[row.id] = self.projects.adopt(row.id, row.entry)
                    continue
                if isinstance(row, (Event, Memory, Usage)):
                    if row.project_id not in here:
                        here[row.project_id] = self.projects.adopt(row.project_id, {"keys": [], "name": ""})
                    rows.append(replace(row, project_id=here[row.project_id]))
                    clocks[row.id] = clock if isinstance(clock, int) else 0
            except (UserError, AttributeError):
                done.skipped_lines += 1
        return rows, {id_: clock for id_, clock in clocks.items() if clock}

    def _new_events(self, events: Sequence[Event], done: SharePulled) -> list[Event]:
        """Return new events that are neither forgotten nor too old here."""
        ids = [event.id for event in events]
        known = {event.id for event in self.store.events(ids=ids, limit=len(ids) + 1)} if ids else set()
        gone = self.tombstones
        out = []
        for event in events:
            kind = TOOL if event.kind == TOOL else Category.CONVERSATION
            if event.id in known:
                done.known += 1
            elif gone.covers(asdict(event)) or gone.deleted_by_age_ms(event.at_ms, kind):
                done.forgotten += 1
            else:
                out.append(event)
        return out

    def _new_memories(
        self,
        memories: Sequence[Memory],
        ledger: Ledger,
        version_of: Callable[[Memory], Version],
        versions: dict[str, Version],
        done: SharePulled,
    ) -> list[Memory]:
        """Return the memories to store; note their versions."""
        ids = [row.id for row in memories]
        stored = {row.id: row for row in self.store.memories(MemoryQuery(ids=ids, limit=len(ids) + 1))} if ids else {}
        known = ledger.versions(map(key_of, memories))
        out = []
        for row in memories:
            if not is_shared(row, self.tombstones) or any(source in self.tombstones for source in row.source_ids):
                done.forgotten += 1
                continue
            mine, version, incoming = stored.get(row.id), known.get(key_of(row)), version_of(row)
            if mine is None:
                if self.tombstones.covers_memory(row):
                    done.forgotten += 1
                    continue
            elif digest_of(mine) == incoming.digest:
                done.known += 1
                if version is None or incoming[1:3] > version[1:3]:
                    versions[key_of(row)] = incoming
                continue
            elif version is None or version.digest != digest_of(mine):
                done.kept_own += 1  # changed here, and not sent yet: it will be, with a higher clock
                continue
            elif incoming[1:3] < version[1:3]:
                done.known += 1
                continue
            else:
                settled = mine.settled if mine.source_ids == row.source_ids else row.settled
                row = replace(row, settled=settled, level=mine.level)
            versions[key_of(row)] = incoming
            out.append(row)
        return out

    def _completed(self, taken: Sequence[Memory], added: set[str]) -> list[Memory]:
        """Return stored memories whose source events have only come now."""
        if not added:
            return []
        ids = {row.id for row in taken}
        rows = self.store.memories(MemoryQuery(source_ids=sorted(added), limit=len(added) * 10))
        return [row for row in rows if row.id not in ids]

    def _take_usages(self, usages: Sequence[Usage], ledger: Ledger, done: SharePulled) -> None:
        ids = sorted({row.memory_id for row in usages})
        known = {row.id for row in self.store.memories(MemoryQuery(ids=ids, limit=len(ids) + 1))} if ids else set()
        held = [row for row in usages if row.memory_id in known]
        self.store.put_usages(held)
        ledger.wait_for(row for row in usages if row.memory_id not in known and row.memory_id not in self.tombstones)
        done.usages += len(held)

    def _take_waiting(self, ledger: Ledger, done: SharePulled) -> set[str]:
        """Store the uses whose memory has come since."""
        waiting = {id_: Usage(**fields) for id_, fields in ledger.waiting().items()}
        if waiting:
            ids = sorted({row.memory_id for row in waiting.values()})
            known = {row.id for row in self.store.memories(MemoryQuery(ids=ids, limit=len(ids) + 1))}
            held = [row for row in waiting.values() if row.memory_id in known]
            self.store.put_usages(held)
            gone = [row.id for row in waiting.values() if row.memory_id in self.tombstones]
            ledger.waited([*(row.id for row in held), *gone])
            done.usages += len(held)
        return set()


def _known_fields(name: str, value: Any) -> Any:
    """Return a row's fields that this version knows."""
    if name not in _KNOWN or not isinstance(value, dict):
        raise ShareError("a line of another version")
    return {key: field for key, field in value.items() if key in _KNOWN[name]}
