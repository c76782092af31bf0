"""Operations on sessions, the notes given in them, and their past work."""

from msgspec import UNSET, UnsetType

from memlayer.model import Memory
from memlayer.wire.memories import MemoryRow
from memlayer.wire.message import Asking, Limit, Message, Path, Whole


class GivenCounts(Message):
    """Notes given in a session: to how many prompts, of how many."""

    prompts: int = 0
    answered: int = 0
    notes: int = 0


class SessionFacts(Message):
    """The recorded fields of a session: see records.sessions.Session."""

    id: str = ""
    project_id: str = ""
    project_dir: str = ""
    transcript_path: str = ""
    since_ms: int = 0
    last_ms: int = 0
    said_ms: int = 0
    prompted_ms: int = 0
    answered_ms: int = 0
    measured_ms: int = 0
    ended: str = ""
    ended_ms: int = 0
    context_since_ms: int = 0
    caught_up_bytes: int = 0
    read_bytes: int = 0
    branch_bytes: int = 0
    model: str = ""
    total_tokens: int = 0
    explained_ms: int = 0
    start_chars: int = 0
    flush_count: int = 0
    compaction_count: int = 0
    compact_start_ms: int = 0
    compact_post_ms: int = 0
    compact_awaits: str = ""
    pre_compact_ms: int = 0
    memory_flush_at: int = 0
    memory_flush_compaction_count: int = -1
    memory_asked_compaction_count: int = -1
    asked_prompt_id: str = ""
    summarized_ms: int = 0
    outcomes_ms: int = 0
    noted_ms: int = 0
    team_told_ms: int = 0
    questions_told_ms: int = 0
    is_run: bool = False
    run_by: str = ""
    host: str = ""


class SessionRow(SessionFacts):
    """A session with counts.

    shown, inherited: how many notes. turns: memories of turns. core: memories drawn from it. Only a single session has
    these, events, summary and given.
    """

    project: str = ""
    shown: int = 0
    inherited: int = 0
    turns: int = 0
    core: int | UnsetType = UNSET
    events: int | UnsetType = UNSET
    summary: str | UnsetType = UNSET
    given: GivenCounts | UnsetType = UNSET


class SessionsFound(Message):
    """Sessions, newest first. total: also those beyond the limit."""

    sessions: list[SessionRow] = []
    total: int = 0


class FileSession(Message):
    """A session that changed a file. turns: citations, oldest first."""

    session_id: str = ""
    at_ms: int = 0
    edits: int = 0
    turns: list[str] = []


class FileHistory(Message):
    """All that is kept about a file, newest first."""

    memories: list[MemoryRow] = []
    attempts: list[MemoryRow] = []
    sessions: list[FileSession] = []


class CureRow(Message):
    """A call that worked after an error.

    line: of the error. sessions: how many met it. citation: of the turn.
    """

    line: str = ""
    command: str = ""
    sessions: int = 0
    at_ms: int = 0
    citation: str = ""


class Cures(Message):
    """Notes about an error, its cures, and its sessions' number."""

    memories: list[MemoryRow] = []
    cures: list[CureRow] = []
    met: int = 0


class GivenNote(Message, omit_defaults=True):
    """A note on record, with its memory unless that is forgotten.

    chance, helps, lexical, vector in [0, 1]; reason: why it was chosen or left out; why: of a note.
    """

    id: str = ""
    citation: str = ""
    memory: Memory | None = None
    chance: float | None = None
    helps: float | None = None
    reason: str = ""
    why: str = ""
    lexical: float | None = None
    vector: float | None = None
    newer: str = ""


class GivenPrompt(Message):
    """A prompt or session start with its notes.

    prompt: its text, None if not kept. chars: of the block. delivered: the host had it in time. gate to left_out_count:
    where a daemon answered. start: the source of a session's start. place: "first prompt" of its session, or "".
    action: before or behind, of a line at a call. host: the program it was in.
    """

    at_ms: int = 0
    session_id: str = ""
    project_id: str = ""
    project: str = ""
    event_id: str = ""
    chars: int = 0
    delivered: bool = True
    prompt: str | None = None
    given: list[GivenNote] = []
    left_out: list[GivenNote] = []
    gate: str | UnsetType = UNSET
    place: str | UnsetType = UNSET
    need: float | UnsetType = UNSET
    mode: str | UnsetType = UNSET
    took_ms: float | UnsetType = UNSET
    left_out_count: int | UnsetType = UNSET
    start: str | UnsetType = UNSET
    action: str | UnsetType = UNSET
    host: str = ""

    @property
    def is_prompt(self) -> bool:
        """True for a prompt, of no start and no action."""
        return not self.start and not self.action

    @property
    def silence(self) -> str:
        """The reason why it was given no note."""
        count = self.left_out_count or 0
        if self.gate:
            return str(self.gate)
        if count > 1:
            return f"none of {count:,} memories was fit"
        return "the only memory that resembles it was not fit" if count else "no memory resembles it"


class GivenPrompts(Message):
    """The record of the last prompts, newest first."""

    prompts: list[GivenPrompt] = []


class Given(Asking[GivenPrompts], tag="given"):
    limit: Limit = 5
    session_id: str = ""
    project_dir: Path = ""


class Blame(Asking[FileHistory], tag="blame"):
    path: str = ""
    project_dir: Path = ""
    limit: Limit = 10


class Fix(Asking[Cures], tag="fix"):
    error: str = ""
    project_dir: Path = ""
    limit: Limit = 10


class Sessions(Asking[SessionsFound], tag="sessions"):
    id_: str = ""
    project_dir: Path = ""
    limit: Limit = 20
    skip: Whole = 0
