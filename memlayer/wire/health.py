"""Whether memory has been failing, from files alone: what hooks logged, what waits in the spool, what was set aside.

Standard library only: a hook without a daemon asks this too.
"""

from __future__ import annotations

import json
import os

from memlayer.wire import paths, spool

DAY_S = 86_400.0
LOG_TAIL_BYTES = 400_000
STUCK_S = 3_600.0  # a spool file this old is waiting for a daemon that does not come or cannot take it
FEW = 3  # so many late or failed calls in a day happen on a busy machine

# What hook.log says (hook.fallback, hook.main) -> what it means for the person.
_LATE = ("daemon late", "daemon kept")
_ALONE = ("daemon refused", "daemon absent")


class Trouble:
    """Counts of the last day. lost: calls that raised, so that their event may be gone. late: no answer in time.
    alone: kept by the hook itself. unread: payloads without an event. waiting, oldest_s: the spool. aside: quarantine.
    """

    __slots__ = ("alone", "aside", "last_error", "late", "lost", "oldest_s", "unread", "waiting")

    def __init__(self) -> None:
        self.lost = self.late = self.alone = self.unread = self.waiting = self.aside = 0
        self.oldest_s = 0.0
        self.last_error = ""


def trouble(home: str, now_s: float) -> Trouble:
    """What went wrong in the 24 hours before now_s (Unix time). Never raises on damaged logs."""
    found = Trouble()
    for entry in _entries(paths.hook_log(home) + ".1", now_s) + _entries(paths.hook_log(home), now_s):
        what = entry.get("what")
        if what == "failed":
            found.lost += 1
            found.last_error = str(entry.get("error") or "")[:80]
        elif what in _LATE:
            found.late += 1
        elif what in _ALONE:
            found.alone += 1
        else:
            found.unread += 1
    for path in spool.waiting(home):
        try:
            age_s = now_s - os.lstat(path).st_mtime
        except FileNotFoundError:  # taken in meanwhile
            continue
        found.waiting += 1
        found.oldest_s = max(found.oldest_s, age_s)
    found.aside = len(spool.quarantined(home))
    return found


def sentence(found: Trouble) -> str:
    """One line for the person, the gravest first; "" when nothing needs them."""
    if found.lost:
        cause = " (%s)" % found.last_error if found.last_error else ""
        return "memlayer: %d hook calls failed in the last day%s; turns may be lost." % (found.lost, cause)
    if found.waiting and found.oldest_s > STUCK_S:
        return "memlayer: %d turns have waited %d h for the store; they are safe on disk, but not recalled." % (
            found.waiting,
            round(found.oldest_s / 3600),
        )
    if found.late > FEW:
        return "memlayer: %d prompts in the last day were answered too late to get memories." % found.late
    return ""


def notice(home: str, now_s: float) -> str:
    """`sentence` with what to do, at most once a day and home; "" otherwise. Raises OSError."""
    stamp = os.path.join(home, "health.noticed")
    try:
        age_s = now_s - os.lstat(stamp).st_mtime
    except FileNotFoundError:
        age_s = DAY_S
    if 0 <= age_s < DAY_S:
        return ""
    said = sentence(trouble(home, now_s))
    if not said:
        return ""
    paths.write_whole(stamp, b"")
    os.utime(stamp, (now_s, now_s))
    return said + " `memlayer doctor` says more."


def _entries(path: str, now_s: float) -> list[dict[str, object]]:
    """The JSON lines of a log's tail that are not older than a day."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_TAIL_BYTES))
            lines = file.read().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):  # the first line of the tail is usually cut
            continue
        at_ms = entry.get("at_ms") if isinstance(entry, dict) else None
        if isinstance(at_ms, (int, float)) and now_s - DAY_S <= at_ms / 1000 <= now_s + DAY_S:
            found.append(entry)
    return found
