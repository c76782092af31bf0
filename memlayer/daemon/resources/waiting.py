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
    _answered: dict[tuple[str, str], int] = field(default_factory=dict)  # the same for answers
    _count: int = 0  # of events
    _begun: int = 0  # of these when the last batch began
    _readable: int = 0  # of these that can be read
    _answering: set[str] = field(default_factory=set)  # ids of prompts
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def heard(self, project_id: str, session_id: str, *, is_answer: bool) -> int:
        """Note an event on disk; return how many the next batch has."""
        with self._changed:
            self._count += 1
            self._heard[project_id, session_id] = self._count
            if is_answer:
                self._answered[project_id, session_id] = self._count
            return self._count - self._begun

    @property
    def count(self) -> int:
        """Number of events that cannot be read yet."""
        with self._changed:
            return self._count - self._readable

    def holds(self, project_id: str, session_id: str) -> bool:
        """Return whether events of a session cannot be read yet."""
        with self._changed:
            return (project_id, session_id) in self._heard

    def answered(self, project_id: str) -> frozenset[str]:
        """Return a project's sessions with answers that cannot be read yet.

        Until it is answered a turn tells nobody else anything.
        """
        with self._changed:
            return frozenset(session_id for place, session_id in self._answered if place == project_id)

    def wait_readable(self, job: Future[Any], wait_s: float) -> bool:
        """Wait until a batch's events can be read, or its job ended."""
        with self._changed:
            until = self._count
        job.add_done_callback(lambda _: self._wake())
        with self._changed:
            self._changed.wait_for(lambda: self._readable >= until or job.done(), max(0.0, wait_s))
            return self._readable >= until

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    @contextmanager
    def answering(self, event_id: str) -> Iterator[None]:
        """Keep a prompt out of batches while recall answers it."""
        with self._changed:
            self._answering.add(event_id)
        try:
            yield
        finally:
            with self._changed:
                self._answering.discard(event_id)

    @contextmanager
    def batch(self) -> Iterator[Collection[str]]:
        """Take in a batch; yields the ids of events to leave out."""
        with self._changed:
            self._begun = until = self._count
            left_out = frozenset(self._answering)
        yield left_out
        with self._changed:
            self._heard = {key: number for key, number in self._heard.items() if number > until}
            self._answered = {key: number for key, number in self._answered.items() if number > until}
            self._readable = until
            self._changed.notify_all()
