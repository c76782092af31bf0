"""Topics and continuity of projects in endless mode, kept while nothing waits."""

from __future__ import annotations

import logging
import time
from functools import partial

from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.kinds import Category
from memlayer.ports import MemoryQuery
from memlayer.topics.continuity import Portions, steps, write_log
from memlayer.topics.keeper import MONTH_MS
from memlayer.topics.profile import profiles
from memlayer.topics.recent import MAX_EVENTS, is_due

log = logging.getLogger(__name__)
LOOK_S = 60.0


def look(state: State) -> None:
    """Have due projects' topics made, in endless mode alone."""
    if state.settings.memory.mode != "endless" or not state.is_open:
        return
    if time.monotonic() - state.topics_s < LOOK_S:
        return
    state.topics_s = time.monotonic()
    newest: dict[str, int] = {}
    for session in state.sessions.all():
        if session.project_id:
            newest[session.project_id] = max(newest.get(session.project_id, 0), session.said_ms)
    now_ms = int(time.time() * 1000)
    for project_id, said_ms in newest.items():
        if now_ms - said_ms < MONTH_MS and _is_due(state, project_id, said_ms, now_ms):
            state.topics_ms[project_id] = now_ms
            state.jobs.submit("topics " + project_id, partial(renew, state, project_id))


def _is_due(state: State, project_id: str, said_ms: int, now_ms: int) -> bool:
    last_ms = state.topics_ms.get(project_id, 0)
    return is_due(last_ms, said_ms, lambda: _turns_since(state, project_id, last_ms), now_ms)


def renew(state: State, project_id: str) -> None:
    """Make a project's topics and its log. The writer's job."""
    go_second()
    services, now_ms = state.services.result(), int(time.time() * 1000)
    if services.topics.renew(project_id, now_ms):
        derived.memories_changed(state, [project_id])
    memory, of_month = state.settings.memory, profiles(services.store, project_id, now_ms - MONTH_MS)
    portions = Portions(memory.weight_topics, memory.weight_time, memory.weight_files, memory.weight_names)
    try:
        write_log(state.home, steps(project_id, of_month, portions))
    except OSError as bad:
        log.warning("the log of continuity is not written: %s", bad.strerror)


def _turns_since(state: State, project_id: str, last_ms: int) -> int:
    query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=MAX_EVENTS)
    return sum(turn.at_ms > last_ms for turn in state.services.result().store.memories(query))
