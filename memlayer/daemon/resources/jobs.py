"""Threads that do job after job, and their priority."""

import contextlib
import logging
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Any

from memlayer.errors import UserError

log = logging.getLogger(__name__)
SWITCH_S = 0.0005  # Python's own 5 ms let a recall wait that long, several times, for the writer to pause
NICENESS = 7  # the writer gets a fifth of a busy core, and all of an idle one


class Jobs:
    """A queue and its thread, which outlives failing jobs."""

    def __init__(self, name: str) -> None:
        self._queue: queue.Queue[tuple[str, Callable[[], Any], Future[Any]] | None] = queue.Queue()
        self._waiting: dict[str, Future[Any]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.running = self.progress = ""  # the job, and how far it is, for people
        self.failing: dict[str, str] = {}  # first word of a job's name -> how it failed, until one of them succeeds

    def start(self) -> None:
        self._thread.start()

    def submit(self, name: str, job: Callable[[], Any]) -> Future[Any]:
        """Run `job`; a waiting job of that name serves both callers."""
        with self._lock:
            waiting = self._waiting.get(name)
            if waiting is not None:
                return waiting
            future: Future[Any] = Future()
            self._waiting[name] = future
            self._queue.put((name, job, future))
            return future

    @property
    def pending(self) -> int:
        """Number of jobs not yet done."""
        with self._lock:
            return len(self._waiting) + bool(self.running)

    def close(self, wait_s: float) -> bool:
        """Finish the queued jobs; False if that took longer than wait_s."""
        self._queue.put(None)
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            if item is None:
                return
            name, job, future = item
            with self._lock:
                self._waiting.pop(name, None)
                self.running = name
            try:
                done = job()
                self.failing.pop(_kind(name), None)
                future.set_result(done)
            except BaseException as bad:  # the thread outlives any job, a panic in Rust too
                if not isinstance(bad, UserError):  # a person's mistake is their answer, no trouble
                    self.failing[_kind(name)] = "%s: %s" % (name, type(bad).__name__)
                    log.error("job %s failed: %s", name, where(bad))
                future.set_exception(bad)
            finally:
                with self._lock:
                    self.running = ""


def _kind(name: str) -> str:
    """Return the first word of a job's name; its subject follows."""
    return name.partition(" ")[0]


def where(bad: BaseException) -> str:
    """Return an exception's type and frames, without its message's text."""
    frames = traceback.extract_tb(bad.__traceback__ or sys.exc_info()[2])
    return "%s at %s" % (type(bad).__name__, frames_of(frames))


def frames_of(frames: Iterable[traceback.FrameSummary]) -> str:
    """Return the last frames in a line, innermost first, without values."""
    last = list(frames)[-8:]
    return " < ".join("%s:%s %s" % (os.path.basename(f.filename), f.lineno, f.name) for f in reversed(last))


def switch_often() -> None:
    """Let threads take turns ten times as often, for slow recalls."""
    sys.setswitchinterval(SWITCH_S)


def go_second() -> None:
    """Let other threads go before the calling one from now on.

    A no-op where a thread has no priority of its own. For the thread that embeds and writes. Not before the store is
    open: threads inherit this, and LanceDB's serve everybody.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with contextlib.suppress(OSError):
            if os.getpriority(os.PRIO_PROCESS, thread) < NICENESS:
                os.setpriority(os.PRIO_PROCESS, thread, NICENESS)
