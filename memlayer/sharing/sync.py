"""Push, pull and state of a home's share, with its troubles."""

from __future__ import annotations

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
from memlayer.indexing.indexer import Indexer
from memlayer.model import replace, unix_ms
from memlayer.ports import Store
from memlayer.records.projects import Projects
from memlayer.records.tombstones import Tombstones
from memlayer.sharing import share as shares
from memlayer.sharing.channel import Channel
from memlayer.sharing.engine import FOLDER, Engine, kind_of, shown
from memlayer.sharing.ledger import Ledger, LogReached
from memlayer.sharing.log_format import span_of, unpacked
from memlayer.sharing.seal import Damaged, Seal, keep_secret, new_secret, read_secret
from memlayer.sharing.sending import Sending
from memlayer.sharing.share import Share
from memlayer.sharing.taking import Taking
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
class Sharing:
    """The share of one home. Thread-safe.

    in_writer, forget: see Taking. on_taken: called with the ids of projects whose memories came.
    """

    home: str
    store: Store
    indexer: Indexer
    projects: Projects
    tombstones: Tombstones
    in_writer: Callable[[str, Callable[[], Any]], Any] = lambda name, job: job()
    forget: Callable[[Sequence[str]], int] = lambda ids: 0
    on_taken: Callable[[set[str]], object] = lambda project_ids: None
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

    def stop(self, *, is_deleting: bool = False) -> Share:
        """End the share; its objects stay, but for is_deleting. Raises ShareError."""
        with self._lock:
            share = self.share()
            if is_deleting:
                engine = self._engine(share.address)
                engine.refresh()
                for machine in (share.machine, *share.former):
                    if machine in engine.machines():
                        engine.drop(machine)
            shares.end_share(self.home, keeps_key=not is_deleting)
            return share

    def key(self) -> str:
        """Return the key that a person carries to another machine. Raises ShareError."""
        if not self.share().is_encrypted:
            raise UserError("this share is not encrypted; it has no key")
        return read_secret(shares.key_file(self.home))

    # -- push and pull

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
        return Sending(self.store, self.projects, self.tombstones)

    @property
    def taking(self) -> Taking:
        return Taking(self.store, self.indexer, self.projects, self.tombstones, self.in_writer, self.forget)

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
        if channel.touched:
            self.on_taken(channel.touched)

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
