"""Priority of answers over background work."""

from __future__ import annotations

import time

GOES_FIRST_S = 0.08  # a query and the search that follows it


class GivingWay:
    """Answers call `announce`; background work calls `wait` between two pieces. Thread-safe."""

    def __init__(self) -> None:
        self._until = 0.0

    def announce(self) -> None:
        """Note that an answer is being waited for."""
        self._until = time.monotonic() + GOES_FIRST_S

    def wait(self) -> None:
        """Pause while an answer is being made.

        At most GOES_FIRST_S, so that the work ends however many questions come.
        """
        time.sleep(min(GOES_FIRST_S, max(0.0, self._until - time.monotonic())))
