"""Circuit breaker: nobody waits for a server that does not answer.

After M. Nygard, Release It! (2007): a failure opens it, and a probe in the background closes it again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from memlayer.errors import EmbedderError

FIRST_PAUSE_S = 10.0
MAX_PAUSE_S = 600.0
MAX_RETRY_AFTER_S = 3600.0


class Availability:
    """Whether a server is asked, and if not why. Thread-safe.

    It may be down, so that nothing is asked, or slow, so that no query is: passages have time. clock: monotonic,
    seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._down = self._slow = ""
        self._pause_s = self._until = 0.0
        self._is_probing = False

    @property
    def problem(self) -> str:
        """Why queries are not asked, one line; "" when they are."""
        return self._down or self._slow

    def check(self, *, is_query: bool) -> None:
        """Raise EmbedderError at once where nothing is to be asked now."""
        problem = self.problem if is_query else self._down
        if problem:
            raise EmbedderError(problem)

    def failed(self, says: str, retry_after_s: float = 0.0) -> None:
        """Note a failure, one line. retry_after_s: as the server says, else 0."""
        with self._lock:
            self._down = says
            self._is_probing = False
            self._pause(max(FIRST_PAUSE_S, min(retry_after_s, MAX_RETRY_AFTER_S)))

    def late(self, says: str) -> None:
        """Note a query that missed its deadline, one line.

        The first one is probed at once: one hiccup costs one prompt its vectors, and no more.
        """
        with self._lock:
            self._is_probing = False
            self._pause(FIRST_PAUSE_S if self._slow else 0.0)
            self._slow = says

    def worked(self, *, in_time: bool) -> None:
        """Note an answer. in_time: within the deadline of a query."""
        with self._lock:
            self._down = ""
            if in_time:
                self._slow = ""
                self._pause_s = self._until = 0.0
                self._is_probing = False

    def begin_probe(self) -> bool:
        """True when a probe is due; the caller makes it."""
        with self._lock:
            if not self.problem or self._is_probing or self._clock() < self._until:
                return False
            self._is_probing = True
            return True

    def _pause(self, least_s: float) -> None:
        self._pause_s = max(least_s, min(MAX_PAUSE_S, 2 * self._pause_s))
        self._until = self._clock() + self._pause_s
