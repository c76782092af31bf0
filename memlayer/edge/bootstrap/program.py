"""Whether a running program was replaced or removed on disk.

A reinstall or a `git pull` changes files without another version: whatever is imported afterwards would not fit, or be
gone.
"""

from __future__ import annotations

import os

from memlayer.edge.bootstrap.runtime import plugin_root

LOOK_S = 5.0
ENDS = "memlayer was replaced or removed, so this ends: start it again"


class Program:
    """The modules when a process began, and at the last look."""

    def __init__(self) -> None:
        self._first = self._last = _stamp()

    def is_changed(self) -> bool:
        """Return whether files are others than those that run."""
        return _stamp() != self._first

    def is_replaced(self) -> bool:
        """Return whether other files have settled since the last look."""
        before, self._last = self._last, _stamp()
        return self._last == before != self._first


def _stamp() -> frozenset[tuple[str, int, int]]:
    """Return name, time and size of each module."""
    found, folders = set(), [os.path.join(plugin_root(), "memlayer")]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.name.endswith(".py"):
                        about = entry.stat()
                        found.add((entry.path, about.st_mtime_ns, about.st_size))
                    elif entry.is_dir(follow_symlinks=False) and entry.name != "__pycache__":
                        folders.append(entry.path)
        except OSError:  # gone, or going
            continue
    return frozenset(found)
