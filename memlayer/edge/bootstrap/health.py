"""Find out from files alone whether memory has been failing.

Sources: errors that hooks logged, events that wait in the spool, events in quarantine. Standard library only: a hook
without a daemon asks this too.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.bootstrap import runtime
from memlayer.edge.capture import spool
from memlayer.edge.counting import counted
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import plain

DAY_S = 86_400.0
LOG_TAIL_BYTES = 400_000
STUCK_S = 3_600.0  # a spool file this old is waiting for a daemon that does not come or cannot take it
CALLED_S = 60.0  # a daemon that was called so long after a file was written should have taken it
FEW = 3  # so many late or failed calls in a day happen on a busy machine
MAX_CAUSE_CHARS = 160
MAX_SETUP_CHARS = 400  # the failure and its cure
MAX_SETTINGS_CHARS = 1_000  # five mistakes, and what has its default

# Entries of hook.log (hook.fallback, hook.main) by their meaning for the person.
_LATE = ("daemon late", "daemon kept")
_ALONE = ("daemon refused", "daemon absent")
PREPARING = b"preparing\n"  # content of `setup.noticed` from a setup's notice to its end
READY = "memlayer is ready: memories are recalled from now on, and turns in the meantime are kept."
CALLS = ("wake.stamp", "setup.stamp")  # written when a hook calls a daemon or its setup (hook.fallback)


class Trouble:
    """Counts of the last day, and causes.

    lost: calls that raised, so that their event may be gone. late: no answer in time. alone: kept by the hook itself.
    unread: payloads without an event. waiting, oldest_s: the spool. aside: quarantine, aside_new: quarantined in the
    last day. stuck: events that wait although daemons were called since. cause: the reason, if a log names it. setup:
    why the last setup failed.
    """

    def __init__(self) -> None:
        self.lost = self.late = self.late_prompts = self.alone = self.unread = 0
        self.waiting = self.stuck = self.aside = self.aside_new = 0
        self.oldest_s = 0.0
        self.last_error = self.aside_why = self.cause = self.setup = ""


def trouble(home: str, now_s: float) -> Trouble:
    """Return the trouble of the 24 hours before now_s (Unix time)."""
    report = Trouble()
    report.setup = runtime.setup_failure(home) or ""
    for entry in entries(paths.hook_log(home) + ".1", now_s) + entries(paths.hook_log(home), now_s):
        message = entry.get("what")
        if message == "failed":
            report.lost += 1
            report.last_error = str(entry.get("error") or "")[:80]
        elif message in _LATE:
            report.late += 1
            report.late_prompts += entry.get("hook") == "user_prompt_submit"
        elif message in _ALONE:
            report.alone += 1
        else:
            report.unread += 1
    called_s = max(_written_s(os.path.join(home, stamp)) for stamp in CALLS)
    for path in spool.waiting(home):
        try:
            age_s = now_s - os.lstat(path).st_mtime
        except FileNotFoundError:  # taken in meanwhile
            continue
        report.waiting += 1
        # An event written just before the machine went to sleep is not stuck: nobody was called since.
        report.stuck += age_s > STUCK_S and called_s > now_s - age_s + CALLED_S
        report.oldest_s = max(report.oldest_s, age_s)
    for name, reason in spool.quarantined(home):
        report.aside += 1
        # The file keeps the time of its event. Its reason was written when it was set aside.
        if now_s - _written_s(os.path.join(paths.quarantine(home), name + ".reason")) < DAY_S:
            report.aside_new += 1
            report.aside_why = reason[:80]
    if report.stuck:
        report.cause = cause(home, now_s)
    return report


def cause(home: str, now_s: float) -> str:
    """Return why nothing is taken in, as setup or daemon logged it."""
    if failure := runtime.setup_failure(home):
        return failure[:MAX_CAUSE_CHARS]
    errors = [entry for entry in entries(paths.daemon_log(home), now_s) if entry.get("level") == "error"]
    # Where in the code it was is for the log.
    return str(errors[-1].get("what")).partition(" at ")[0][:MAX_CAUSE_CHARS] if errors else ""


def sentence(report: Trouble, store_error: str = "", settings_error: str = "") -> str:
    """Return one line on the gravest trouble; "" when there is none."""
    if report.lost:
        return "memlayer: %s failed in the last day%s; turns may be lost." % (
            counted(report.lost, "hook call"),
            _because(report.last_error),
        )
    if report.setup:
        return "memlayer: %s. Turns are kept on disk meanwhile, but not recalled." % _one_line(
            report.setup, MAX_SETUP_CHARS
        )
    if store_error:
        return "memlayer: the store does not open%s; turns are safe on disk, but not recalled." % _because(store_error)
    if settings_error:
        return "memlayer: the settings are wrong: %s." % _one_line(settings_error, MAX_SETTINGS_CHARS)
    if report.aside_new:
        return "memlayer: %s of the last day could not be read and %s set aside%s." % (
            counted(report.aside_new, "event"),
            "was" if report.aside_new == 1 else "were",
            _because(report.aside_why),
        )
    if report.stuck:
        return "memlayer: %s waited up to %d h for the store%s; %s on disk, but not recalled." % (
            counted(report.stuck, "event", "have"),
            round(report.oldest_s / 3600),
            _because(report.cause),
            "it is" if report.stuck == 1 else "they are",
        )
    if report.late_prompts > FEW:
        return "memlayer: %d prompts in the last day were answered too late to get memories." % report.late_prompts
    return ""


def notice(
    home: str, now_s: float, store_error: str = "", settings_error: str = "", *, is_settling: bool = False
) -> str:
    """Return `sentence` with advice, at most once a day and home.

    Once more for each setup that failed and each other settings_error. "" otherwise. is_settling: logs and spool are
    about to be settled, and do not count. Raises OSError.
    """
    stamp = os.path.join(home, "health.noticed")
    noticed_s, told = _written_s(stamp), settings_error.encode("utf-8", "replace")
    is_told = not told or _holds(stamp, told)
    if 0 <= now_s - noticed_s < DAY_S and _written_s(runtime.failure_file(home)) <= noticed_s and is_told:
        return ""
    line = sentence(Trouble() if is_settling else trouble(home, now_s), store_error, settings_error)
    if not line:
        return ""
    paths.write_whole(stamp, told)
    os.utime(stamp, (now_s, now_s))
    return line + " /memlayer:memory-doctor says more."


def _holds(path: str, content: bytes) -> bool:
    return paths.read_start(path, len(content) + 1) == content


def ready(home: str) -> str:
    """Return a line for the person, once, after a setup's notice."""
    noticed = os.path.join(home, "setup.noticed")
    try:
        if paths.read_start(noticed, len(PREPARING)) != PREPARING:
            return ""
        os.unlink(noticed)  # of two calls at once only the first succeeds
    except OSError:
        return ""
    return READY


def _because(cause: str) -> str:
    return " (%s)" % _one_line(cause, MAX_CAUSE_CHARS) if cause else ""


def _one_line(text: str, max_chars: int) -> str:
    return plain(text).replace("\n", " ")[:max_chars].rstrip(". ")


def _written_s(path: str) -> float:
    """Return the Unix time of the last write; 0 without a file."""
    try:
        return os.lstat(path).st_mtime
    except OSError:
        return 0.0


def entries(path: str, now_s: float) -> list[dict[str, object]]:
    """Return the JSON lines of a log's tail from the last day."""
    recent = []
    for line in paths.read_end(path, LOG_TAIL_BYTES).splitlines():
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        at_ms = entry.get("at_ms") if isinstance(entry, dict) else None
        if isinstance(at_ms, (int, float)) and now_s - DAY_S <= at_ms / 1000 <= now_s + DAY_S:
            recent.append(entry)
    return recent
