"""Whose turn it is on the processor: a person waits for a recall, nobody waits for the writer."""

from __future__ import annotations

import contextlib
import os
import sys
import threading

SWITCH_S = 0.0005  # Python's own 5 ms let a recall wait that long, several times, for the writer to pause
NICENESS = 7  # the writer gets a fifth of a core that somebody else wants, and all of one that nobody wants


def switch_often() -> None:
    """Let threads take turns ten times as often as usual: halves the slowest recalls while turns are written."""
    sys.setswitchinterval(SWITCH_S)


def go_second() -> None:
    """Let other threads go before the calling one from now on. A no-op where a thread has no priority of its own.

    For the thread that embeds and writes. Not before the store is open: threads inherit this, and LanceDB's serve
    everybody.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, thread) < NICENESS:
                os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
