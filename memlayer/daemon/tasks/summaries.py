"""Has summaries made of sessions that are over, also of those whose end nobody saw: one a job, so that nobody waits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from memlayer.briefing import session_summary
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.state import State
from memlayer.records.sessions import Session

log = logging.getLogger(__name__)

AfterEach = Callable[[State, set[str]], None]  # told of the projects whose memories have changed
CatchUp = Callable[[State, Session], int]  # takes from a session's transcript what its hooks missed


def submit(state: State, catch_up: CatchUp, after: AfterEach) -> None:
    """Have the writer sum up what is over, if anything is."""
    if session_summary.pending(state.sessions.all(), _now_ms()):
        state.jobs.submit("summaries", lambda: _next(state, catch_up, after))


def sum_up(state: State, session: Session, after: AfterEach) -> bool:
    """The writer's job: make a session's summary, if it is worth one; returns whether it is."""
    services = state.services.result()
    store = services.store
    said_ms = session.said_ms
    # The transcript still holds what was forgotten of this session.
    gone = services.forget.tombstones
    reads_transcript = state.settings.tools.enabled and not gone.forgot_of(session.id)
    made = session_summary.sum_up(store, session, with_transcript=reads_transcript, forgotten=gone)
    session.summarized_ms = said_ms
    state.sessions.changed(session)
    state.sessions.save_changed()
    if made is not None:
        after(state, {session.project_id})
    return made is not None


def _next(state: State, catch_up: CatchUp, after: AfterEach) -> None:
    found = session_summary.pending(state.sessions.all(), _now_ms())
    if not found:
        return
    memory.go_second()
    session = found[0]
    if not session.ended:
        catch_up(state, session)
    if sum_up(state, session, after):
        log.info("summed up a session that ended %s", "without a word" if not session.ended else "earlier")
    if len(found) > 1:
        submit(state, catch_up, after)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
