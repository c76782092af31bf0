"""Operations that look around: events, counts by day, a map."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from memlayer.daemon.ops.requests import Progress, Table, named, project_of, services_of, session_named
from memlayer.daemon.resources.state import State
from memlayer.edge.ipc import view_ops as ops
from memlayer.model import Event, EventCount, Memory
from memlayer.ports import MemoryQuery
from memlayer.tasks.projection import MEMORY, Link
from memlayer.text.context_block import bare_id, cut, flatten

TITLE_CHARS = 90
MAX_STEPS = 3  # of a map, from its middle
MAX_LINKS = 400  # looked at for each step
HUBS = 24


def events(state: State, arguments: ops.Events, progress: Progress) -> ops.EventsFound:
    """Return events of the record, newest first."""
    store, folder = services_of(state).store, arguments.project_dir
    project_id, session_id = project_of(state, folder), session_named(state, arguments.session_id)
    if folder and not project_id:
        return {"events": [], "total": 0}
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
    return {"events": [_event(state, event) for event in reversed(found)], "total": total}


def _event(state: State, event: Event) -> ops.StoredEvent:
    return {
        "id": event.id,
        "kind": event.kind,
        "session_id": event.session_id,
        "project_id": event.project_id,
        "project": state.projects.name(event.project_id),
        "prompt_id": event.prompt_id,
        "text": event.text,
        "at_ms": event.at_ms,
        "source": event.source,
        "detail": event.detail,
    }


def days(state: State, arguments: ops.Days, progress: Progress) -> ops.Activity:
    """Count events by day and by session."""
    project_id = project_of(state, arguments.project_dir)
    if arguments.project_dir and not project_id:
        return {"days": [], "by_session": []}
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
    return {
        "days": [_day(date, rows, tokens[date]) for date, rows in by_day.items()],
        "by_session": [{"session_id": name, "events": rows} for name, rows in by_session.items() if name],
    }


def _date(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def _day(date: str, rows: Sequence[EventCount], tokens: int) -> ops.DayCount:
    by_kind: Counter[str] = Counter()
    for row in rows:
        by_kind[row.kind] += row.rows
    sessions = len({row.session_id for row in rows if row.session_id})
    return {"date": date, "events": by_kind.total(), "sessions": sessions, "tokens": tokens, "by_kind": dict(by_kind)}


# -- a map


def map_(state: State, arguments: ops.Map, progress: Progress) -> ops.MapFound:
    """Return the surroundings of a thing, nearest first.

    Each step takes the things that few others name before those that many name, so that a map does not fill with
    the surroundings of a busy file.
    """
    services, folder = services_of(state), arguments.project_dir
    graph, project_id = services.tasks.graph, project_of(state, folder)
    hubs: list[ops.MapHub] = [
        {"id": one.id, "type": one.type, "title": one.title, "edges": one.edges} for one in graph.hubs(project_id, HUBS)
    ]
    middle = _middle(state, arguments.name)
    if not middle:
        return {"middle": "", "nodes": [], "edges": [], "left_out": 0, "hubs": hubs}
    steps, links, left_out = {middle: 0}, dict[Link, None](), set[str]()
    rim = [middle]
    for step in range(1, MAX_STEPS + 1):
        found = graph.links(rim, project_id, MAX_LINKS) if rim else []
        links.update(dict.fromkeys(found))
        reached = dict.fromkeys(end for link in found for end in (link.src_id, link.dst_id) if end not in steps)
        room = max(0, arguments.limit - len(steps))
        rim = list(reached)[:room]
        left_out.update(list(reached)[room:])
        steps.update((end, step) for end in rim)
    nodes = _nodes(state, steps)
    there = {node["id"] for node in nodes}
    edges: list[ops.MapEdge] = [
        {"source": link.src_id, "rel": link.rel, "target": link.dst_id}
        for link in links
        if link.src_id in there and link.dst_id in there
    ]
    return {"middle": middle, "nodes": nodes, "edges": edges, "left_out": len(left_out - there), "hubs": hubs}


def _middle(state: State, name: str) -> str:
    """Return the id of a memory or thing by name, or ""."""
    if not name.strip():
        return ""
    services = services_of(state)
    memories = named(services.store, bare_id(name))
    return memories[0].id if memories else next(iter(services.tasks.graph.things_named(name.strip(), 1)), "")


def _nodes(state: State, steps: dict[str, int]) -> list[ops.MapNode]:
    services = services_of(state)
    things = {one.id: one for one in services.tasks.graph.things(list(steps))}
    rest = [node for node in steps if node not in things]
    memories = {row.id: row for row in _memories(state, rest)}
    nodes: list[ops.MapNode] = []
    for node, distance in steps.items():
        if node in things:
            one = things[node]
            nodes.append(_node(node, one.type, one.title, one.status, "", distance))
        elif node in memories:
            row = memories[node]
            status = "replaced" if row.superseded_by else row.kind
            nodes.append(_node(node, MEMORY, row.text, status, row.citation, distance))
    return nodes


def _memories(state: State, ids: Sequence[str]) -> Iterable[Memory]:
    return services_of(state).store.memories(MemoryQuery(ids=ids, limit=len(ids))) if ids else []


def _node(id_: str, type_: str, title: str, status: str, citation: str, steps: int) -> ops.MapNode:
    title = cut(flatten(title), TITLE_CHARS)
    return {"id": id_, "type": type_, "title": title, "status": status, "citation": citation, "steps": steps}


OPERATIONS: Table = {ops.Events: events, ops.Days: days, ops.Map: map_}
