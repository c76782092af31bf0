"""Operations on notes that a language model writes."""

from msgspec import UNSET, UnsetType, field

from memlayer.wire.message import Asking, Limit, Message, Path


class ReadingState(Message):
    """The reading of sessions by a language model, in counts.

    reading: a session's id, or "". retired_notes: memories that readings retired. bare: sessions with nothing to read.
    why: sessions wait, "" for no reason but their turn.
    """

    is_on: bool = False
    reading: str = ""
    waiting: int = 0
    read: int = 0
    bare: int = 0
    gave_up: int = 0
    notes: int = 0
    refused_notes: int = 0
    retired_notes: int = 0
    calls: int = 0
    tokens: int = 0
    why: str = ""


class Spent(Message):
    """Calls of a model, with their tokens and cost."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class ModelUse(Message):
    """A model's use and daily budget.

    lacks: why it cannot be asked. is_over: no call is allowed any more today. problem: its last one.
    """

    is_on: bool = False
    provider: str = ""
    model: str = ""
    base_url: str = ""
    reads: str = ""
    lacks: str = ""
    today: Spent = field(default_factory=Spent)
    all: Spent = field(default_factory=Spent)
    daily_calls: int = 0
    daily_tokens: int = 0
    is_over: bool = False
    problem: str = ""
    problem_ms: int = 0


class NotesState(ReadingState):
    """Who reads sessions, and its budget.

    is_allowed: by the project that was asked for. by_session: sessions' own models may write, and own_notes are theirs.
    """

    use: ModelUse = field(default_factory=ModelUse)
    is_enabled: bool = False
    is_allowed: bool = False
    by_session: bool = False
    own_notes: int = 0


class RefusedNote(Message):
    """A model's note that was refused, or a memory that ended."""

    kind: str = ""
    text: str = ""
    reason: str = ""
    by: str = ""
    ended_because: str = ""
    at_ms: int = 0
    session_id: str = ""
    project: str = ""


class RefusedNotesFound(Message):
    """Refused notes, newest first. total: also those beyond the limit."""

    refusals: list[RefusedNote] = []
    total: int = 0


class ProjectEstimate(Message):
    """The sessions of a project to be read, and their tokens."""

    project_id: str = ""
    project: str = ""
    sessions: int = 0
    tokens: int = 0


class SessionsRead(Message):
    """Estimate of a reading. Once read, its counts and the sessions left.

    own_tokens: of the estimate, those that the reader adds to its calls by itself.
    """

    dry_run: bool = False
    is_on: bool = False
    sessions: int = 0
    calls: int = 0
    tokens: int = 0
    own_tokens: int = 0
    projects: list[ProjectEstimate] = []
    read: int | UnsetType = UNSET
    waiting: int | UnsetType = UNSET
    problem: str | UnsetType = UNSET
    notes: int | UnsetType = UNSET
    refused_notes: int | UnsetType = UNSET
    retired_notes: int | UnsetType = UNSET


class Notes(Asking[NotesState], tag="notes"):
    """Arguments of a look at the reader.

    project_dir: to say whether that project allows it. is_tried: the model is asked a word first.
    """

    project_dir: Path = ""
    is_tried: bool = False


class RefusedNotes(Asking[RefusedNotesFound], tag="notes.refused"):
    project_dir: Path = ""
    limit: Limit = 50


class ReadSessions(Asking[SessionsRead], tag="notes.read"):
    """last: sessions at most, the newest that a model has not read."""

    last: Limit = 30
    project_dir: Path = ""
    dry_run: bool = False
