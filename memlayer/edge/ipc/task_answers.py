"""Answers about tasks and topics, as their JSON is.

As in `answers`: names are added, never removed; times end in _ms. Hooks do not import this module.
"""

from __future__ import annotations

from typing import Optional, TypedDict

# "from" is no name that Python allows.
RejectedStep = TypedDict("RejectedStep", {"from": str, "to": str, "why": str, "at_ms": int})
TaskStep = TypedDict(
    "TaskStep",
    {
        "op": str, "to": str, "from": str, "by": str, "quote": str, "reason": str, "waits_for": list[str],
        "at_ms": int, "session_id": str, "event_id": str,
    },
)  # fmt: skip


class TaskRow(TypedDict):
    """A task as it stands.

    waits_for: titles of open tasks, or words for other things. suggested: blockers that nobody has confirmed. sources:
    who spoke of it. sessions: how many did.
    """

    id: str
    citation: str
    title: str
    status: str
    priority: str
    waits_for: list[str]
    suggested: list[str]
    maybe_done: str
    is_open: bool
    is_resting: bool
    sources: list[str]
    files: list[str]
    earlier_titles: list[str]
    sessions: int
    created_ms: int
    touched_ms: int
    project: str


class TaskList(TypedDict):
    """Tasks, newest first. resting, questions: counts of the project."""

    tasks: list[TaskRow]
    resting: int
    questions: int


class TaskNeighbour(TypedDict):
    """An entity beside a task.

    others: how many further memories name it.
    """

    rel: str
    type: str
    title: str
    others: int


class TaskDetails(TaskRow):
    """A task with its history, oldest step first."""

    history: list[TaskStep]
    rejected: list[RejectedStep]
    neighbours: list[TaskNeighbour]


class TasksShown(TypedDict):
    """The tasks of a name."""

    tasks: list[TaskDetails]


class TaskChanged(TypedDict):
    """The tasks that a change touched.

    candidates: that it may mean, where nothing was changed. refusals: the reasons.
    """

    tasks: list[TaskRow]
    candidates: list[TaskRow]
    refusals: list[str]


class KnownProject(TypedDict):
    """A project. chosen_dirs: folders that the person gave to it."""

    project_id: str
    project: str
    project_dir: str
    is_there: bool
    memory_count: int
    chosen_dirs: list[str]


class KnownProjects(TypedDict):
    """Every project, that with most memories first."""

    projects: list[KnownProject]


class ProjectChosen(TypedDict):
    """A folder's project from now on, and its former one."""

    project_id: str
    project: str
    former_id: str
    former: str
    former_count: int


class TopicSession(TypedDict):
    """A session of a topic. text: its statement that says most."""

    session_id: str
    at_ms: int
    citation: str
    text: str


class Topic(TypedDict):
    """A matter of several sessions. members: its last sessions."""

    text: str
    words: list[str]
    first_ms: int
    last_ms: int
    turns: int
    members: list[TopicSession]
    session_count: int


class Topics(TypedDict):
    """A project's matters, the largest first.

    session_count: of all that were grouped.
    """

    topics: list[Topic]
    session_count: int


class ModeState(TypedDict):
    """The mode of memory, and the last day's work.

    score, transition: of the last change from one session to the next, None and "" for none yet.
    """

    mode: str
    turns: int
    first_ms: int
    score: Optional[float]  # noqa: UP045 - evaluated on Python 3.9, too
    transition: str
    kept_topics: int
    renewed_ms: int
    words: list[str]
    files: list[str]
