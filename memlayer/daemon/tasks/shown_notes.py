"""Notes that a session was shown.

They are remembered with its answer, and appended to the record on disk.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memlayer.daemon.resources.state import State
from memlayer.edge.capture.payload import COMMAND
from memlayer.edge.home import given_notes as record
from memlayer.recall import given_notes
from memlayer.recall.candidate import with_shown
from memlayer.recall.recall import Gate, Recalled
from memlayer.records.sessions import Session

log = logging.getLogger(__name__)
_record_lock = threading.Lock()


@contextmanager
def noted(
    state: State, session: Session, event: Mapping[str, Any], block: str, found: Recalled | None, due_s: float
) -> Iterator[None]:
    """Send a hook's answer inside; its notes count as shown.

    They stand in the record once it is out. found: a prompt's recall. due_s: monotonic; an answer after it, or that
    nobody takes, has shown nothing.
    """
    before = session.shown, session.explained_ms
    if block and event["kind"] in ("user", "session_start"):
        session.shown = with_shown(session.shown, found.entries) if found is not None else session.shown
        session.explained_ms = session.explained_ms or time.time_ns() // 1_000_000
        state.sessions.changed(session)
    is_delivered = False
    try:
        yield
        is_delivered = time.monotonic() < due_s
    finally:
        if not is_delivered:
            session.shown, session.explained_ms = before
        _record(state, session, event, block, found, is_delivered)


def _record(
    state: State, session: Session, event: Mapping[str, Any], block: str, found: Recalled | None, is_delivered: bool
) -> None:
    """Append the entry of a prompt or session start.

    Of a session start: one with a working set.
    """
    if event["kind"] == "user" and event["detail"] == COMMAND:
        found = Recalled("", "", Gate.COMMAND)
    if found is not None:
        entry = given_notes.of_prompt(event, session.project_id, found, is_delivered=is_delivered)
    elif event["kind"] == "session_start" and block:
        entry = given_notes.of_start(event, session.project_id, block, is_delivered=is_delivered)
    else:
        return
    try:
        with _record_lock:
            record.put(state.home, entry)
    except OSError as bad:
        log.warning("the record of given notes is not written: %s", bad.strerror)
