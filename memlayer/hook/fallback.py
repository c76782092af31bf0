"""What a hook does when no daemon took its event: redact it, spool it, wake the daemon. The promise is the same."""

from __future__ import annotations

import os

from memlayer.core.payload import read_payload
from memlayer.core.reply import hook_reply
from memlayer.hook import log
from memlayer.hook.wake import wake
from memlayer.wire import paths, project, spool
from memlayer.wire.handover import ABSENT, KEPT, REFUSED
from memlayer.wire.working_set import read_working_set

# Session starts after which the model does not have the working set in its context.
FRESH_SOURCES = ("startup", "clear", "compact")


def keep(hook: str, raw: bytes, home_raw: bytes, project_raw: bytes, at_ms: int, came: str) -> bytes:
    """Make the event durable unless the daemon did, see that a daemon comes, and return what to print.

    came: what became of the hand-over (wire.handover). Raises OSError when neither is possible.
    """
    os.umask(0o077)
    home = os.fsdecode(home_raw)
    payload = read_payload(hook, raw, project_dir=os.fsdecode(project_raw), at_ms=at_ms)
    place = project.locate(os.fsdecode(project_raw) or payload.cwd)
    if not project.enabled(place.root):
        return b""
    paths.make_folder(home)
    if os.stat(home).st_uid != os.getuid():
        # Whoever owns the home can bend what is in it, and so what a session starts with.
        return b""
    if came != KEPT and payload.event is not None:
        spool.put(home, payload.event)
    if came != ABSENT:
        log.write(home, hook, "daemon " + came)
    if payload.problem:
        log.write(home, hook, payload.problem)
    notice = wake(home) if came in (ABSENT, REFUSED) else ""
    context = ""
    if hook == "session_start" and payload.source in FRESH_SOURCES:
        context = read_working_set(home, place)
    return hook_reply(hook, context, notice)
