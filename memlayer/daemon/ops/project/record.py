"""Operations that look around: events, counts by day, a map."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from memlayer.daemon.ops.requests import Progress, named, project_of, services_of, session_named
from memlayer.daemon.resources.state import State
from memlayer.model import EventCount
from memlayer.ports import memories_by_id
from memlayer.tasks.graph import MEMORY, Edge
from memlayer.tasks.keys import EntityType
from memlayer.text.context_block import bare_id, cut, flatten
from memlayer.wire import record as ops

TITLE_CHARS = 90
MAX_STEPS = 3  # of a map, from its middle
MAX_LINKS = 400  # looked at for each step
HUBS = 24


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
    for session in state.sessions.all():
        if project_id in ("", session.project_id):
            tokens[_date(session.last_ms)] += session.total_tokens or 0
    return ops.Activity(
        days=[_day(date, rows, tokens[date]) for date, rows in by_day.items()],
        by_session=[ops.SessionCount(session_id=name, events=rows) for name, rows in by_session.items() if name],
    )


def _date(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def _day(date: str, rows: Sequence[EventCount], tokens: int) -> ops.DayCount:
    by_kind: Counter[str] = Counter()
    for row in rows:
        by_kind[row.kind] += row.rows
    sessions = len({row.session_id for row in rows if row.session_id})
    return ops.DayCount(date=date, events=by_kind.total(), sessions=sessions, tokens=tokens, by_kind=dict(by_kind))


# -- a map


def map_(state: State, arguments: ops.Map, progress: Progress) -> ops.MapFound:
    """Return the surroundings of a thing, nearest first.

    Each step takes the things that few others name before those that many name, so that a map does not fill with
    the surroundings of a busy file.
    """
    services, folder = services_of(state), arguments.project_dir
    book, project_id = services.tasks, project_of(state, folder)
    hubs = [ops.MapHub.of(one, edges=one.others) for one in book.graph.hubs(project_id, HUBS)]
    middle = _middle(state, arguments.name)
    if not middle:
        return ops.MapFound(hubs=hubs)
    steps, links, left_out = {middle: 0}, dict[Edge, None](), set[str]()
    rim = [middle]
    for step in range(1, MAX_STEPS + 1):
        found = book.graph.links(rim, project_id, MAX_LINKS) if rim else []
        links.update(dict.fromkeys(found))
        reached = dict.fromkeys(end for link in found for end in (link.src_id, link.dst_id) if end not in steps)
        room = max(0, arguments.limit - len(steps))
        rim = list(reached)[:room]
        left_out.update(list(reached)[room:])
        steps.update((end, step) for end in rim)
    nodes = _nodes(state, steps)
    there = {node.id for node in nodes}
    edges = [
        ops.MapEdge(link.src_id, link.rel, link.dst_id)
        for link in links
        if link.src_id in there and link.dst_id in there
    ]
    return ops.MapFound(middle=middle, nodes=nodes, edges=edges, left_out=len(left_out - there), hubs=hubs)


def _middle(state: State, name: str) -> str:
    """Return the id of a memory or thing by name, or ""."""
    if not name.strip():
        return ""
    services = services_of(state)
    memories = named(services.store, bare_id(name))
    return memories[0].id if memories else next(iter(services.tasks.things_named(name.strip())), "")


def _nodes(state: State, steps: dict[str, int]) -> list[ops.MapNode]:
    book = services_of(state).tasks
    tasks = {task.id: task for task in book.known.by_id(steps)}
    things = {one.id: one for one in book.graph.things([node for node in steps if node not in tasks])}
    memories = memories_by_id(services_of(state).store, steps)
    nodes: list[ops.MapNode] = []
    for node, distance in steps.items():
        if node in tasks:
            nodes.append(
                ops.MapNode(node, EntityType.WORK, _short(tasks[node].title), tasks[node].status, "", distance)
            )
        elif node in things:
            nodes.append(ops.MapNode(node, things[node].type, _short(things[node].title), "", "", distance))
        elif node in memories:
            row = memories[node]
            status = row.ended_because or row.kind
            nodes.append(ops.MapNode(node, MEMORY, _short(row.text), status, row.citation, distance))
    return nodes


def _short(title: str) -> str:
    return cut(flatten(title), TITLE_CHARS)
