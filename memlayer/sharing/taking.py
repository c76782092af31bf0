"""Pull: other machines' tombstones first, then their rows, like an import."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memlayer.errors import UserError
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import Category
from memlayer.model import GLOBAL, Event, Memory, Usage, replace
from memlayer.ports import MemoryQuery, Store, memories_by_id
from memlayer.records.projects import Projects
from memlayer.records.tombstones import TOOL, Tombstones
from memlayer.sharing.channel import Channel
from memlayer.sharing.ledger import Ledger, LogReached, Version, digest_of, key_of
from memlayer.sharing.log_format import GONE, ROWS, Content, ObjectName, living
from memlayer.sharing.seal import Damaged
from memlayer.sharing.sending import Shared, is_shared
from memlayer.transfer import export_line
from memlayer.wire.sharing import SharePulled


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

    def all(self, channel: Channel) -> None:
        """Take in all that other machines sent. Raises ShareError, StoreError."""
        self.tombstones_first(channel)
        for machine in channel.others():
            for span, content in self._unread(channel, machine, ROWS):
                self.in_writer("shared " + span.name, lambda: self._take(channel, span, content))  # noqa: B023

    def tombstones_first(self, channel: Channel) -> None:
        """Forget all that other machines have forgotten. Raises ShareError, StoreError."""
        for machine in channel.others():
            for span, content in self._unread(channel, machine, GONE):
                new = [id_ for id_ in content.gone if id_ not in self.tombstones]
                if new:
                    name = "forget of another machine " + span.name
                    channel.taken.erased += self.in_writer(name, lambda: self.forget(new))  # noqa: B023
                with channel.ledger.changing():
                    channel.ledger.record_gone(content.gone)
                    self._advance(channel, span, content)

    def _unread(self, channel: Channel, machine: str, log: str) -> Iterator[tuple[ObjectName, Content]]:
        """Yield a machine's new objects in order, while they are whole."""
        spans = living(channel.spans(machine), log)
        for span in spans:
            reached = channel.ledger.reached(machine, log).number
            if span.last <= reached:
                continue
            try:
                if span.first > reached + 1:
                    raise Damaged("commit %d of another machine is not there yet" % (reached + 1))
                contents = channel.read(machine, [span])
                if not contents:
                    raise Damaged("an object of the share has gone while it was read")
            except Damaged as bad:
                channel.taken.behind += spans[-1].last - reached
                channel.taken.behind_why = str(bad)
                return
            channel.taken.commits += 1
            yield span, contents[0]

    def _advance(self, channel: Channel, span: ObjectName, content: Content) -> None:
        channel.ledger.advance(content.machine, span.log, LogReached(span.last, content.at_ms, content.name))
        channel.ledger.saw(content.clock)

    # -- the writer's

    def _take(self, channel: Channel, span: ObjectName, content: Content) -> None:
        """Store an object's rows."""
        ledger, done = channel.ledger, channel.taken
        rows, clocks = self._read(content, done)
        versions = {
            key_of(row): Version(digest_of(row), clocks.get(row.id, content.clock), content.machine, span.last)
            for row in rows
            if row.id not in self.tombstones
        }
        events = self._standing([row for row in rows if isinstance(row, Event)], done)
        with self.indexer.lock:
            added = set(self.store.add_events(events))
            taken = self._newer([row for row in rows if isinstance(row, Memory)], versions, ledger, done)
            self.indexer.index([*taken, *self._completed(taken, added)], embed=False)  # chunks before their memories
            self.store.put_memories(taken)
        ledger.wait_for(row for row in rows if isinstance(row, Usage))
        self._take_uses(ledger, done)
        known = ledger.versions(versions)
        with ledger.changing():
            # An event or a use that this machine sent itself stays its own: it is in its objects as well.
            ledger.record((key, row) for key, row in versions.items() if key[0] == "m" or key not in known)
            self._advance(channel, span, content)
        done.events += len(added)
        done.known += len(events) - len(added)
        done.memories += len(taken)
        channel.touched |= {*(row.project_id for row in taken), *(row.project_id for row in events if row.id in added)}

    def _read(self, content: Content, done: SharePulled) -> tuple[list[Shared], dict[str, int]]:
        """Return the checked rows, of this home's projects, and memories' clocks."""
        here: dict[str, str] = {GLOBAL: GLOBAL}
        unnamed: dict[str, Any] = {"keys": [], "name": ""}
        rows: list[Shared] = []
        clocks: dict[str, int] = {}
        for line in content.lines:
            try:
                clock = line.pop("clock", 0)
                row = export_line.record_of(line, is_newer=True)
                if isinstance(row, export_line.ExportedProject):
                    here[row.id] = self.projects.adopt(row.id, row.entry, machine=content.machine)
                elif isinstance(row, (Event, Memory, Usage)):
                    if row.project_id not in here:
                        here[row.project_id] = self.projects.adopt(row.project_id, unnamed, machine=content.machine)
                    rows.append(replace(row, project_id=here[row.project_id]))
                    if isinstance(clock, int) and clock:
                        clocks[row.id] = clock
            except (UserError, AttributeError):
                done.skipped_lines += 1
        return rows, clocks

    def _standing(self, events: Sequence[Event], done: SharePulled) -> list[Event]:
        """Return the events that are neither forgotten nor too old here."""
        gone = self.tombstones
        out = []
        for event in events:
            kind = TOOL if event.kind == TOOL else Category.CONVERSATION
            if gone.covers(event.fields()) or gone.deleted_by_age_ms(event.at_ms, kind):
                done.forgotten += 1
            else:
                out.append(event)
        return out

    def _newer(
        self, memories: Sequence[Memory], versions: dict[str, Version], ledger: Ledger, done: SharePulled
    ) -> list[Memory]:
        """Return the memories to store; leave those versions that hold here."""
        stored = memories_by_id(self.store, (row.id for row in memories))
        known = ledger.versions(map(key_of, memories))
        out = []
        for row in memories:
            key, mine = key_of(row), stored.get(row.id)
            incoming, version = versions.pop(key, None), known.get(key)
            if (
                incoming is None
                or not is_shared(row, self.tombstones)
                or any(source in self.tombstones for source in row.source_ids)
                or (mine is None and self.tombstones.covers_memory(row))
            ):
                done.forgotten += 1
                continue
            if mine is not None and digest_of(mine) == incoming.digest:
                done.known += 1
                if version is None or incoming[1:3] > version[1:3]:
                    versions[key] = incoming
                continue
            if mine is not None:
                if version is None or version.digest != digest_of(mine):
                    done.kept_own += 1  # changed here, and not sent yet: it will be, with a higher clock
                    continue
                if incoming[1:3] < version[1:3]:
                    done.known += 1
                    continue
                rules = mine.rules if mine.source_ids == row.source_ids else row.rules
                row = replace(row, rules=rules, level=mine.level)
            versions[key] = incoming
            out.append(row)
        return out

    def _completed(self, taken: Sequence[Memory], added: set[str]) -> list[Memory]:
        """Return stored memories whose source events have only come now."""
        if not added:
            return []
        ids = {row.id for row in taken}
        rows = self.store.memories(MemoryQuery(source_ids=sorted(added), limit=len(added) * 10))
        return [row for row in rows if row.id not in ids]

    def _take_uses(self, ledger: Ledger, done: SharePulled) -> None:
        """Store the waiting uses whose memory is here."""
        waiting = ledger.waiting()
        known = memories_by_id(self.store, (row.memory_id for row in waiting))
        held = [row for row in waiting if row.memory_id in known]
        self.store.put_usages(held)
        ledger.waited(row for row in waiting if row.memory_id in known or row.memory_id in self.tombstones)
        done.usages += len(held)
