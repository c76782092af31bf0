"""Push, pull and state of a home's share, with what went wrong."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.errors import ShareError, UserError
from memlayer.indexing.indexer import Indexer
from memlayer.ports import Store
from memlayer.records.projects import Projects
from memlayer.records.tombstones import Tombstones
from memlayer.sharing import share as shares
from memlayer.sharing.engine import Engine, shown
from memlayer.sharing.ledger import Ledger
from memlayer.sharing.log_format import GONE, ROWS, living, unpacked
from memlayer.sharing.seal import Damaged, Seal, keep_secret, new_secret, read_secret
from memlayer.sharing.sending import Channel, Sending
from memlayer.sharing.share import Share
from memlayer.sharing.taking import Taking
from memlayer.wire.sharing import SharedMachine, SharePulled, SharePushed, ShareState

NOT_SET_UP = "nothing is shared. `memlayer share setup URL` begins it"
OTHER_KEY = "this is not the key of this share, or the share is not encrypted"
IN_USE = (
    "this share is in use already. Take its key here: `memlayer share key` on another machine prints it, "
    "`memlayer share setup URL --key-stdin` reads it; --plain joins one without encryption"
)
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
            before = shares.read_share(self.home)
            if before is not None and before.address != address:
                raise UserError(
                    f"{shown(before.address)} is the share of this home. `memlayer share stop` ends it first"
                )
            is_encrypted = not is_plain if is_plain is not None else before is None or before.is_encrypted
            engine = self.open_engine(address, os.path.join(self.folder, "engine"))
            engine.check()
            engine.refresh()
            is_given, secret = bool(secret), secret or self._present_key()
            if is_encrypted and not secret and engine.machines():
                raise UserError(IN_USE)
            secret = (secret or new_secret()) if is_encrypted else ""
            _check_key(engine, Seal(secret), OTHER_KEY if is_given or not is_encrypted else IN_USE)
            if is_encrypted:
                keep_secret(shares.key_file(self.home), secret)
                shares.forget_former_key(self.home)
            made = before or shares.new_share(address, name=name, is_encrypted=is_encrypted, is_automatic=not by_hand)
            made = replace(made, is_encrypted=is_encrypted, is_automatic=not by_hand, name=name or made.name)
            shares.write_share(self.home, made)
            return made

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
                engine = self.open_engine(share.address, os.path.join(self.folder, "engine"))
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
            self.taking.tombstones_first(channel, SharePulled())
            return self.sending.push(channel)

    def pull(self) -> SharePulled:
        """Take in all that other machines sent. Raises ShareError."""
        with self._open("pull") as channel:
            done = SharePulled()
            self.taking.tombstones_first(channel, done)
            touched = self.taking.rows(channel, done)
            if done.skipped_lines:
                channel.ledger.note(skipped_by=__version__)
            channel.ledger.note(behind=done.behind, behind_why=done.behind_why)
            if done.erased:
                self.sending.push(channel)  # the forgotten bytes leave this machine's objects as well
        if touched:
            self.on_taken(touched)
        return done

    def drop_machine(self, name: str) -> str:
        """Take over a lost machine's log; return its name. Raises UserError."""
        with self._open("drop") as channel:
            done = SharePulled()
            self.taking.tombstones_first(channel, done)
            touched = self.taking.rows(channel, done)
            others = [machine for machine in channel.engine.machines() if machine != channel.machine]
            named = [
                machine
                for machine in others
                if machine.startswith(name) or channel.ledger.reached(machine, ROWS).who == name
            ]
            if len(named) != 1 or not name:
                raise UserError(f"{len(named)} machines are known by that name. `memlayer share status` lists them")
            if done.behind:
                raise ShareError(f"not everything of it can be read: {done.behind_why}")
            channel.ledger.inherit(named[0])
            self.sending.push(channel)
            channel.engine.drop(named[0])
        if touched:
            self.on_taken(touched)
        return named[0]

    def rewrite(self) -> tuple[SharePushed, bool]:
        """Send this machine's rows as a new log, remove the old.

        Returned: the push, and whether no earlier byte is left at the place. Raises ShareError.
        """
        with self._open("push") as channel:
            self.taking.tombstones_first(channel, SharePulled())
            former, channel = channel.machine, self._renamed(channel)
            channel.ledger.inherit(former)
            done = self.sending.push(channel)
            if former in channel.engine.machines():
                channel.engine.drop(former)
            return done, channel.engine.purge()

    @property
    def sending(self) -> Sending:
        return Sending(self.store, self.projects, self.tombstones)

    @property
    def taking(self) -> Taking:
        return Taking(self.store, self.indexer, self.projects, self.tombstones, self.in_writer, self.forget)

    @contextmanager
    def _open(self, doing: str) -> Iterator[Channel]:
        """Open the share once, and note how it went."""
        with self._lock:
            share = self.share()
            ledger = Ledger(self.folder)
            try:
                seal = shares.seal_of(self.home, share)
                engine = self.open_engine(share.address, os.path.join(self.folder, "engine"))
                engine.refresh()
                channel = self._own_name(Channel(share, ledger, seal, engine))
                if ledger.fact("skipped_by", __version__) != __version__:
                    ledger.read_again()  # lines of a newer version that this one may know
                    ledger.note(skipped_by=__version__)
                yield channel
                ledger.note(problem="", **{doing + "_ms": _now_ms()})
            except ShareError as bad:
                ledger.note(problem=str(bad), problem_ms=_now_ms())
                raise
            except sqlite3.Error as bad:
                raise ShareError(f"{self.folder}: the record of what was shared cannot be used ({bad})") from bad
            finally:
                ledger.close()

    def _own_name(self, channel: Channel) -> Channel:
        """Return the channel with a log of this home's alone.

        Objects under its name that it has not written mean that the home was restored from a backup or copied to a
        second machine: it goes on under a new name, and reads the former log as another machine's.
        """
        known = {*channel.ledger.own(), *channel.ledger.pending()}
        foreign = set(channel.spans(channel.machine)) - known
        if not foreign:
            return channel
        log.warning("the share holds %d objects under this machine's name that it did not write", len(foreign))
        channel.ledger.note(renamed_ms=_now_ms())
        return self._renamed(channel)

    def _renamed(self, channel: Channel) -> Channel:
        """Begin a log of a new name."""
        share = channel.share.renamed()
        channel.ledger.renamed(channel.machine, _now_ms(), channel.share.name)
        shares.write_share(self.home, share)
        return Channel(share, channel.ledger, channel.seal, channel.engine)

    # -- state

    def state(self) -> ShareState:
        """Return numbers about the share. Raises ShareError."""
        share = shares.read_share(self.home)
        if share is None:
            return ShareState()
        with self._lock:
            ledger = Ledger(self.folder)
            try:
                return ShareState(
                    address=shown(share.address),
                    machine=share.machine,
                    name=share.name,
                    is_encrypted=share.is_encrypted,
                    is_automatic=share.is_automatic,
                    has_key=not share.is_encrypted or bool(self._present_key()),
                    to_send=self.sending.to_send(ledger),
                    to_erase=sum(map(len, ledger.to_erase(share.machine).values())),
                    behind=int(ledger.fact("behind")),
                    behind_why=str(ledger.fact("behind_why", "")),
                    waiting_uses=len(ledger.waiting()),
                    objects=len(ledger.own()),
                    bytes=sum(ledger.own().values()),
                    push_ms=int(ledger.fact("push_ms")),
                    pull_ms=int(ledger.fact("pull_ms")),
                    problem=str(ledger.fact("problem", "")),
                    problem_ms=int(ledger.fact("problem_ms")),
                    renamed_ms=int(ledger.fact("renamed_ms")),
                    machines=[
                        SharedMachine(
                            machine=machine,
                            name=row.who,
                            commits=row.number,
                            written_ms=row.at_ms,
                            is_ahead=row.at_ms > _now_ms() + CLOCK_AHEAD_MS,
                            is_former=machine in share.former,
                        )
                        for machine, row in ledger.machines()
                    ],
                )
            finally:
                ledger.close()


def _check_key(engine: Engine, seal: Seal, problem: str) -> None:
    """Read one object of the share. Raises UserError for another key."""
    for machine in engine.machines():
        channel = Channel(Share("", machine, "", False, False, 0), None, seal, engine)  # type: ignore[arg-type]
        for span in [*living(channel.spans(machine), GONE), *living(channel.spans(machine), ROWS)][:1]:
            try:
                for data in engine.read(machine, [span.name]).values():
                    unpacked(data, machine, seal)
            except Damaged as bad:
                raise UserError(problem) from bad
            return


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
