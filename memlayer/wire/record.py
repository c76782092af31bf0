"""Operations that look around: projects, events, counts by day, a map."""

from memlayer.model import Event
from memlayer.wire.message import Asking, Limit, Message, Names, Path, Whole


class KnownProject(Message):
    """A project. chosen_dirs: folders that the person gave to it."""

    project_id: str = ""
    project: str = ""
    project_dir: str = ""
    is_there: bool = False
    memory_count: int = 0
    chosen_dirs: list[str] = []


class KnownProjects(Message):
    """Every project, that with most memories first."""

    projects: list[KnownProject] = []


class ProjectChosen(Message):
    """A folder's project from now on, and its former one."""

    project_id: str = ""
    project: str = ""
    former_id: str = ""
    former: str = ""
    former_count: int = 0


class StoredEvent(Event, frozen=True):
    """An event of the record, with its project's name."""

    project: str = ""


class EventsFound(Message):
    """Events, newest first. total: all that match, those beyond the limit counted."""

    events: list[StoredEvent] = []
    total: int = 0


class SessionCount(Message):
    """The events of a session within the span that was asked for."""

    session_id: str = ""
    events: int = 0


class DayCount(Message):
    """A day of the machine's own clock.

    by_kind: its events. tokens: in the contexts of the sessions that were last active then.
    """

    date: str = ""
    events: int = 0
    sessions: int = 0
    tokens: int = 0
    by_kind: dict[str, int] = {}


class Activity(Message):
    """Events counted, the days oldest first."""

    days: list[DayCount] = []
    by_session: list[SessionCount] = []


class Projects(Asking[KnownProjects], tag="projects"):
    pass


class ChooseProject(Asking[ProjectChosen], tag="project.choose"):
    """name: of the other project; "" for a new one."""

    project_dir: Path = ""
    name: str = ""


class Events(Asking[EventsFound], tag="view.events"):
    """since_ms is included, before_ms is not; 0 for no bound."""

    ids: Names = ()
    session_id: str = ""
    project_dir: Path = ""
    kind: str = ""
    since_ms: Whole = 0
    before_ms: Whole = 0
    limit: Limit = 100


class Days(Asking[Activity], tag="view.days"):
    project_dir: Path = ""
    since_ms: Whole = 0
