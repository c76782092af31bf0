"""The last day's work across sessions, for a start in endless mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memlayer.model import Memory
from memlayer.text.context_block import Entry, cut, day_of, flatten, line_of
from memlayer.topics.profile import Profile

DAY_MS = 24 * 3_600_000
HOUR_MS = 3_600_000
IDLE_MS = 30 * 60_000
MAX_EVENTS = 100
MAX_FILES = 5
MAX_SESSIONS = 5
LINE_CHARS = 240


def within_a_day(turns: Sequence[Memory], now_ms: int) -> list[Memory]:
    """Return the turns of a day, newest first, at most MAX_EVENTS."""
    return [turn for turn in turns if now_ms - turn.at_ms < DAY_MS][:MAX_EVENTS]


def goes_on(block: str, profiles: Sequence[Profile], max_chars: int) -> str:
    """Return a start that tells the last day's sessions, the newest first.

    profiles: of these sessions, oldest first. Those that the block tells are left out, whatever their score. Nothing is
    added to a full or empty block.
    """
    untold = [row for row in reversed(profiles) if row.citation not in block] if block else []
    for row in untold[:MAX_SESSIONS]:
        files = ", ".join(sorted(row.files)[:MAX_FILES])
        text = "(last day) %s%s" % (flatten(row.best), "; files: " + files if files else "")
        line = line_of(Entry(row.citation, day_of(row.last_ms), cut(text, LINE_CHARS)), LINE_CHARS)
        if len(block) + len(line) + 1 > max_chars:
            break
        block += "\n" + line
    return block


def is_due(last_ms: int, said_ms: int, turns: Callable[[], int], now_ms: int) -> bool:
    """Return whether topics are to be made again.

    An hour after the last time, after MAX_EVENTS turns, or when nobody has said anything for half an hour. Never while
    nothing new was said. last_ms: of the last time, 0 for never. turns: counts those since.
    """
    if said_ms <= last_ms:
        return False
    return now_ms - last_ms >= HOUR_MS or now_ms - said_ms >= IDLE_MS or turns() >= MAX_EVENTS
