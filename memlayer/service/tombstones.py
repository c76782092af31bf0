"""What was forgotten, by id only: so that a spool file or a transcript does not bring it back."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable

from memlayer.wire import paths


class Tombstones:
    """Ids of forgotten events of one home, one a line in a file. Thread-safe."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, "forgotten.txt")
        self._lock = threading.Lock()
        try:
            with open(self._path, encoding="ascii", errors="ignore") as file:
                self._ids = set(file.read().split())
        except OSError:
            self._ids = set()

    def __contains__(self, event_id: object) -> bool:
        return event_id in self._ids

    def add(self, event_ids: Iterable[str]) -> None:
        """Raises OSError; then nothing counts as forgotten."""
        with self._lock:
            ids = self._ids | set(event_ids)
            if ids != self._ids:
                paths.write_whole(self._path, "\n".join(sorted(ids)).encode("ascii", "ignore") + b"\n")
                self._ids = ids
