"""Topics and continuity of projects in endless mode, kept while nothing waits."""

import logging
import time
from functools import partial

from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.kinds import Category
from memlayer.ports import MemoryQuery
from memlayer.topics import grouping
from memlayer.topics.grouping import MAX_EVENTS, MONTH_MS, is_due
from memlayer.topics.profile import Portions, profiles, steps, write_log

log = logging.getLogger(__name__)
LOOK_S = 60.0


def look(state: State) -> None:
    """Have due projects' topics made, in endless mode alone."""
    if state.settings.memory.mode != "endless" or not state.is_open:
        return
    if not state.times.is_due("topics", LOOK_S):
        return
    newest: dict[str, int] = {}
    for session in state.sessions.all():
        if session.project_id:
            newest[session.project_id] = max(newest.get(session.project_id, 0), session.said_ms)
    now_ms = int(time.time() * 1000)
    for project_id, said_ms in newest.items():
        if now_ms - said_ms < MONTH_MS and _is_due(state, project_id, said_ms, now_ms):
            state.derived.topics_ms[project_id] = now_ms
            state.jobs.submit("topics " + project_id, partial(renew, state, project_id))


def _is_due(state: State, project_id: str, said_ms: int, now_ms: int) -> bool:
    last_ms = state.derived.topics_ms.get(project_id, 0)
    return is_due(last_ms, said_ms, lambda: _turns_since(state, project_id, last_ms), now_ms)


def renew(state: State, project_id: str) -> None:
    """Make a project's topics and its log. The writer's job."""
    go_second()
    services, now_ms = state.services.result(), int(time.time() * 1000)
    grouping.renew(services.keep, project_id, now_ms)
    derived.publish(state)
    of_month = profiles(services.store, project_id, now_ms - MONTH_MS)
    portions = Portions(*state.settings.memory.weights)
    try:
        write_log(state.home, steps(project_id, of_month, portions))
    except OSError as bad:
        log.warning("the log of continuity is not written: %s", bad.strerror)


def _turns_since(state: State, project_id: str, last_ms: int) -> int:
    query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=MAX_EVENTS)
    return sum(turn.at_ms > last_ms for turn in state.services.result().store.memories(query))
