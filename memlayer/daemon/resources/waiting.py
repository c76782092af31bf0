"""The sessions whose events wait for the next batch."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


def _done() -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(None)
    return done


@dataclass
class Waiting:
    """The sessions with events that are not readable yet. Thread-safe.

    taking: the last batch that was asked for. In memory alone: events that a hook spooled by itself have no session
    here.
    """

    taking: Future[Any] = field(default_factory=_done)
    _heard: dict[tuple[str, str], int] = field(default_factory=dict)  # (project id, session id) -> its last event
    _count: int = 0  # of events
    _begun: int = 0  # of these when the last batch began
    _answering: set[str] = field(default_factory=set)  # ids of prompts
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def heard(self, project_id: str, session_id: str) -> int:
        """Note an event on disk; return how many the next batch has."""
        with self._lock:
            self._count += 1
            self._heard[project_id, session_id] = self._count
            return self._count - self._begun

    def of(self, project_id: str) -> frozenset[str]:
        """Return a project's sessions with events that cannot be read yet."""
        with self._lock:
            return frozenset(session_id for place, session_id in self._heard if place == project_id)

    @contextmanager
    def answering(self, event_id: str) -> Iterator[None]:
        """Keep a prompt out of batches while recall answers it."""
        with self._lock:
            self._answering.add(event_id)
        try:
            yield
        finally:
            with self._lock:
                self._answering.discard(event_id)

    @contextmanager
    def batch(self) -> Iterator[Collection[str]]:
        """Take in a batch; yields the ids of events to leave out.

        After a failure the sessions wait on.
        """
        with self._lock:
            self._begun = until = self._count
            left_out = frozenset(self._answering)
        yield left_out
        with self._lock:
            self._heard = {key: number for key, number in self._heard.items() if number > until}
