"""Push, pull and state of a home's share, with its troubles."""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.errors import ShareError, UserError
from memlayer.keep.keep import Keep
from memlayer.kinds import Category
from memlayer.model import GLOBAL, Event, Memory, Usage, replace, unix_ms
from memlayer.ports import MemoryQuery, memories_by_id
from memlayer.records.projects import Projects
from memlayer.records.tombstones import TOOL
from memlayer.sharing import share as shares
from memlayer.sharing.channel import Channel
from memlayer.sharing.engine import FOLDER, Engine, kind_of, shown
from memlayer.sharing.ledger import (
    GONE,
    ROWS,
    Content,
    Ledger,
    LogReached,
    ObjectName,
    Version,
    digest_of,
    key_of,
    living,
    span_of,
    unpacked,
)
from memlayer.sharing.seal import Damaged, Seal, keep_secret, new_secret, read_secret
from memlayer.sharing.sending import Sending, Shared, is_shared
from memlayer.sharing.share import Share
from memlayer.transfer import export
from memlayer.wire.sharing import SharedMachine, SharePulled, SharePushed, ShareState

NOT_SET_UP = "nothing is shared. `memlayer share setup URL` begins it"
OTHER_KEY = "this is not the key of this share, or the share is not encrypted"
IN_USE = (
    "this share is in use already. Take its key here: `memlayer share key` on another machine prints it, "
    "`memlayer share setup URL --key-stdin` reads it; --plain joins one without encryption"
)
NOT_READ = LogReached(0, 0, "")
CLOCK_AHEAD_MS = 600_000
log = logging.getLogger(__name__)


@dataclass
class Pull:
    """Pull of one home.

    in_writer: runs a job in the thread that writes the store. forget: erases rows by their ids, and returns how many.
    """

    keep: Keep
    projects: Projects
    in_writer: Callable[[str, Callable[[], Any]], Any]
    forget: Callable[[Sequence[str]], int]

    def __post_init__(self) -> None:
        self.store, self.tombstones = self.keep.store, self.keep.tombstones

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
        with self.keep.lock:
            added = set(self.store.add_events(events))
            taken = self._newer([row for row in rows if isinstance(row, Memory)], versions, ledger, done)
            self.keep.indexer.index(self._completed(taken, added), embed=False)
            self.keep.write(taken, embed=False)
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

    def _read(self, content: Content, done: SharePulled) -> tuple[list[Shared], dict[str, int]]:
        """Return the checked rows, of this home's projects, and memories' clocks."""
        here: dict[str, str] = {GLOBAL: GLOBAL}
        unnamed: dict[str, Any] = {"keys": [], "name": ""}
        rows: list[Shared] = []
        clocks: dict[str, int] = {}
        for line in content.lines:
            try:
                clock = line.pop("clock", 0)
                row = export.record_of(line, is_newer=True)
                if isinstance(row, export.ExportedProject):
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
                or not is_shared(row, self.keep)
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


@dataclass
class Sharing:
    """The share of one home. Thread-safe.

    in_writer, forget: see Pull. on_taken: called where rows came.
    """

    home: str
    keep: Keep
    projects: Projects
    in_writer: Callable[[str, Callable[[], Any]], Any] = lambda name, job: job()
    forget: Callable[[Sequence[str]], int] = lambda ids: 0
    on_taken: Callable[[], object] = lambda: None
    open_engine: Callable[[str, str], Engine] = shares.open_engine
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def folder(self) -> str:
        return paths.share(self.home)

    def share(self) -> Share:
        """Return the share. Raises ShareError without it."""
        found = shares.read_share(self.home)
        if found is None:
            raise ShareError(NOT_SET_UP)
        return found

    # -- setting up

    def set_up(
        self, address: str, *, secret: str = "", name: str = "", is_plain: bool | None = None, by_hand: bool = False
    ) -> Share:
        """Begin to share at an address, or join a share.

        secret: the key of a share that is there, "" for a new one. is_plain: None for encrypted, or as it is.
        Raises UserError, ShareError. Then nothing has changed.
        """
        with self._lock:
            before = self.present_at(address)
            is_encrypted = not is_plain if is_plain is not None else before is None or before.is_encrypted
            engine = self._engine(address)
            engine.check()
            is_given, secret = bool(secret), secret or self._present_key()
            if is_encrypted and not secret and engine.machines():
                raise UserError(IN_USE)
            secret = (secret or new_secret()) if is_encrypted else ""
            made = before or shares.new_share(address, name=name, is_encrypted=is_encrypted, is_automatic=not by_hand)
            former = made.former or shares.former_logs(self.home, address)
            made = replace(
                made, is_encrypted=is_encrypted, is_automatic=not by_hand, name=name or made.name, former=former
            )
            try:
                _try_key(engine, Seal(secret))
            except Damaged as bad:
                raise UserError(OTHER_KEY if is_given or not is_encrypted else IN_USE) from bad
            if is_encrypted:
                keep_secret(shares.key_file(self.home), secret)
            shares.write_share(self.home, made)
            shares.forget_former(self.home)
            return made

    def present_at(self, address: str) -> Share | None:
        """Return this home's share, if it is there.

        Raises UserError, ShareError where none can be at the address.
        """
        if kind_of(address) == FOLDER:  # a look at the others is a call over the network
            self._engine(address).check()
        present = shares.read_share(self.home)
        if present is not None and present.address != address:
            raise UserError(f"{shown(present.address)} is the share of this home. `memlayer share stop` ends it first")
        return present

    def _present_key(self) -> str:
        """Return the key of the present or the former share, or ""."""
        for path in (shares.key_file(self.home), paths.former_key(self.home)):
            with suppress(ShareError):
                return read_secret(path)
        return ""

    @property
    def is_automatic(self) -> bool:
        """True if there is a share that syncs by itself. Raises ShareError."""
        share = shares.read_share(self.home)
        return share is not None and share.is_automatic

    def stop(self, *, is_deleting: bool = False) -> str:
        """End the share; return its address as it is shown. Raises ShareError.

        is_deleting: its objects go as well.
        """
        with self._lock:
            share = self.share()
            if is_deleting:
                engine = self._engine(share.address)
                engine.refresh()
                for machine in (share.machine, *share.former):
                    if machine in engine.machines():
                        engine.drop(machine)
            shares.end_share(self.home, keeps_key=not is_deleting)
            return shown(share.address)

    def key(self) -> str:
        """Return the key that a person carries to another machine. Raises ShareError."""
        if not self.share().is_encrypted:
            raise UserError("this share is not encrypted; it has no key")
        return read_secret(shares.key_file(self.home))

    # -- push and pull

    def sync(self) -> tuple[SharePushed, SharePulled]:
        """Take in, then send: waiting changes count as later. Raises ShareError."""
        pulled = self.pull()
        return self.push(), pulled

    def push(self) -> SharePushed:
        """Send all that is new, after others' tombstones. Raises ShareError."""
        with self._open("push") as channel:
            self.taking.tombstones_first(channel)
            self.sending.push(channel)
        return channel.sent

    def pull(self) -> SharePulled:
        """Take in all that other machines sent. Raises ShareError."""
        with self._open("pull") as channel:
            self.taking.all(channel)
            done = channel.taken
            if done.skipped_lines:
                channel.ledger.note(skipped_by=__version__)
            channel.ledger.note(behind=done.behind, behind_why=done.behind_why)
            if done.erased:
                self.sending.push(channel)  # the forgotten bytes leave this machine's objects as well
        return done

    def drop_machine(self, name: str) -> str:
        """Take over a lost machine's log; return its name. Raises UserError."""
        with self._open("drop") as channel:
            self.taking.all(channel)
            who = channel.ledger.machines()
            named = [row for row in channel.others() if row.startswith(name) or who.get(row, NOT_READ).who == name]
            if len(named) != 1 or not name:
                raise UserError(f"{len(named)} machines are known by that name. `memlayer share status` lists them")
            if channel.taken.behind:
                raise ShareError(f"not everything of it can be read: {channel.taken.behind_why}")
            self._inherit(channel, named[0])
        return named[0]

    def rewrite(self) -> tuple[SharePushed, bool]:
        """Send this machine's rows as a new log, remove the old.

        Returned: the push, and whether no earlier byte is left at the place. Raises ShareError.
        """
        with self._open("push") as channel:
            self.taking.tombstones_first(channel)
            former = self._rename(channel)
            self._inherit(channel, former)
            return channel.sent, channel.engine.purge()

    def _inherit(self, channel: Channel, former: str) -> None:
        """Send a log's rows as own ones, and remove it."""
        channel.ledger.inherit(former)
        self.sending.push(channel)
        if former in channel.engine.machines():
            channel.engine.drop(former)

    @property
    def sending(self) -> Sending:
        return Sending(self.keep, self.projects)

    @property
    def taking(self) -> Pull:
        return Pull(self.keep, self.projects, self.in_writer, self.forget)

    @contextmanager
    def _open(self, doing: str) -> Iterator[Channel]:
        """Open the share once, and note how it went."""
        share = self.share()
        with self._lock, self._ledger() as ledger:
            try:
                engine = self._engine(share.address)
                engine.refresh()
                channel = Channel(share, ledger, shares.seal_of(self.home, share), engine)
                if {*channel.own()} - {*ledger.own(), *ledger.own(is_sent=False)}:
                    log.warning("the share holds objects under this machine's name that it did not write")
                    ledger.note(renamed_ms=unix_ms())
                    self._rename(channel)
                if ledger.facts().get("skipped_by", __version__) != __version__:
                    ledger.read_again()  # lines of a newer version that this one may know
                    ledger.note(skipped_by=__version__)
                yield channel
                ledger.note(problem="", **{doing + "_ms": unix_ms()})
            except ShareError as bad:
                ledger.note(problem=str(bad), problem_ms=unix_ms())
                raise
            except sqlite3.Error as bad:
                raise ShareError(f"{self.folder}: the record of what was shared cannot be used ({bad})") from bad
        if channel.taken.events or channel.taken.memories:
            self.on_taken()

    def _ledger(self) -> closing[Ledger]:
        return closing(Ledger(self.folder))

    def _engine(self, address: str) -> Engine:
        return self.open_engine(address, os.path.join(self.folder, "engine"))

    def _rename(self, channel: Channel) -> str:
        """Begin a log of a new name; return the former one.

        Objects under its name that it has not written mean that the home was restored from a backup or copied to a
        second machine. The former log is another machine's from now on.
        """
        former, channel.share = channel.share, channel.share.renamed()
        channel.ledger.renamed(former.machine, unix_ms(), former.name)
        shares.write_share(self.home, channel.share)
        return former.machine

    # -- state

    def state(self) -> ShareState:
        """Return numbers about the share. Raises ShareError."""
        share = shares.read_share(self.home)
        if share is None:
            return ShareState()
        with self._lock, self._ledger() as ledger:
            facts = {name: value for name, value in ledger.facts().items() if name in ShareState.__struct_fields__}
            own = ledger.own()
            machines = [
                SharedMachine(
                    machine=machine, name=row.who, commits=row.number, written_ms=row.at_ms,
                    is_ahead=row.at_ms > unix_ms() + CLOCK_AHEAD_MS, is_former=machine in share.former,
                )
                for machine, row in ledger.machines().items()
            ]  # fmt: skip
            return ShareState(
                **facts, address=shown(share.address), machine=share.machine, name=share.name,
                is_encrypted=share.is_encrypted, is_automatic=share.is_automatic,
                has_key=not share.is_encrypted or bool(self._present_key()), to_send=self.sending.to_send(ledger),
                to_erase=len(ledger.to_erase()), waiting_uses=len(ledger.waiting()),
                objects=len(own), bytes=sum(own.values()), machines=machines,
            )  # fmt: skip


def _try_key(engine: Engine, seal: Seal) -> None:
    """Read one object of the share. Raises Damaged for another key."""
    for machine in engine.machines():
        names = [name for name in engine.names(machine) if span_of(name)][:1]
        for data in engine.read(machine, names).values():
            unpacked(data, machine, seal)
        if names:
            return
