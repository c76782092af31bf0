"""Operations on topics, and the state of endless mode."""

import time

from memlayer.daemon.ops.requests import Progress, limit_of, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.kinds import Category
from memlayer.ports import MemoryQuery
from memlayer.topics.grouping import DAY_MS, MAX_EVENTS, Topic, line_of, topic_memories, topics_of, within_a_day
from memlayer.topics.profile import profiles, read_log
from memlayer.wire import tasks as ops

DAYS_MS = 86_400_000
SHOWN_DAYS, SHOWN_TOPICS = 30, 10
SHOWN_SESSIONS = 12  # of a topic


def topics(state: State, arguments: ops.Topics, progress: Progress) -> ops.TopicsFound:
    """Return a project's matters of some days, the largest first."""
    store = services_of(state).store
    since_ms = int(time.time() * 1000) - SHOWN_DAYS * DAYS_MS
    rows = profiles(store, limit_of(state, arguments.project_dir), since_ms)
    grouped = topics_of(rows, SHOWN_TOPICS)
    return ops.TopicsFound(topics=[_fields(topic) for topic in grouped], session_count=len(rows))


def _fields(topic: Topic) -> ops.TopicRow:
    return ops.TopicRow.of(
        topic,
        text=line_of(topic),
        words=list(topic.names),
        first_ms=topic.profiles[0].first_ms,
        members=[
            ops.TopicSession.of(row, at_ms=row.first_ms, text=row.best) for row in topic.profiles[-SHOWN_SESSIONS:]
        ],
        session_count=len(topic.profiles),
    )


def mode(state: State, arguments: ops.Mode, progress: Progress) -> ops.ModeState:
    """Return the mode, and the last day's work of a project."""
    store, now_ms = services_of(state).store, int(time.time() * 1000)
    project_id = project_of(state, arguments.project_dir)
    if arguments.mode in ("session", "endless"):
        _change(state, arguments.mode, project_id)
    query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=MAX_EVENTS)
    turns = within_a_day(store.memories(query), now_ms) if project_id else []
    rows = profiles(store, project_id, now_ms - DAY_MS, MAX_EVENTS) if project_id else []
    log = [step for step in read_log(state.home) if step.project_id == project_id]
    kept = topic_memories(services_of(state).store, project_id) if project_id else []
    return ops.ModeState(
        mode=state.settings.memory.mode,
        turns=len(turns),
        first_ms=min((turn.at_ms for turn in turns), default=0),
        score=log[-1].score if log else None,
        transition=log[-1].transition if log else "",
        kept_topics=len(kept),
        renewed_ms=state.derived.topics_ms.get(project_id, 0),
        words=list(topics_of(rows, 1)[0].names) if rows else [],
        files=sorted({path for row in rows for path in row.files})[:SHOWN_SESSIONS],
    )


def _change(state: State, chosen: str, project_id: str) -> None:
    """Change the running daemon's mode, and all projects' starts."""
    memory = state.settings.memory.model_copy(update={"mode": chosen})
    state.held.settings = state.settings.model_copy(update={"memory": memory})
    state.times.forget("topics")
    others = [other for other in state.projects.scopes() if other != project_id]
    own = [project_id] if project_id else []
    state.jobs.submit("mode %s" % chosen, lambda: derived.publish_of(state, own)).result()
    state.jobs.submit("starts in mode %s" % chosen, lambda: derived.publish_of(state, others))
