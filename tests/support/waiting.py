"""Waiting for what another process or thread does."""

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")
SELDOM_S = 0.25


def wait_for(
    condition: Callable[[], Seen], awaited: str = "", *, within_s: float = 20.0, every_s: float = 0.02
) -> Seen:
    """Return the first true value of `condition`. Raises AssertionError, naming `awaited`, after `within_s`.

    The longer it takes, the less often it looks: a look may be a verb, and slows down the event that it waits for.
    """
    began = time.monotonic()
    while True:
        seen = condition()
        if seen:
            return seen
        waited_s = time.monotonic() - began
        assert waited_s < within_s, f"not within {within_s:g} s: {awaited or condition}"
        time.sleep(max(every_s, min(waited_s / 5, SELDOM_S)))
