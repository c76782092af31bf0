"""Blockers: an URL, an issue, another task, else a condition.

Never a task that nobody made.
"""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.tasks.keys import EntityType, artifact, condition, entities_in
from memlayer.tasks.matcher import match, named
from memlayer.tasks.states import Blocker, Task, placeholder

MAX_RAW_CHARS = 200
EMBEDDED = 0.95  # of an URL or issue inside a sentence


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
