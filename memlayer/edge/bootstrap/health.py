"""Whether memory has been failing, from files alone: what hooks logged, what waits in the spool, what was set aside.

Standard library only: a hook without a daemon asks this too.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.bootstrap import runtime
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import plain

DAY_S = 86_400.0
LOG_TAIL_BYTES = 400_000
STUCK_S = 3_600.0  # a spool file this old is waiting for a daemon that does not come or cannot take it
CALLED_S = 60.0  # a daemon that was called so long after a file was written should have taken it
FEW = 3  # so many late or failed calls in a day happen on a busy machine
MAX_CAUSE_CHARS = 160
MAX_SETUP_CHARS = 400  # what failed, and what to do about it

# What hook.log says (hook.fallback, hook.main) -> what it means for the person.
_LATE = ("daemon late", "daemon kept")
_ALONE = ("daemon refused", "daemon absent")
PREPARING = b"preparing\n"  # what `setup.noticed` holds from the notice of a setup until it is known to be done
READY = "memlayer is ready: memories are recalled from now on, and what was said meanwhile is kept."
CALLS = ("wake.stamp", "setup.stamp")  # when a hook last called a daemon, or the setup of one (hook.wake)


class Trouble:
    """Counts of the last day. lost: calls that raised, so that their event may be gone. late: no answer in time.
    alone: kept by the hook itself. unread: payloads without an event. waiting, oldest_s: the spool. aside: quarantine,
    aside_new: what came there in the last day. stuck: what waits although daemons were called since. cause: why that
    is, if a log says so. setup: why the last setup failed.
    """

    __slots__ = (
        "alone", "aside", "aside_new", "aside_why", "cause", "last_error", "late", "late_prompts", "lost", "oldest_s",
        "setup", "stuck", "unread", "waiting",
    )  # fmt: skip

    def __init__(self) -> None:
        self.lost = self.late = self.late_prompts = self.alone = self.unread = 0
        self.waiting = self.stuck = self.aside = self.aside_new = 0
        self.oldest_s = 0.0
        self.last_error = self.aside_why = self.cause = self.setup = ""


def trouble(home: str, now_s: float) -> Trouble:
    """What went wrong in the 24 hours before now_s (Unix time). Never raises on damaged logs."""
    found = Trouble()
    found.setup = runtime.setup_failure(home) or ""
    for entry in _entries(paths.hook_log(home) + ".1", now_s) + _entries(paths.hook_log(home), now_s):
        what = entry.get("what")
        if what == "failed":
            found.lost += 1
            found.last_error = str(entry.get("error") or "")[:80]
        elif what in _LATE:
            found.late += 1
            found.late_prompts += entry.get("hook") == "user_prompt_submit"
        elif what in _ALONE:
            found.alone += 1
        else:
            found.unread += 1
    called_s = max(_written_s(os.path.join(home, stamp)) for stamp in CALLS)
    for path in spool.waiting(home):
        try:
            age_s = now_s - os.lstat(path).st_mtime
        except FileNotFoundError:  # taken in meanwhile
            continue
        found.waiting += 1
        # What was written last thing, before the machine went to sleep, is not stuck: nobody was called since.
        found.stuck += age_s > STUCK_S and called_s > now_s - age_s + CALLED_S
        found.oldest_s = max(found.oldest_s, age_s)
    for name, reason in spool.quarantined(home):
        found.aside += 1
        # The file keeps the time of its event; its reason was written when it was set aside.
        if now_s - _written_s(os.path.join(paths.quarantine(home), name + ".reason")) < DAY_S:
            found.aside_new += 1
            found.aside_why = reason[:80]
    if found.stuck:
        found.cause = cause(home, now_s)
    return found


def cause(home: str, now_s: float) -> str:
    """Why nothing is taken in, as setup or daemon last said; "" when neither did."""
    try:
        with open(runtime.failure_file(home), encoding="utf-8", errors="replace") as file:
            return file.read(MAX_CAUSE_CHARS).strip()
    except OSError:
        pass
    errors = [entry for entry in _entries(paths.daemon_log(home), now_s) if entry.get("level") == "error"]
    # Where in the code it was is for the log.
    return str(errors[-1].get("what")).partition(" at ")[0][:MAX_CAUSE_CHARS] if errors else ""


def sentence(found: Trouble, store_error: str = "", settings_error: str = "") -> str:
    """One line for the person, the gravest first; "" when nothing needs them. store_error: why the store is closed.
    settings_error: what is wrong in config.yaml."""
    if found.lost:
        return "memlayer: %s failed in the last day%s; turns may be lost." % (
            _counted(found.lost, "hook call"),
            _because(found.last_error),
        )
    if found.setup:
        return "memlayer: %s. Turns are kept on disk meanwhile, but not recalled." % _one_line(
            found.setup, MAX_SETUP_CHARS
        )
    if store_error:
        return "memlayer: the store does not open%s; turns are safe on disk, but not recalled." % _because(store_error)
    if settings_error:
        return "memlayer: the settings are wrong%s; what is valid of them holds." % _because(settings_error)
    if found.aside_new:
        return "memlayer: %s of the last day could not be read and were set aside%s." % (
            _counted(found.aside_new, "event"),
            _because(found.aside_why),
        )
    if found.stuck:
        return "memlayer: %s waited up to %d h for the store%s; they are on disk, but not recalled." % (
            _counted(found.stuck, "event") + (" has" if found.stuck == 1 else " have"),
            round(found.oldest_s / 3600),
            _because(found.cause),
        )
    if found.late_prompts > FEW:
        return "memlayer: %d prompts in the last day were answered too late to get memories." % found.late_prompts
    return ""


def _counted(number: int, noun: str) -> str:
    return "%d %s%s" % (number, noun, "" if number == 1 else "s")


def notice(
    home: str, now_s: float, store_error: str = "", settings_error: str = "", *, is_settling: bool = False
) -> str:
    """`sentence` with what to do, at most once a day and home, and for each setup that failed; "" otherwise.
    is_settling: what is in the logs and the spool is about to be made up for, and not told. Raises OSError."""
    stamp = os.path.join(home, "health.noticed")
    told_s = _written_s(stamp)
    if 0 <= now_s - told_s < DAY_S and _written_s(runtime.failure_file(home)) <= told_s:
        return ""
    said = sentence(Trouble() if is_settling else trouble(home, now_s), store_error, settings_error)
    if not said:
        return ""
    paths.write_whole(stamp, b"")
    os.utime(stamp, (now_s, now_s))
    return said + " `memlayer doctor` says more."


def ready(home: str) -> str:
    """One line for the person, once, when a setup that they were told of is done; the daemon asks, so it runs."""
    noticed = os.path.join(home, "setup.noticed")
    try:
        with open(noticed, "rb") as file:
            if file.read(len(PREPARING)) != PREPARING:
                return ""
        os.unlink(noticed)  # of two that ask at once only one succeeds
    except OSError:
        return ""
    return READY


def _because(cause: str) -> str:
    return " (%s)" % _one_line(cause, MAX_CAUSE_CHARS) if cause else ""


def _one_line(text: str, max_chars: int) -> str:
    return plain(text).replace("\n", " ")[:max_chars].rstrip(". ")


def _written_s(path: str) -> float:
    """When a file was last written, Unix time; 0 when it is missing."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


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
