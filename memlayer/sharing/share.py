"""The share that a person set up: address, names, consent."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import time
from dataclasses import dataclass

from memlayer.edge.home import paths
from memlayer.errors import ShareError
from memlayer.model import replace
from memlayer.records import small_files
from memlayer.sharing.engine import FOLDER, GIT, Engine, Layout, kind_of
from memlayer.sharing.folder_engine import FolderEngine
from memlayer.sharing.git_engine import GitEngine
from memlayer.sharing.log_format import SHARE
from memlayer.sharing.seal import Seal, read_secret

FILE = "share.json"
MACHINE_BYTES = 8
MAX_FORMER = 20


@dataclass(frozen=True)
class Share:
    """The record of a share. Without it nothing leaves this machine.

    machine: the name of this machine's log, 16 hex digits. name: for people. former: earlier names of this home's.
    is_automatic: at a session's start and end.
    """

    address: str
    machine: str
    name: str
    is_encrypted: bool
    is_automatic: bool
    since_ms: int
    former: tuple[str, ...] = ()

    def renamed(self) -> Share:
        """Return the share with a new log."""
        former = (*self.former, self.machine)[-MAX_FORMER:]
        return replace(self, machine=new_machine(), former=former)


def new_machine() -> str:
    return secrets.token_hex(MACHINE_BYTES)


def new_share(address: str, *, name: str, is_encrypted: bool, is_automatic: bool) -> Share:
    """Return the record of a share that begins now."""
    name = " ".join((name or socket.gethostname()).split())[:60] or "a machine"
    return Share(address, new_machine(), name, is_encrypted, is_automatic, int(time.time() * 1000))


def read_share(home: str) -> Share | None:
    """Return this home's share, None while there is none. Raises ShareError."""
    try:
        return small_files.load(os.path.join(paths.share(home), FILE), Share)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as bad:
        raise ShareError("the record of the share cannot be read; `memlayer share setup URL` makes it anew") from bad


def write_share(home: str, share: Share) -> None:
    """Write the record. Raises OSError."""
    small_files.write(os.path.join(paths.share(home), FILE), share)


def key_file(home: str) -> str:
    return os.path.join(paths.share(home), "key")


def end_share(home: str, *, keeps_key: bool) -> None:
    """Remove the record first, then the rest.

    keeps_key: with the record, for joining again.
    """
    folder = paths.share(home)
    forget_former(home)
    if keeps_key:
        os.replace(os.path.join(folder, FILE), paths.former_share(home))
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, FILE))
    if keeps_key and os.path.exists(key_file(home)):
        os.replace(key_file(home), paths.former_key(home))
    shutil.rmtree(folder, ignore_errors=True)


def forget_former(home: str) -> None:
    """Delete the key and the record of a share that was stopped."""
    for path in (paths.former_key(home), paths.former_share(home)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def former_logs(home: str, address: str) -> tuple[str, ...]:
    """Return this home's logs at an address where it stopped."""
    with contextlib.suppress(OSError, ValueError):
        stopped = small_files.load(paths.former_share(home), Share)
        if stopped.address == address:
            return (*stopped.former, stopped.machine)[-MAX_FORMER:]
    return ()


def seal_of(home: str, share: Share) -> Seal:
    """Return the share's encryption. Raises ShareError without its key."""
    return Seal(read_secret(key_file(home)) if share.is_encrypted else "")


def open_engine(address: str, folder: str, layout: Layout = SHARE) -> Engine:
    """Return the engine of an address. folder: for its own files."""
    kind = kind_of(address)
    if kind == FOLDER:
        return FolderEngine(address, layout)
    if kind == GIT:
        return GitEngine(address, folder, layout)
    from memlayer.sharing.table_engine import TableEngine  # LanceDB is slow to import

    return TableEngine(address, layout)
