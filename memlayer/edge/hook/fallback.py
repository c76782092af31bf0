"""Keep a hook's event without a daemon: redact, spool, wake the daemon."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from memlayer.edge.bootstrap import runtime
from memlayer.edge.bootstrap.runtime import find_runtime
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from memlayer.edge.home import error_log, paths, project
from memlayer.edge.home.registry import read_working_set
from memlayer.edge.ipc.protocol import ABSENT, KEPT, REFUSED
from memlayer.edge.redaction import own_patterns

# Session starts with nothing of earlier work in the model's context. After a compaction it has some, and the text on
# disk does not tell this session's own turns from others'.
FRESH_SOURCES = ("startup", "clear")
AGAIN_AFTER_S = 2.0
SETUP_AGAIN_AFTER_S = 60.0
NOTICE = (
    "memlayer is preparing its runtime in the background (once, about a minute). "
    "Nothing is lost meanwhile; memories are recalled as soon as it is ready."
)


def keep_without_daemon(hook: str, raw: bytes, home_raw: bytes, project_raw: bytes, at_ms: int, outcome: str) -> bytes:
    """Make the event durable unless the daemon did. Return the output.

    Also starts a daemon. outcome: the result of edge.ipc.protocol.forward. Raises OSError when the disk refuses.
    """
    os.umask(0o077)
    home = os.fsdecode(home_raw)
    own_patterns.use_file(paths.own_patterns(home))
    payload = read_payload(hook, raw, project_dir=os.fsdecode(project_raw), at_ms=at_ms)
    place = project.locate(payload.folder)
    if not project.enabled(payload.folder):
        return b""
    paths.make_folder(home)
    if os.stat(home).st_uid != os.getuid():
        # The owner of the home can bend its files, and so the start of a session.
        return b""
    if outcome != KEPT and payload.event is not None:
        spool.put(home, payload.event)
    notice = ""
    with suppress(OSError):  # the event is safe. A full disk must not keep the daemon from being called
        error_log.write(paths.hook_log(home), "daemon " + outcome, hook=hook)
        if payload.problem:
            error_log.write(paths.hook_log(home), payload.problem, hook=hook)
        if hook == "session_start":
            from memlayer.edge.bootstrap import health

            # Before a daemon is called: the last daemon left the events that wait.
            notice = health.notice(home, time.time())
    if outcome in (ABSENT, REFUSED):
        setup_notice = wake(home)
        notice = notice or setup_notice
    context = ""
    if hook == "session_start" and payload.source in FRESH_SOURCES:
        context = read_working_set(home, place)
    return payload.host.output(hook, context, notice)


def wake(home: str) -> str:
    """Start the daemon, or the setup when there is no runtime.

    Waits for neither. Returns a notice for the person, once a setup. Raises OSError when the disk or the process table
    refuses.
    """
    root = runtime.plugin_root()
    python = find_runtime(home, root)
    if python is not None:
        if _due(paths.wake_stamp(home), AGAIN_AFTER_S):
            runtime.spawn_daemon(home, python)
        return ""
    if _due(os.path.join(home, "setup.stamp"), SETUP_AGAIN_AFTER_S):
        runtime.spawn_setup(home, root)
    noticed = os.path.join(home, "setup.noticed")
    if os.path.exists(noticed):
        return ""
    from memlayer.edge.bootstrap import health

    paths.write_whole(noticed, health.PREPARING)
    return NOTICE


def _due(stamp: str, after_s: float) -> bool:
    """True if the stamp is missing, old or ahead; renews it."""
    try:
        age_s = time.time() - os.lstat(stamp).st_mtime
    except FileNotFoundError:
        age_s = after_s
    if 0 <= age_s < after_s:
        return False
    flags = os.O_WRONLY | os.O_CREAT
    try:
        fd = paths.open_fd(stamp, flags)
    except OSError:  # a link, a pipe, a folder: not ours to write through
        os.unlink(stamp)
        fd = paths.open_fd(stamp, flags)
    os.close(fd)
    os.utime(stamp)
    return True
