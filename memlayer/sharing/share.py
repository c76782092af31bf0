"""The share that a person set up: address, names, consent."""

import contextlib
import os
import secrets
import shutil
import socket
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from memlayer.edge.home import paths
from memlayer.errors import ShareError
from memlayer.model import replace
from memlayer.records import small_files
from memlayer.sharing.engine import FOLDER, GIT, Engine, Layout, kind_of, reason_of
from memlayer.sharing.git_engine import GitEngine
from memlayer.sharing.ledger import SHARE, is_machine
from memlayer.sharing.seal import Seal, read_secret

STALE_S = 600.0  # a temporary file of a process that lives
FILE = "share.json"
MACHINE_BYTES = 8
MAX_FORMER = 20


class FolderEngine:
    """Objects as files: `memlayer-share/<machine>/<name>`."""

    def __init__(self, address: str, layout: Layout = SHARE) -> None:
        path = unquote(urlsplit(address).path) if address.startswith("file:") else address
        self._parent, self._root, self._layout = path, os.path.join(path, layout.folder), layout

    def check(self) -> None:
        if not os.path.isdir(self._parent):
            raise ShareError(f"{self._parent}: the folder is not there; make it first, or mount its drive")
        if not os.access(self._parent, os.W_OK):
            raise ShareError(f"{self._parent}: the access is refused; check its permissions")

    def refresh(self) -> None:
        """Raise ShareError while the folder is absent."""
        if not os.path.isdir(self._parent):
            raise ShareError(f"{self._parent}: the folder is not there; a drive may not be mounted")

    def machines(self) -> list[str]:
        return sorted(filter(is_machine, self._listed(self._root)))

    def names(self, machine: str) -> list[str]:
        return [name for name in self._listed(os.path.join(self._root, machine)) if self._layout.is_object(name)]

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        out = {}
        for name in names:
            path = os.path.join(self._root, machine, name)
            data = paths.read_start(path, self._layout.max_bytes, follow_links=False)
            if data:
                out[name] = data
        return out

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        folder = os.path.join(self._root, machine)
        paths.sweep(folder, time.time(), STALE_S, 0)
        try:
            for name, data in add.items():
                paths.write_whole(os.path.join(folder, name), data)
            for name in remove:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, name))
        except OSError as bad:
            raise ShareError(f"{self._parent}: {reason_of(bad.strerror or str(bad))}") from bad

    def drop(self, machine: str) -> None:
        folder = os.path.join(self._root, machine)
        self.change(machine, {}, self._listed(folder))
        with contextlib.suppress(OSError):  # another program may have put a file there
            os.rmdir(folder)

    def purge(self) -> bool:
        return True

    def _listed(self, folder: str) -> list[str]:
        try:
            return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []
        except OSError as bad:
            raise ShareError(f"{self._parent}: {reason_of(bad.strerror or str(bad))}") from bad


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

    def renamed(self) -> "Share":
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
