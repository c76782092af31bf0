"""Waiting for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")


def wait_for(
    condition: Callable[[], Seen], awaited: str = "", *, within_s: float = 20.0, every_s: float = 0.02
) -> Seen:
    """Return the first true value of `condition`. Raises AssertionError, naming `awaited`, after `within_s`."""
    deadline = time.monotonic() + within_s
    while True:
        seen = condition()
        if seen:
            return seen
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {awaited or condition}"
        time.sleep(every_s)
