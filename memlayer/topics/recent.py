"""The last day's turns, and when topics are made of them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memlayer.model import Memory

DAY_MS = 24 * 3_600_000
HOUR_MS = 3_600_000
IDLE_MS = 30 * 60_000
MAX_EVENTS = 100


def within_a_day(turns: Sequence[Memory], now_ms: int) -> list[Memory]:
    """Return the turns of a day, newest first, at most MAX_EVENTS."""
    return [turn for turn in turns if now_ms - turn.at_ms < DAY_MS][:MAX_EVENTS]


def is_due(last_ms: int, said_ms: int, turns: Callable[[], int], now_ms: int) -> bool:
    """Return whether topics are to be made again.

    An hour after the last time, after MAX_EVENTS turns, or when nobody has said anything for half an hour. Never while
    nothing new was said. last_ms: of the last time, 0 for never. turns: counts those since.
    """
    if said_ms <= last_ms:
        return False
    return now_ms - last_ms >= HOUR_MS or now_ms - said_ms >= IDLE_MS or turns() >= MAX_EVENTS
