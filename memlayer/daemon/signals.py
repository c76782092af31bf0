"""Signals that tell the daemon to go, turned into an event by a thread of their own."""

from __future__ import annotations

import os
import signal
import threading

TOLD_TO_GO = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def set_on_signal(event: threading.Event) -> None:
    """Have `event` set when one of TOLD_TO_GO arrives. To be called in the main thread.

    Python runs a handler in the main thread, between any two of its instructions: while that thread waits for the
    event itself it may hold the event's lock, which no handler could take a second time. So the handler does nothing,
    and a thread waits for the byte that the interpreter writes when a signal comes (signal.set_wakeup_fd).
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in TOLD_TO_GO:
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        while os.read(reading, 1):
            event.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()
