"""fsync of LanceDB's new files: LanceDB itself never calls it."""

from __future__ import annotations

import os
from pathlib import Path

# Rewritten in place by every commit, unlike all other files, which are written once under a new name.
_MUTABLE = frozenset({"latest_version_hint.json"})


def fsync_path(path: str | Path) -> None:
    """Flush a file or folder, if it exists. Raises OSError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FolderSync:
    """Flushes the new files below one table's folder; remembers the flushed ones.

    A table's files are immutable and lie in few flat folders (data, _versions, _transactions, _deletions) plus one
    folder per index, so a listing of names is enough to find new files. An index folder is complete when the
    commit that made it returns, so it is looked into only once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, set[str]] = {}

    def adopt(self) -> None:
        """Flush all files: an earlier process may have died before its flush."""
        self._names.clear()
        self.flush()

    def count(self, folder: str) -> int:
        """Count the entries of a folder at its last flush.

        folder: its path below the table's.
        """
        return len(self._names.get(os.path.join(str(self._folder), folder), ()))

    def flush(self) -> int:
        """Flush files and folders new since the last call; count fsyncs."""
        return self._flush(str(self._folder))

    def _flush(self, folder: str) -> int:
        known = self._names.get(folder)
        found: set[str] = set()
        calls = 0
        changed = known is None
        in_indices = os.path.basename(folder) == "_indices"
        for entry in os.scandir(folder):
            found.add(entry.name)
            is_new = known is None or entry.name not in known
            if entry.is_dir(follow_symlinks=False):
                if is_new or not in_indices:
                    calls += self._flush(entry.path)
                changed = changed or is_new
            elif is_new or entry.name in _MUTABLE:
                fsync_path(entry.path)
                calls += 1
                changed = True
        if known is not None and known - found:
            changed = True
        self._names[folder] = found
        if changed:
            fsync_path(folder)
            calls += 1
        return calls
