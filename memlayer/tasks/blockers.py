"""Blockers: an URL, an issue, another task, else a condition.

Never a task that nobody made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memlayer.adapters.sqlite_files import in_batches, marks
from memlayer.tasks.keys import Entity, EntityType, artifact, condition, entities_in
from memlayer.tasks.matcher import match, named
from memlayer.tasks.states import Blocker, Status, Task, placeholder

MAX_RAW_CHARS = 200
EMBEDDED = 0.95  # of an URL or issue inside a sentence
_WAITING = (
    "SELECT edge.src_id FROM edges AS edge LEFT JOIN edges AS resolved ON resolved.src_type = edge.dst_type"
    " AND resolved.src_id = edge.dst_id AND resolved.rel_type = 'resolves_to'"
    " WHERE edge.src_type = 'task' AND coalesce(resolved.dst_id, edge.dst_id) IN (%s)"
)


def resolve(raw: str, project_id: str, tasks: Sequence[Task], refs: dict[str, str] | None = None) -> Blocker:
    """Return the blocker that words name.

    tasks: of the project. refs: the host's "#id" -> task id. Without words it is a placeholder.
    """
    raw = " ".join(raw.split())[:MAX_RAW_CHARS]
    if not raw:
        return placeholder(project_id)
    if refs and raw in refs:  # a number of the host's tells a reader nothing
        title = next((task.title for task in tasks if task.id == refs[raw]), raw)
        return Blocker(EntityType.WORK, refs[raw], title)
    if entity := artifact(raw):
        return Blocker(EntityType.ARTIFACT, entity.key, raw)
    if task := _named(raw, tasks):
        return Blocker(EntityType.WORK, task.id, raw)
    inside = [row for row in entities_in(project_id, raw) if row.type is EntityType.ARTIFACT]
    if len(inside) == 1:
        return Blocker(EntityType.ARTIFACT, inside[0].key, raw, EMBEDDED)
    matched = match(raw, tasks)
    if matched.sure is not None:
        return Blocker(EntityType.WORK, matched.sure.id, raw, EMBEDDED)
    candidates = tuple(task.id for task in matched.candidates)
    return Blocker(EntityType.CONDITION, condition(project_id, raw).key, raw, 1.0, candidates)


def _named(raw: str, tasks: Sequence[Task]) -> Task | None:
    """Return the task with this id, key or citation."""
    return next((task for task in tasks if named(raw, task)), None)


def in_force(base: sqlite3.Connection, task: Task) -> Task:
    """Return a task without closed blockers; pending when none is left."""
    if not (task.blockers or task.suggested):
        return task
    query = "SELECT named_id FROM task_blockers_effective WHERE task_id = ?"
    named = {row[0] for row in base.execute(query, (task.id,))}
    left, suggested = (
        tuple(blocker for blocker in blockers if entity_of(task.project_id, blocker).id in named)
        for blockers in (task.blockers, task.suggested)
    )
    is_free = task.status is Status.BLOCKED and not left
    return replace(task, blockers=left, suggested=suggested, status=Status.PENDING if is_free else task.status)


def with_waiting(base: sqlite3.Connection, ids: Iterable[str]) -> list[str]:
    """Return tasks' ids, and those of the tasks that wait for them."""
    rows = list(dict.fromkeys(ids))
    waiting = [row[0] for some in in_batches(rows) for row in base.execute(_WAITING % marks(len(some)), some)]
    return list(dict.fromkeys((*rows, *waiting)))


def entity_of(project_id: str, blocker: Blocker) -> Entity:
    if blocker.kind == EntityType.WORK:
        return Entity(EntityType.WORK, blocker.key, blocker.raw)
    if blocker.kind == EntityType.ARTIFACT:
        inside = artifact(blocker.raw)
        named = [inside] if inside else entities_in(project_id, blocker.raw)
        same = [entity for entity in named if entity.key == blocker.key]
        return same[0] if same else Entity(EntityType.ARTIFACT, blocker.key, blocker.key)
    made = condition(project_id, blocker.raw)
    return made if made.key == blocker.key else Entity(EntityType.CONDITION, blocker.key, "unknown")
