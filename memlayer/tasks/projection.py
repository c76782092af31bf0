"""Rows of the projection: entities and edges of events and memories."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from memlayer.adapters.sqlite_files import in_batches, marks
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import Event, Memory, turn_memory_id
from memlayer.tasks import events as task_events
from memlayer.tasks.blockers import entity_of, in_force, with_waiting
from memlayer.tasks.keys import Entity, EntityType, artifact, entities_in, name_key, norm, task_key
from memlayer.tasks.states import Op, Placed, Status, Task, fold

MEMORY = "memory"
BLOCKERS = (EntityType.WORK, EntityType.CONDITION, EntityType.ARTIFACT)
MAX_LISTED = 200


class Rel(StrEnum):
    """The type of an edge."""

    ABOUT = "about"  # a memory is about an entity
    BLOCKED_BY = "blocked_by"
    BLOCKED_BY_SUGGESTED = "blocked_by_suggested"
    RESOLVES_TO = "resolves_to"  # a condition turned out to be a task
    RESOLVES = "resolves"  # a turn closed a task
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"
    SAID_AGAIN = "said_again"  # a turn spoke of a task, or said a statement, that an earlier session had made


# The only combinations that an edge may have: (source, relation, target).
ALLOWED = frozenset(
    {
        *((MEMORY, Rel.ABOUT, target) for target in EntityType),
        *((EntityType.WORK, rel, target) for rel in (Rel.BLOCKED_BY, Rel.BLOCKED_BY_SUGGESTED) for target in BLOCKERS),
        (EntityType.CONDITION, Rel.RESOLVES_TO, EntityType.WORK),
        (MEMORY, Rel.RESOLVES, EntityType.WORK),
        (MEMORY, Rel.SAID_AGAIN, EntityType.WORK),
        (MEMORY, Rel.SAID_AGAIN, MEMORY),
        (MEMORY, Rel.SUPERSEDES, MEMORY),
        (MEMORY, Rel.DERIVED_FROM, MEMORY),
    }
)
_OF_STEP = {Op.CREATED: Rel.ABOUT, Op.STATUS: Rel.SAID_AGAIN, Op.MENTIONED: Rel.SAID_AGAIN, Op.TITLED: Rel.SAID_AGAIN}


@dataclass(frozen=True)
class Edge:
    """A typed edge. Ends are ids of memories and entities."""

    src_type: str
    src_id: str
    rel: Rel
    dst_type: str
    dst_id: str
    project_id: str = ""
    meta: str = "{}"

    def __post_init__(self) -> None:
        if (self.src_type, self.rel, self.dst_type) not in ALLOWED:
            raise TypeError("no edge goes from %s by %s to %s" % (self.src_type, self.rel, self.dst_type))


@dataclass(frozen=True)
class Neighbour:
    """An entity beside a memory. others: how many further memories name it."""

    rel: str
    type: str
    title: str
    others: int = 0

    @property
    def told(self) -> str:
        """The entity with its relation, as a reader sees it."""
        rel = "" if self.rel == Rel.ABOUT else self.rel.replace("_", " ") + " "
        return rel + self.title + (" (%d more)" % self.others if self.others else "")


class Link(NamedTuple):
    """An edge as it is stored."""

    src_id: str
    src_type: str
    rel: str
    dst_id: str
    dst_type: str


class Thing(NamedTuple):
    """An entity on a map. edges: how many name it, if counted."""

    id: str
    type: str
    title: str
    status: str
    edges: int = 0


# -- steps and tasks


def project(base: sqlite3.Connection, rows: Sequence[Event]) -> list[Task]:
    touched: dict[str, str] = {}
    for event in rows:
        base.execute(
            "INSERT OR REPLACE INTO events VALUES (?, ?, ?, ?, ?, ?)",
            (event.id, event.project_id, event.at_ms, event.session_id, event.prompt_id, event.text),
        )
        for ordinal, row in enumerate(task_events.placed(event)):
            base.execute(
                "INSERT OR REPLACE INTO steps VALUES (?, ?, ?, ?, ?)",
                (row.step.task_id, event.at_ms, event.id, ordinal, event.project_id),
            )
            touched[row.step.task_id] = event.project_id
    for task_id in touched:
        _refold(base, task_id)
    return _told(base, touched)


def history(base: sqlite3.Connection, task_id: str) -> list[Placed]:
    query = (
        "SELECT events.* FROM events WHERE event_id IN (SELECT event_id FROM steps WHERE task_id = ?)"
        " ORDER BY at_ms, event_id"
    )
    by_event = [task_events.placed(event(row)) for row in base.execute(query, (task_id,))]
    own = [[row for row in rows if row.step.task_id == task_id] for rows in by_event]
    # Of events of one moment the one that makes the task comes first.
    own.sort(key=lambda rows: (rows[0].at_ms, all(row.step.op is not Op.CREATED for row in rows), rows[0].event_id))
    return [row for rows in own for row in rows]


def event(row: Sequence[object]) -> Event:
    event_id, project_id, at_ms, session_id, prompt_id, body = row
    return Event(str(event_id), Kind.TASK, str(session_id), str(project_id), str(prompt_id), str(body), int(str(at_ms)))


def _refold(base: sqlite3.Connection, task_id: str) -> None:
    """Make a task's rows anew from its steps."""
    steps = history(base, task_id)
    project = base.execute(
        "SELECT project_id FROM steps WHERE task_id = ? ORDER BY at_ms LIMIT 1", (task_id,)
    ).fetchone()
    task = fold(project[0], steps) if project else None
    others = _drop_task(base, task_id)
    if task is None:
        return
    for title in task.titles:
        base.execute(
            "INSERT OR IGNORE INTO entity_aliases VALUES ('task', ?, ?, ?)",
            (task_key(task.project_id, title), task.id, title == task.title),
        )
    base.execute(
        "INSERT OR REPLACE INTO entities VALUES (?, 'task', ?, ?, ?, ?, ?, ?)",
        (
            task.id, task_key(task.project_id, task.titles[0]), task.title, norm(task.title),
            task.project_id, task.status, json.dumps({"priority": task.priority, "touched_ms": task.touched_ms}),
        ),
    )  # fmt: skip
    for edge in (*_blocker_edges(base, task), *_turn_edges(task, steps)):
        _put_edge(base, edge)
    for other in others:
        for edge in _blocker_edges(base, other):
            _put_edge(base, edge)


def _drop_task(base: sqlite3.Connection, task_id: str) -> list[Task]:
    """Drop a task's rows.

    Return the tasks that share a condition that has resolved.
    """
    base.execute("DELETE FROM entities WHERE entity_id = ?", (task_id,))
    base.execute("DELETE FROM entity_aliases WHERE entity_id = ?", (task_id,))
    targets = base.execute("SELECT dst_id FROM edges WHERE src_type = 'task' AND src_id = ?", (task_id,)).fetchall()
    base.execute("DELETE FROM edges WHERE src_type = 'task' AND src_id = ?", (task_id,))
    base.execute("DELETE FROM edges WHERE dst_id = ? AND src_type = 'memory'", (task_id,))
    sharing: dict[str, None] = {}
    for (target,) in targets:
        if base.execute("DELETE FROM edges WHERE src_id = ? AND rel_type = 'resolves_to'", (target,)).rowcount:
            shared = base.execute("SELECT src_id FROM edges WHERE src_type = 'task' AND dst_id = ?", (target,))
            sharing.update((row[0], None) for row in shared)
    _drop_orphans(base, [row[0] for row in targets])
    return [task for other in sharing for task in tasks(base, "entity_id = ?", [other])]


def _blocker_edges(base: sqlite3.Connection, task: Task) -> list[Edge]:
    out = []
    for rel, blockers in ((Rel.BLOCKED_BY, task.blockers), (Rel.BLOCKED_BY_SUGGESTED, task.suggested)):
        for blocker in blockers:
            entity = entity_of(task.project_id, blocker)
            if blocker.kind != EntityType.WORK:
                _put_entity(base, entity, task.project_id)
            meta = {"raw": blocker.raw, "confidence": blocker.confidence, "candidates": list(blocker.candidates)}
            out.append(Edge(EntityType.WORK, task.id, rel, entity.type, entity.id, task.project_id, json.dumps(meta)))
            for key, target in task.resolved:
                if key == blocker.key and blocker.kind == EntityType.CONDITION:
                    resolved = json.dumps({"resolution_type": "auto_resolved"})
                    ends = (entity.type, entity.id, Rel.RESOLVES_TO, EntityType.WORK, target)
                    out.append(Edge(*ends, task.project_id, resolved))
    return out


def _turn_edges(task: Task, steps: Sequence[Placed]) -> list[Edge]:
    """Return the edges of the turns that spoke of a task."""
    out: dict[str, Rel] = {}
    for row in steps:
        if row.prompt_id and row.session_id and row.step.op in _OF_STEP:
            turn = turn_memory_id(row.session_id, row.prompt_id)
            closes = row.step.op is Op.STATUS and row.step.to == Status.DONE
            out[turn] = Rel.RESOLVES if closes else out.get(turn) or _OF_STEP[row.step.op]
    return [Edge(MEMORY, turn, rel, EntityType.WORK, task.id, task.project_id) for turn, rel in out.items()]


def tasks(base: sqlite3.Connection, where: str, given: Sequence[str]) -> list[Task]:
    ids = base.execute("SELECT entity_id, project_id FROM entities WHERE " + where, given).fetchall()
    remarks = dict(base.execute("SELECT task_id, why FROM maybe_done").fetchall())
    out = []
    for task_id, project_id in ids:
        task = fold(project_id, history(base, task_id))
        if task is not None:
            out.append(replace(in_force(base, task), maybe_done=remarks.get(task_id, "")))
    return sorted(out, key=lambda task: (-task.touched_ms, task.id))


def _told(base: sqlite3.Connection, ids: Collection[str]) -> list[Task]:
    """Return these tasks, and those that wait for them, anew."""
    ids = with_waiting(base, ids)
    rows = [row for some in in_batches(ids) for row in tasks(base, "entity_id IN (%s)" % marks(len(some)), some)]
    base.executemany("UPDATE entities SET status = ? WHERE entity_id = ?", [(row.status, row.id) for row in rows])
    return rows


# -- memories


def index(base: sqlite3.Connection, memories: Sequence[Memory], repeats: Mapping[str, Sequence[str]]) -> None:
    """Replace the entities and edges of these memories."""
    for memory in memories:
        _index(base, memory)
        for turn in repeats.get(memory.id, ()):
            _put_edge(base, Edge(MEMORY, turn, Rel.SAID_AGAIN, MEMORY, memory.id, memory.project_id))


def _index(base: sqlite3.Connection, memory: Memory) -> None:
    _drop_edges_of(base, memory.id)
    if memory.known_kind in (Kind.ENTRY, Kind.TOPIC):
        return  # their turns say the same
    for entity in entities_in(memory.project_id, memory.text, memory.files):
        _put_entity(base, entity, memory.project_id)
        _put_edge(base, Edge(MEMORY, memory.id, Rel.ABOUT, entity.type, entity.id, memory.project_id))
    if memory.known_kind is Kind.TASK:
        return  # a task's steps say which memories it hangs together with
    if memory.superseded_by not in ("", memory.id):
        _put_edge(base, Edge(MEMORY, memory.superseded_by, Rel.SUPERSEDES, MEMORY, memory.id, memory.project_id))
    if memory.category is not Category.CONVERSATION and memory.prompt_id and not KINDS[memory.known_kind].of_session:
        turn = turn_memory_id(memory.session_id, memory.prompt_id)
        _put_edge(base, Edge(MEMORY, memory.id, Rel.DERIVED_FROM, MEMORY, turn, memory.project_id))


def _drop_edges_of(base: sqlite3.Connection, memory_id: str) -> None:
    """Drop the edges that a memory itself gave rise to."""
    own = "src_type = 'memory' AND src_id = ? AND rel_type IN ('about', 'derived_from') AND dst_type != 'task'"
    targets = [row[0] for row in base.execute("SELECT dst_id FROM edges WHERE " + own, (memory_id,))]
    base.execute("DELETE FROM edges WHERE " + own, (memory_id,))
    to_it = "(rel_type = 'supersedes' OR rel_type = 'said_again' AND dst_type = 'memory') AND dst_id = ?"
    base.execute("DELETE FROM edges WHERE " + to_it, (memory_id,))
    _drop_orphans(base, targets)


def _put_entity(base: sqlite3.Connection, entity: Entity, project_id: str) -> None:
    project_id = "" if entity.type is EntityType.ARTIFACT else project_id
    base.execute(
        "INSERT OR IGNORE INTO entities VALUES (?, ?, ?, ?, ?, ?, '', '')",
        (entity.id, entity.type, entity.key, entity.title, name_key(entity.title), project_id),
    )


def _put_edge(base: sqlite3.Connection, edge: Edge) -> None:
    base.execute(
        "INSERT OR REPLACE INTO edges VALUES (?, ?, ?, ?, ?, ?, ?)",
        (edge.src_type, edge.src_id, edge.rel, edge.dst_type, edge.dst_id, edge.project_id, edge.meta),
    )


def _drop_orphans(base: sqlite3.Connection, entity_ids: Iterable[str]) -> None:
    """Drop entities, tasks aside, that no edge names."""
    for entity_id in dict.fromkeys(entity_ids):
        base.execute(
            "DELETE FROM entities WHERE entity_id = ? AND entity_type != 'task'"
            " AND NOT EXISTS (SELECT 1 FROM edges WHERE dst_id = ?)",
            (entity_id, entity_id),
        )


def forget(base: sqlite3.Connection, event_ids: Sequence[str], memory_ids: Sequence[str]) -> list[str]:
    touched = dict.fromkeys(with_waiting(base, memory_ids)[len(set(memory_ids)) :])
    for event_id in event_ids:
        rows = base.execute("SELECT task_id FROM steps WHERE event_id = ?", (event_id,)).fetchall()
        touched.update((row[0], None) for row in rows)
        base.execute("DELETE FROM steps WHERE event_id = ?", (event_id,))
        base.execute("DELETE FROM events WHERE event_id = ?", (event_id,))
    for memory_id in memory_ids:
        _drop_edges_of(base, memory_id)
        targets = [row[0] for row in base.execute("SELECT dst_id FROM edges WHERE src_id = ?", (memory_id,))]
        base.execute("DELETE FROM edges WHERE src_id = ? OR dst_id = ?", (memory_id, memory_id))
        _drop_orphans(base, targets)
        base.execute("DELETE FROM maybe_done WHERE task_id = ?", (memory_id,))
        base.execute("DELETE FROM published WHERE task_id = ?", (memory_id,))
    for task_id in touched:
        _refold(base, task_id)
    return [task.id for task in _told(base, touched)]


def about(base: sqlite3.Connection, name: str, project_ids: Sequence[str] | None) -> list[str]:
    named = artifact(name)
    key = name_key(name)
    wanted = (named.id if named else "", key, norm(name), "%/" + key.replace("%", "").replace("_", r"\_"))
    query = (
        "SELECT edges.src_id, edges.project_id FROM edges JOIN entities ON entities.entity_id = edges.dst_id"
        " WHERE edges.src_type = 'memory' AND (entities.entity_id = ? OR entities.title_norm IN (?, ?)"
        r" OR (entities.entity_type = 'file' AND entities.title_norm LIKE ? ESCAPE '\'))"
        " UNION SELECT edges.src_id, edges.project_id FROM edges JOIN entity_aliases ON edges.dst_id = entity_id"
        " WHERE edges.src_type = 'memory' AND entity_aliases.canonical_key LIKE ? ESCAPE '\\'"
    )
    alias = r"task:%:" + norm(name).replace("_", r"\_")
    rows = base.execute(query, (*wanted, alias)).fetchall()
    return sorted({memory_id for memory_id, of in rows if project_ids is None or of in project_ids})


def links(base: sqlite3.Connection, ids: Sequence[str], project_id: str, limit: int) -> list[Link]:
    """Return the edges of these things, those to rare things first."""
    some = marks(len(ids))
    query = (
        "SELECT src_id, src_type, rel_type, dst_id, dst_type,"
        " (SELECT count(*) FROM edges AS other WHERE other.dst_id = edges.dst_id) AS crowd FROM edges"
        " WHERE (src_id IN (%s) OR dst_id IN (%s)) AND (? = '' OR project_id = ?)"
        " ORDER BY crowd, src_id, dst_id LIMIT ?" % (some, some)
    )
    return [Link(*row[:5]) for row in base.execute(query, (*ids, *ids, project_id, project_id, limit))]


def things(base: sqlite3.Connection, ids: Sequence[str]) -> list[Thing]:
    query = "SELECT entity_id, entity_type, title, status FROM entities WHERE entity_id IN (%s)" % marks(len(ids))
    return [Thing(*row) for row in base.execute(query, list(ids))]


def hubs(base: sqlite3.Connection, project_id: str, limit: int) -> list[Thing]:
    """Return the things that most edges name."""
    query = (
        "SELECT entity_id, entity_type, title, status, count(*) AS edges FROM entities"
        " JOIN edges ON edges.dst_id = entity_id WHERE ? = '' OR edges.project_id = ?"
        " GROUP BY entity_id ORDER BY edges DESC, title LIMIT ?"
    )
    return [Thing(*row) for row in base.execute(query, (project_id, project_id, limit))]


def things_named(base: sqlite3.Connection, name: str, limit: int) -> list[str]:
    """Return things' ids by id, name or the end of a path."""
    entity, key = artifact(name), name_key(name)
    ending = "%/" + key.replace("%", "").replace("_", r"\_")
    query = (
        "SELECT entity_id FROM entities WHERE entity_id IN (?, ?) OR title_norm IN (?, ?)"
        r" OR (entity_type = 'file' AND title_norm LIKE ? ESCAPE '\') LIMIT ?"
    )
    return [row[0] for row in base.execute(query, (name, entity.id if entity else "", key, norm(name), ending, limit))]


def said_again(base: sqlite3.Connection, memory_id: str) -> list[str]:
    query = "SELECT src_id FROM edges WHERE dst_id = ? AND rel_type = 'said_again' AND dst_type = 'memory'"
    return [row[0] for row in base.execute(query, (memory_id,))]


def neighbours(base: sqlite3.Connection, memory_id: str) -> list[Neighbour]:
    query = (
        "SELECT edge.rel_type, entities.entity_type, entities.title, (SELECT count(*) FROM edges AS other"
        " WHERE other.dst_id = edge.dst_id AND other.src_type = 'memory' AND other.src_id != ?) AS others"
        " FROM edges AS edge"
        " JOIN entities ON entities.entity_id = edge.dst_id WHERE edge.src_id = ?"
        " ORDER BY others, entities.entity_type, entities.title LIMIT ?"
    )
    return [Neighbour(*row) for row in base.execute(query, (memory_id, memory_id, MAX_LISTED))]
