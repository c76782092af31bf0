"""Processor time that the redaction of one long text may take."""

from __future__ import annotations

import time
from _thread import _local  # `threading` costs a hook a millisecond

_BUDGET = _local()


class Overdue(Exception):
    """The time is over; the caller keeps less of the text."""


def begin(seconds: float) -> None:
    """Bound this thread's redaction from now on. seconds: 0 for no bound."""
    _BUDGET.until = time.thread_time() + seconds if seconds else 0.0


def check() -> None:
    """Raise Overdue after the time is over."""
    until = getattr(_BUDGET, "until", 0.0)
    if until and time.thread_time() > until:
        raise Overdue
