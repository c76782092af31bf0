"""The daemon's operations for looking around: events, counts by day, a map.

Hooks do not import this module.
"""

from __future__ import annotations

from typing import TypedDict

from memlayer.edge.ipc import task_answers
from memlayer.edge.ipc.arguments import Arguments, Limit, Names, Path


class StoredEvent(TypedDict):
    """An event of the record (model.Event), with its project's name."""

    id: str
    kind: str
    session_id: str
    project_id: str
    project: str
    prompt_id: str
    text: str
    at_ms: int
    source: str
    detail: str


class EventsFound(TypedDict):
    """Events, newest first. total: all that match, those beyond the limit counted."""

    events: list[StoredEvent]
    total: int


class SessionCount(TypedDict):
    """The events of a session within the span that was asked for."""

    session_id: str
    events: int


class DayCount(TypedDict):
    """A day of the machine's own clock.

    by_kind: its events. tokens: in the contexts of the sessions that were last active then.
    """

    date: str
    events: int
    sessions: int
    tokens: int
    by_kind: dict[str, int]


class Activity(TypedDict):
    """Events counted, the days oldest first."""

    days: list[DayCount]
    by_session: list[SessionCount]


class MapNode(TypedDict):
    """A memory or a thing on a map.

    type: memory, task, file, artifact, person, service or condition. steps: from the middle.
    """

    id: str
    type: str
    title: str
    status: str
    citation: str
    steps: int


class MapEdge(TypedDict):
    """An edge between two nodes."""

    source: str
    rel: str
    target: str


class MapHub(TypedDict):
    """A thing that many edges name."""

    id: str
    type: str
    title: str
    edges: int


class MapFound(TypedDict):
    """The surroundings of a thing.

    middle: its id, "" for an unknown name. left_out: nodes beyond the limit.
    """

    middle: str
    nodes: list[MapNode]
    edges: list[MapEdge]
    left_out: int
    hubs: list[MapHub]


class Projects(Arguments[task_answers.KnownProjects], op="projects"):
    pass


class ChooseProject(Arguments[task_answers.ProjectChosen], op="project.choose"):
    """name: of the other project; "" for a new one.

    is_move: the other project's folder has become this one, and is no longer there.
    """

    project_dir: Path = ""
    name: str = ""
    is_move: bool = False


class Events(Arguments[EventsFound], op="view.events"):
    """since_ms is included, before_ms is not; 0 for no bound."""

    ids: Names = ()
    session_id: str = ""
    project_dir: Path = ""
    kind: str = ""
    since_ms: int = 0
    before_ms: int = 0
    limit: Limit = 100


class Days(Arguments[Activity], op="view.days"):
    project_dir: Path = ""
    since_ms: int = 0


class Map(Arguments[MapFound], op="view.map"):
    """Arguments of a map.

    name: a thing's name or id, or a memory's citation; "" for the hubs alone.
    """

    name: str = ""
    project_dir: Path = ""
    limit: Limit = 60
