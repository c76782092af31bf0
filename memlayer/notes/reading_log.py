"""The record of each session's reading, on disk.

One file a session under `readings/`, mode 0600. An answer is written, with fsync, before it is applied, and its turns
count as read only afterwards. Applying it twice changes nothing. So a kill at any point neither loses nor doubles a
note, and at most one answer is paid for twice: the one that was under way.
"""

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from memlayer.edge.home import paths
from memlayer.records import small_files

MAX_REFUSED = 20  # a session
MAX_TRIES = 3  # answers that were no JSON, for the same turns
WANTED = "wanted.json"


@dataclass
class Reading:
    """The state of one session.

    read: digests of the turns that were read. event_ids: their events, for forgetting. answer: raw, of `digest`, not
    yet applied. tries: answers in vain for the turns of `digest`. tokens: in and out, of all its calls. summary: of the
    parts that were read. refused: [{kind, text, reason, at_ms}], of
    an ended memory by and ended_because for the reason. questions: [{memory_id, by, wish}]: changes that only
    the person may make.
    """

    session_id: str
    project_id: str = ""
    read: list[str] = field(default_factory=list)
    event_ids: list[str] = field(default_factory=list)
    digest: str = ""
    answer: str = ""
    tries: int = 0
    calls: int = 0
    tokens: int = 0
    notes: int = 0
    read_ms: int = 0
    gave_up: int = 0
    summary: str = ""
    refused: list[dict[str, Any]] = field(default_factory=list)
    questions: list[dict[str, str]] = field(default_factory=list)

    @property
    def retired_notes(self) -> int:
        """Memories that it retired, told in `refused` as well."""
        return sum("ended_because" in row for row in self.refused)

    @property
    def refused_notes(self) -> int:
        """Notes of the model that were not kept."""
        return len(self.refused) - self.retired_notes


class ReadingLog:
    """The readings of a home. Thread-safe.

    Every write is on disk when it returns. Raises OSError.
    """

    def __init__(self, home: str) -> None:
        self._files = small_files.Folder(paths.readings(home), Reading)
        self._wanted = os.path.join(paths.readings(home), WANTED)
        self._lock = threading.RLock()

    def get(self, session_id: str) -> Reading:
        """Return a session's reading, a new one for none."""
        with self._lock:
            return self._files.get(session_id) or Reading(session_id)

    def put(self, reading: Reading) -> None:
        """Write a reading."""
        reading.refused = reading.refused[-MAX_REFUSED:]
        with self._lock:
            self._files.put(reading.session_id, reading)

    def all(self) -> list[Reading]:
        """Return every readable reading."""
        return list(self._files.all())

    def want(self, session_ids: Iterable[str]) -> None:
        """Have earlier sessions read that would otherwise be left alone."""
        with self._lock:
            wanted = list(dict.fromkeys([*self.wanted(), *session_ids]))
            small_files.write(self._wanted, wanted)

    def wanted(self) -> list[str]:
        """Return the ids of want(), in its order."""
        return small_files.read(self._wanted, list[str]) or []

    def unwant(self, session_ids: Iterable[str] | None = None) -> None:
        """Take sessions off that list; None: all."""
        with self._lock:
            gone = None if session_ids is None else set(session_ids)
            wanted = self.wanted()
            left = [] if gone is None else [session_id for session_id in wanted if session_id not in gone]
            if left != wanted:
                small_files.write(self._wanted, left)

    def forget(self, event_ids: Iterable[str]) -> None:
        """Drop every text that stems from forgotten events.

        Their turns stay read. A damaged file may hold any text, and goes.
        """
        gone = set(event_ids)
        for reading in self.all():
            if gone.intersection(reading.event_ids):
                reading.refused, reading.answer, reading.summary = [], "", ""
                reading.event_ids = [event_id for event_id in reading.event_ids if event_id not in gone]
                self.put(reading)
        self._files.drop_damaged()
