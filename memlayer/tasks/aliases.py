"""Names that a person gives for one thing: mina, 미나."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from memlayer.tasks import events as task_events
from memlayer.tasks.graph import Graph
from memlayer.tasks.keys import name_key


@dataclass(frozen=True)
class Alias:
    """Two names of one thing. id: of the event that says so."""

    id: str
    project_id: str
    names: tuple[str, ...]
    at_ms: int


def aliases(graph: Graph, project_ids: Collection[str] | None) -> list[Alias]:
    """Return the aliases in force, oldest first. None: of all projects."""
    rows = [(event, task_events.from_json(event.text)) for event in graph.asked()]
    undone = {content.takes_back for _, content in rows}
    return [
        Alias(event.id, event.project_id, content.same, event.at_ms)
        for event, content in rows
        if content.same and event.id not in undone and (project_ids is None or event.project_id in project_ids)
    ]


def names_of(name: str, known: Iterable[Alias]) -> list[str]:
    """Return a name and all that stand for the same thing."""
    pairs = [frozenset(map(name_key, alias.names)) for alias in known]
    group = {name_key(name)}
    while more := set().union(*(pair for pair in pairs if pair & group)) - group:
        group |= more
    return [name, *sorted(group - {name_key(name)})]
