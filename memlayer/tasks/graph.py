"""Edges between tasks, memories and named things, and their table.

The table can be lost: TaskBook.rebuild makes it anew, row for row the same. A row depends on the events and memories
that are there, not on the order in which they came.
"""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from memlayer.adapters.sqlite_files import DispensableFile, marks
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import Memory, turn_memory_id
from memlayer.ports import Store, events_by_id
from memlayer.tasks.keys import Entity, EntityType, artifact, condition, entities_in, name_key, norm
from memlayer.tasks.states import Blocker, Op, Status, Step, Task

MEMORY = "memory"
BLOCKERS = (EntityType.WORK, EntityType.CONDITION, EntityType.ARTIFACT)
VERSION = "3"
OF_STEPS = "steps:"
MAX_LISTED = 200
# owner: whose text or steps make the row. name: of a thing, as `about:` compares it.
SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    owner TEXT NOT NULL, src_type TEXT NOT NULL, src_id TEXT NOT NULL, rel TEXT NOT NULL, dst_type TEXT NOT NULL,
    dst_id TEXT NOT NULL, project_id TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (owner, src_id, rel, dst_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_source ON links (src_id);
CREATE INDEX IF NOT EXISTS links_by_target ON links (dst_id, rel);
CREATE INDEX IF NOT EXISTS links_by_name ON links (name);
"""


class Rel(StrEnum):
    """The type of an edge."""

    ABOUT = "about"  # a memory is about an entity
    BLOCKED_BY = "blocked_by"
    RESOLVES = "resolves"  # a turn closed a task
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"
    SAID_AGAIN = "said_again"  # a turn spoke of a task, or said a statement, that an earlier session had made


# The only combinations that an edge may have: (source, relation, target).
ALLOWED = frozenset(
    {
        *((MEMORY, Rel.ABOUT, target) for target in EntityType),
        *((EntityType.WORK, Rel.BLOCKED_BY, target) for target in BLOCKERS),
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
    """A typed edge. Ends are ids of memories and entities.

    title: of a target that is no memory.
    """

    src_type: str
    src_id: str
    rel: Rel
    dst_type: str
    dst_id: str
    project_id: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        if (self.src_type, self.rel, self.dst_type) not in ALLOWED:
            raise TypeError("no edge goes from %s by %s to %s" % (self.src_type, self.rel, self.dst_type))


class Thing(NamedTuple):
    """An entity.

    others: how many edges name it, beside a memory those of others alone. rel: to that memory.
    """

    id: str
    type: str
    title: str
    others: int = 0
    rel: str = ""

    @property
    def told(self) -> str:
        """The entity with its relation, as a reader sees it."""
        rel = "" if self.rel == Rel.ABOUT else self.rel.replace("_", " ") + " "
        return rel + self.title + (" (%d more)" % self.others if self.others else "")


class Graph(DispensableFile):
    """The table.

    Thread-safe. Nothing raises: without the file there is nothing to tell.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, SCHEMA)

    # -- the whole

    @property
    def is_whole(self) -> bool:
        """True once a rebuild of this version ended."""
        return self._rows("SELECT value FROM meta WHERE name = 'version'") == [(VERSION,)]

    def begin(self) -> None:
        """Drop all edges."""
        self.run(lambda base: base.executescript("DELETE FROM meta; DELETE FROM links"), None)

    def ended(self) -> None:
        """Note that a rebuild is over."""
        self.run(lambda base: base.execute("INSERT OR REPLACE INTO meta VALUES ('version', ?)", (VERSION,)), None)

    def rows(self) -> list[tuple[object, ...]]:
        """Return all edges, to compare two tables."""
        return sorted(self._rows("SELECT * FROM links"), key=repr)

    def put(self, edges: Mapping[str, Iterable[Edge]], prefix: str = "") -> None:
        """Replace the edges of these owners.

        prefix: OF_STEPS for tasks, whose memory has edges of its own.
        """

        def put(base: sqlite3.Connection) -> None:
            for owner, rows in edges.items():
                base.execute("DELETE FROM links WHERE owner = ?", (prefix + owner,))
                base.executemany(
                    "INSERT OR REPLACE INTO links VALUES (%s)" % marks(9),
                    [(prefix + owner, *vars(row).values(), name_key(row.title)) for row in rows],
                )

        self.run(put, None)

    def forget(self, ids: Sequence[str]) -> None:
        """Drop tasks and memories with their edges."""

        def forget(base: sqlite3.Connection) -> None:
            rows = [(id_, OF_STEPS + id_, id_, id_) for id_ in ids]
            base.executemany("DELETE FROM links WHERE owner IN (?, ?) OR src_id = ? OR dst_id = ?", rows)

        self.run(forget, None)

    # -- questions

    def named(self, name: str) -> list[str]:
        """Return things' ids by id, name or end of a path."""
        entity, key = artifact(name), name_key(name)
        ending = "%/" + key.replace("%", "").replace("_", r"\_")
        query = (
            "SELECT DISTINCT dst_id FROM links WHERE dst_id IN (?, ?) OR name IN (?, ?)"
            r" OR (dst_type = 'file' AND name LIKE ? ESCAPE '\')"
        )
        return [row[0] for row in self._rows(query, name, entity.id if entity else "", key, norm(name), ending)]

    def about(self, ids: Sequence[str], project_ids: Sequence[str] | None) -> list[str]:
        """Return the ids of the memories with an edge to these things."""
        query = "SELECT src_id, project_id FROM links WHERE src_type = 'memory' AND dst_id IN (%s)" % marks(len(ids))
        rows = self._rows(query, *ids)
        return sorted({memory_id for memory_id, of in rows if project_ids is None or of in project_ids})

    def said_again(self, memory_id: str) -> list[str]:
        """Return the ids of the turns that said a statement again."""
        query = "SELECT src_id FROM links WHERE dst_id = ? AND rel = ? AND dst_type = ?"
        return [row[0] for row in self._rows(query, memory_id, Rel.SAID_AGAIN, MEMORY)]

    def neighbours(self, memory_id: str) -> list[Thing]:
        """Return the entities beside a memory, the rarer first."""
        query = (
            "SELECT DISTINCT dst_id, dst_type, title, (SELECT count(*) FROM links AS other WHERE"
            " other.dst_id = links.dst_id AND other.src_type = 'memory' AND other.src_id != ?) AS others, rel"
            " FROM links WHERE src_id = ? AND dst_type != 'memory' ORDER BY others, dst_type, title LIMIT ?"
        )
        return [Thing(*row) for row in self._rows(query, memory_id, memory_id, MAX_LISTED)]

    def _rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        return self.run(lambda base: base.execute(query, given).fetchall(), [])


def edges_of_task(task: Task, steps: Sequence[Step]) -> list[Edge]:
    """Return the edges that a task's steps make."""
    things = [entity_of(task.project_id, blocker) for blocker in task.blockers]
    out = [
        Edge(EntityType.WORK, task.id, Rel.BLOCKED_BY, thing.type, thing.id, task.project_id, thing.title)
        for thing in things
    ]
    turns: dict[str, Rel] = {}
    for step in steps:
        if step.prompt_id and step.session_id and step.op in _OF_STEP:
            turn = turn_memory_id(step.session_id, step.prompt_id)
            closes = step.op is Op.STATUS and step.to == Status.DONE
            turns[turn] = Rel.RESOLVES if closes else turns.get(turn) or _OF_STEP[step.op]
    told = (EntityType.WORK, task.id, task.project_id, task.title)
    out += [Edge(MEMORY, turn, rel, *told) for turn, rel in turns.items()]
    return out


def entity_of(project_id: str, blocker: Blocker) -> Entity:
    """Return the thing that a blocker stands for."""
    if blocker.kind == EntityType.WORK:
        return Entity(EntityType.WORK, blocker.key, blocker.raw)
    named = (artifact(blocker.raw), condition(project_id, blocker.raw), *entities_in(project_id, blocker.raw))
    same = (entity for entity in named if entity is not None and entity.key == blocker.key)
    kind = EntityType.ARTIFACT if blocker.kind == EntityType.ARTIFACT else EntityType.CONDITION
    return next(same, Entity(kind, blocker.key, blocker.key))


def edges_of_memory(memory: Memory, repeats: Iterable[str]) -> list[Edge]:
    """Return the edges that a memory itself makes.

    repeats: the turns of later sessions that said it again.
    """
    if KINDS[memory.known_kind].repeats:
        return []
    project_id = memory.project_id
    out = [
        Edge(MEMORY, memory.id, Rel.ABOUT, entity.type, entity.id, project_id, entity.title)
        for entity in entities_in(project_id, memory.text, memory.files)
    ]
    if memory.known_kind is Kind.TASK:
        return out  # a task's steps say which memories it hangs together with
    if memory.superseded_by:
        out.append(Edge(MEMORY, memory.superseded_by, Rel.SUPERSEDES, MEMORY, memory.id, project_id))
    if memory.category is not Category.CONVERSATION and memory.prompt_id and not KINDS[memory.known_kind].of_session:
        turn = turn_memory_id(memory.session_id, memory.prompt_id)
        out.append(Edge(MEMORY, memory.id, Rel.DERIVED_FROM, MEMORY, turn, project_id))
    return out + [Edge(MEMORY, turn, Rel.SAID_AGAIN, MEMORY, memory.id, project_id) for turn in repeats]


def link(store: Store, graph: Graph, memories: Sequence[Memory]) -> None:
    """Replace the entities and edges of these memories. Raises StoreError."""
    repeats = said_again(store, memories)
    graph.put({row.id: edges_of_memory(row, repeats.get(row.id, ())) for row in memories})


def said_again(store: Store, memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Return statement's id -> turns of later sessions that said it.

    One a session. Raises StoreError.
    """
    rows = [row for row in memories if row.category == Category.CORE and row.known_kind is not Kind.TASK]
    rows = [row for row in rows if len(row.source_ids) > 1]
    events = events_by_id(store, (source for row in rows for source in row.source_ids)).values()
    out = {}
    for row in rows:
        turns: dict[str, str] = {}
        for event in events:
            if event.id in row.source_ids and event.session_id and event.prompt_id:
                turns.setdefault(event.session_id, turn_memory_id(event.session_id, event.prompt_id))
        out[row.id] = list(turns.values())[1:]
    return out
