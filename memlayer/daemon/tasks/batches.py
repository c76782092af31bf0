"""Moments of taking events in: by batches, and for whoever asks.

An event is safe in the spool, and its own session has it in the context. So a batch comes when there is a pause, when
many wait, at a session's end, before a compaction, when the daemon leaves, and first of all when somebody asks.
"""

import contextlib
import os
import time
from concurrent import futures
from typing import Any

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import intake
from memlayer.edge.capture import spool
from memlayer.records.sessions import Session

PAUSE_S = 20.0  # since the last event
MANY = 32  # events that wait
ASKED_S = 5.0  # of a person's or a tool's question. Then the answer comes without the rest


def take_soon(state: State) -> futures.Future[Any]:
    """Have the writer take waiting events in, consolidate and publish."""
    job = state.jobs.submit("drain and publish", lambda: intake.drain_and_publish(state))
    state.waiting.taking = job
    return job


def heard(state: State, session: Session, kind: str) -> None:
    """Note a session's event that is on disk; many are taken in."""
    if state.waiting.heard(session.project_id, session.id, is_answer=kind == "assistant") >= MANY:
        take_soon(state)


def look(state: State, now_s: float) -> None:
    """Have waiting events taken in after a pause.

    now_s: Unix time. Files tell of the pause, so events that a hook spooled by itself count as well.
    """
    waiting = spool.waiting(state.home)
    if not waiting or not state.is_open:
        return
    with contextlib.suppress(OSError):
        if 0 <= now_s - os.stat(waiting[-1]).st_mtime < PAUSE_S:
            return
    take_soon(state)


def taken_in(state: State, wait_s: float) -> bool:
    """Wait for the waiting events to be taken in; False if not."""
    ends = time.monotonic() + max(0.0, wait_s)
    job = _begun(state, wait_s)
    try:
        return job is not None and job.exception(timeout=max(0.0, ends - time.monotonic())) is None
    except futures.TimeoutError:
        return False


def readable(state: State, wait_s: float) -> bool:
    """Wait until recall can read the waiting events; False if it cannot."""
    ends = time.monotonic() + max(0.0, wait_s)
    job = _begun(state, wait_s)
    return job is not None and state.waiting.wait_readable(job, ends - time.monotonic())


def _begun(state: State, wait_s: float) -> futures.Future[Any] | None:
    """Return the batch of the waiting events; None without a store."""
    futures.wait([state.services], max(0.0, wait_s))
    if not state.is_open:
        return None
    return take_soon(state) if spool.waiting(state.home) else state.waiting.taking
