"""Operations that look around: events, counts by day."""

import time
from collections import Counter
from collections.abc import Sequence, Set

from memlayer.daemon.ops.requests import Progress, project_of, services_of, session_named
from memlayer.daemon.resources.state import State
from memlayer.model import EventCount
from memlayer.wire import record as ops


def events(state: State, arguments: ops.Events, progress: Progress) -> ops.EventsFound:
    """Return events of the record, newest first."""
    store, folder = services_of(state).store, arguments.project_dir
    project_id, session_id = project_of(state, folder), session_named(state, arguments.session_id)
    if folder and not project_id:
        return ops.EventsFound()
    found = store.events(
        ids=arguments.ids or None, session_id=session_id, project_id=project_id, kind=arguments.kind,
        since_ms=arguments.since_ms, before_ms=arguments.before_ms, limit=arguments.limit,
    )  # fmt: skip
    total = len(found)
    if total >= arguments.limit:
        counts = store.event_counts(project_id)
        total = sum(
            row.rows for row in counts if session_id in ("", row.session_id) and arguments.kind in ("", row.kind)
        )
    return ops.EventsFound(
        events=[
            event.as_row(ops.StoredEvent, project=state.projects.name(event.project_id)) for event in reversed(found)
        ],
        total=total,
    )


def days(state: State, arguments: ops.Days, progress: Progress) -> ops.Activity:
    """Count events by day and by session."""
    project_id = project_of(state, arguments.project_dir)
    if arguments.project_dir and not project_id:
        return ops.Activity()
    counts = services_of(state).store.event_counts(project_id, arguments.since_ms)
    by_session: Counter[str] = Counter()
    by_day: dict[str, list[EventCount]] = {}
    for row in counts:
        by_session[row.session_id] += row.rows
        by_day.setdefault(_date(row.at_ms), []).append(row)
    tokens: Counter[str] = Counter()
    sessions = {row.id: row for row in state.sessions.all() if project_id in ("", row.project_id)}
    for session in sessions.values():
        tokens[_date(session.last_ms)] += session.total_tokens or 0
    return ops.Activity(
        days=[_day(date, rows, tokens[date], sessions.keys()) for date, rows in by_day.items()],
        by_session=[ops.SessionCount(session_id=name, events=rows) for name, rows in by_session.items() if name],
    )


def _date(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def _day(date: str, rows: Sequence[EventCount], tokens: int, known: Set[str]) -> ops.DayCount:
    by_kind: Counter[str] = Counter()
    for row in rows:
        by_kind[row.kind] += row.rows
    sessions = len(known & {row.session_id for row in rows})
    return ops.DayCount(date=date, events=by_kind.total(), sessions=sessions, tokens=tokens, by_kind=dict(by_kind))
