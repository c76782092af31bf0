"""The table of edges between tasks, memories and named things.

It can be lost: TaskBook.rebuild makes it anew, row for row the same. A row depends on the events and memories
that are there, not on the order in which they came.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from memlayer.adapters.sqlite_files import DispensableFile, marks
from memlayer.tasks.edges import MEMORY, Edge, Rel
from memlayer.tasks.keys import artifact, name_key, norm

VERSION = "3"
OF_STEPS = "steps:"
MAX_LISTED = 200
# owner: whose text or steps make the row. name: of a thing, as `about:` compares it. The dropped tables are those of
# version 2.
SCHEMA = """
DROP VIEW IF EXISTS task_blockers_effective;
DROP TABLE IF EXISTS entities;
DROP TABLE IF EXISTS entity_aliases;
DROP TABLE IF EXISTS edges;
DROP TABLE IF EXISTS steps;
DROP TABLE IF EXISTS events;
DROP TABLE IF EXISTS published;
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS links (
    owner TEXT NOT NULL, src_type TEXT NOT NULL, src_id TEXT NOT NULL, rel TEXT NOT NULL, dst_type TEXT NOT NULL,
    dst_id TEXT NOT NULL, project_id TEXT NOT NULL, title TEXT NOT NULL, name TEXT NOT NULL,
    PRIMARY KEY (owner, src_id, rel, dst_id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS links_by_source ON links (src_id);
CREATE INDEX IF NOT EXISTS links_by_target ON links (dst_id, rel);
CREATE INDEX IF NOT EXISTS links_by_name ON links (name);
CREATE TABLE IF NOT EXISTS maybe_done (task_id TEXT PRIMARY KEY, why TEXT NOT NULL) WITHOUT ROWID;
"""


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
            base.executemany("DELETE FROM maybe_done WHERE task_id = ?", [(id_,) for id_ in ids])

        self.run(forget, None)

    # -- tasks

    def set_maybe_done(self, task_id: str, why: str) -> None:
        """Keep a remark on the history of a task's files.

        "" takes it back.
        """
        self.run(lambda base: base.execute("INSERT OR REPLACE INTO maybe_done VALUES (?, ?)", (task_id, why)), None)

    def maybe_done(self) -> dict[str, str]:
        """Return task's id -> the remark on the history of its files."""
        return dict(self._rows("SELECT task_id, why FROM maybe_done"))

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

    def links(self, ids: Sequence[str], project_id: str, limit: int) -> list[Edge]:
        """Return the edges of things or memories, those between few things first."""
        some = marks(len(ids))
        query = (
            "SELECT DISTINCT src_type, src_id, rel, dst_type, dst_id,"
            " (SELECT count(*) FROM links AS other WHERE other.dst_id = links.dst_id) AS crowd FROM links"
            " WHERE (src_id IN (%s) OR dst_id IN (%s)) AND ? IN ('', project_id)"
            " ORDER BY crowd, src_id, dst_id LIMIT ?" % (some, some)
        )
        return [Edge(*row[:5]) for row in self._rows(query, *ids, *ids, project_id, limit)]

    def things(self, ids: Sequence[str]) -> list[Thing]:
        """Return entities by id."""
        query = "SELECT DISTINCT dst_id, dst_type, title FROM links WHERE dst_id IN (%s) AND dst_type != ?"
        return [Thing(*row) for row in self._rows(query % marks(len(ids)), *ids, MEMORY)]

    def hubs(self, project_id: str, limit: int) -> list[Thing]:
        """Return the things that most edges of a project name."""
        query = (
            "SELECT dst_id, dst_type, title, count(DISTINCT src_id || rel) AS others FROM links"
            " WHERE dst_type != 'memory' AND ? IN ('', project_id)"
            " GROUP BY dst_id ORDER BY others DESC, title LIMIT ?"
        )
        return [Thing(*row) for row in self._rows(query, project_id, limit)]

    def _rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        return self.run(lambda base: base.execute(query, given).fetchall(), [])
