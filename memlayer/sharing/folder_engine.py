"""A share in a folder that Syncthing or a drive carries."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Collection, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from memlayer.edge.home import paths
from memlayer.errors import ShareError
from memlayer.sharing.engine import Layout, reason_of
from memlayer.sharing.log_format import SHARE, is_machine

STALE_S = 600.0  # a temporary file of a process that lives


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
