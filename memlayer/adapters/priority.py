"""Work that nobody waits for lets an answer that somebody waits for go first."""

from __future__ import annotations

import time

GOES_FIRST_S = 0.08  # a query and the search that follows it


class GivingWay:
    """Who answers calls `asked`, who has time calls `wait` between two pieces of work. Thread-safe."""

    def __init__(self) -> None:
        self._until = 0.0

    def asked(self) -> None:
        """Somebody has begun to wait for an answer."""
        self._until = time.monotonic() + GOES_FIRST_S

    def wait(self) -> None:
        """Pause while an answer is being made; at most GOES_FIRST_S, so that the work ends however much is asked."""
        time.sleep(min(GOES_FIRST_S, max(0.0, self._until - time.monotonic())))
