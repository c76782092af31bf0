"""Operations on tasks and topics."""

from memlayer.wire.message import Asking, Message, Path


class TaskStep(Message):
    """A step of a task's history. by: who spoke of it."""

    op: str = ""
    to: str = ""
    from_: str = ""
    by: str = ""
    quote: str = ""
    reason: str = ""
    waits_for: list[str] = []
    at_ms: int = 0
    session_id: str = ""
    event_id: str = ""


class TaskRow(Message):
    """A task as it stands.

    waits_for: titles of open tasks, or words for other things. sources:
    who spoke of it. sessions: how many did.
    """

    id: str = ""
    citation: str = ""
    title: str = ""
    status: str = ""
    priority: str = ""
    waits_for: list[str] = []
    is_open: bool = False
    is_resting: bool = False
    sources: list[str] = []
    files: list[str] = []
    earlier_titles: list[str] = []
    sessions: int = 0
    created_ms: int = 0
    touched_ms: int = 0
    project: str = ""


class TaskList(Message):
    """Tasks, newest first. resting, questions: counts of the project."""

    tasks: list[TaskRow] = []
    resting: int = 0
    questions: int = 0


class TaskNeighbour(Message):
    """An entity beside a task, and how many memories name it."""

    rel: str = ""
    type: str = ""
    title: str = ""
    others: int = 0


class TaskDetails(TaskRow):
    """A task with its history, oldest step first."""

    history: list[TaskStep] = []
    neighbours: list[TaskNeighbour] = []


class TasksShown(Message):
    """The tasks of a name."""

    tasks: list[TaskDetails] = []


class TaskChanged(Message):
    """The tasks that a change touched.

    freed: those that wait no more, since it closed their last blocker. candidates: that it may mean, where nothing was
    changed. refusals: the reasons.
    """

    tasks: list[TaskRow] = []
    freed: list[TaskRow] = []
    candidates: list[TaskRow] = []
    refusals: list[str] = []


class TopicSession(Message):
    """A session of a topic. text: its statement that says most."""

    session_id: str = ""
    at_ms: int = 0
    citation: str = ""
    text: str = ""


class TopicRow(Message):
    """A matter of several sessions. members: its last sessions."""

    text: str = ""
    words: list[str] = []
    first_ms: int = 0
    last_ms: int = 0
    turns: int = 0
    members: list[TopicSession] = []
    session_count: int = 0


class TopicsFound(Message):
    """A project's matters, the largest first, and all sessions grouped."""

    topics: list[TopicRow] = []
    session_count: int = 0


class ModeState(Message):
    """The mode of memory, and the last day's work.

    score, transition: of the last change from one session to the next, None and "" for none yet.
    """

    mode: str = ""
    turns: int = 0
    first_ms: int = 0
    score: float | None = None
    transition: str = ""
    kept_topics: int = 0
    renewed_ms: int = 0
    words: list[str] = []
    files: list[str] = []


class Topics(Asking[TopicsFound], tag="topics"):
    project_dir: Path = ""


class Mode(Asking[ModeState], tag="mode"):
    """mode: the one to change to, "" to ask alone."""

    project_dir: Path = ""
    mode: str = ""


class Tasks(Asking[TaskList], tag="tasks"):
    """status: "" for open ones at work, "all", "resting", or a status."""

    project_dir: Path = ""
    status: str = ""


class TaskShow(Asking[TasksShown], tag="tasks.show"):
    """id_: a citation, an id, or words."""

    id_: str = ""
    project_dir: Path = ""
    limit_dir: Path = ""


class TaskChange(Asking[TaskChanged], tag="tasks.change"):
    """id_: of a task event in the spool."""

    id_: str = ""
