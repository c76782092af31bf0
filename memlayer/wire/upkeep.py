"""Operations on the daemon, its store and files."""

from typing import Any

from msgspec import field

from memlayer.wire.memories import UsageShare
from memlayer.wire.message import Asking, Message, Names, Path
from memlayer.wire.notes import ModelUse, ReadingState


class TableState(Message):
    """A table of the store in counts. indexes: their names."""

    rows: int = 0
    fragments: int = 0
    versions: int = 0
    unindexed_rows: int = 0
    indexes: list[str] = []


class EmbeddingModel(Message):
    """The embedding model.

    fingerprint: "" while none is loaded. place: that a provider is asked at, without its key. calibrated: the texts
    that its chances come from.
    """

    name: str = ""
    provider: str = ""
    fingerprint: str = ""
    place: str = ""
    calibrated: str = ""


class Damage(Message):
    """A part of the store that could not be read.

    is_minor: a power failure explains it, or a repair makes the table whole. aside: the folder of damaged files, or "".
    brought_back: rows saved from older versions or the index. in_doubt: citations that may lack their last change.
    """

    at_ms: int = 0
    table: str = ""
    says: str = ""
    is_minor: bool = False
    aside: str = ""
    brought_back: int = 0
    in_doubt: tuple[str, ...] = ()


class StoreStats(Message):
    """Counts of rows and sizes of the store.

    disk_bytes: of the store's folder. tables: rows, fragments, versions and index state by table. by_category and
    by_project count memories, core_by_kind the core memories that hold, ended_count those of any
    category that hold no more.
    turns_by_rules: turns by the version of the rules that have read them, "0" for none.
    """

    events: int = 0
    memories: int = 0
    chunks: int = 0
    projects: int = 0
    embedded: int = 0
    disk_bytes: int = 0
    schema_version: int = 0
    tables: dict[str, TableState] = {}
    by_category: dict[str, int] = {}
    by_project: dict[str, int] = {}
    core_by_kind: dict[str, int] = {}
    turns_by_rules: dict[str, int] = {}
    ended_count: int = 0
    used_ever: dict[str, int] = {}


class StatusFound(Message):
    """The daemon's state.

    store: opening, open or failed. job: that runs, or "". hooks_worked_ms: the last call in time by hook.
    at_action: lines at a call by their effect.
    settings_stamp: of the settings that it started with. sends: all that leaves this machine, by what the person chose.
    """

    build: str = ""
    protocol: int = 0
    pid: int = 0
    python: str = ""
    since_ms: int = 0
    settings_stamp: str = ""
    settings_problem: str = ""
    mode: str = ""
    why: str = ""
    store: str = ""
    store_error: str = ""
    damage: list[Damage] = []
    job: str = ""
    jobs_waiting: int = 0
    job_errors: int = 0
    last_job_error: str = ""
    hooks_worked_ms: dict[str, int] = {}
    at_action: dict[str, int] = {}
    rebuilding: str = ""
    file_notices: list[str] = []
    rss_bytes: int = 0
    model: EmbeddingModel = field(default_factory=EmbeddingModel)
    language_model: ModelUse = field(default_factory=ModelUse)
    spool_waiting: int = 0
    sends: list[str] | None = None


class RecallCounts(Message):
    """Prompts, those that were given notes, notes and their characters."""

    prompts: int = 0
    answered: int = 0
    entries: int = 0
    chars: int = 0


class OpTimes(Message):
    """An operation's calls and times; None before the first call."""

    count: int = 0
    late: int = 0
    p50_ms: float | None = None
    p95_ms: float | None = None


class EmbeddingTimes(Message):
    """Texts that were embedded, and the mean time of each."""

    queries: int = 0
    query_ms: float | None = None
    passages: int = 0
    passage_ms: float | None = None


class StatsFound(StoreStats):
    """Counts of the store, the daemon's state and counts of its life.

    consolidated, to_consolidate: turns by the rules in use. refused: hook calls by reason; redacted: marks by kind;
    hooks: times by operation.
    """

    daemon: StatusFound = field(default_factory=StatusFound)
    sessions: int = 0
    used: UsageShare = field(default_factory=UsageShare)
    consolidated: int = 0
    to_consolidate: int = 0
    quarantined: int = 0
    memory_notes: ReadingState = field(default_factory=ReadingState)
    embedding_use: ModelUse = field(default_factory=ModelUse)
    recall: RecallCounts = field(default_factory=RecallCounts)
    arrived: int = 0
    refused: dict[str, int] = {}
    redacted: dict[str, int] = {}
    hooks: dict[str, OpTimes] = {}
    embedding: EmbeddingTimes = field(default_factory=EmbeddingTimes)


class SettingsHeld(Message):
    """Settings as they hold for the caller's variables.

    settings: each with key, value, unit and from. problem: of the sources, one line. warnings: of the project's
    file. ignored: variables that set nothing. changed_since_daemon: since a running daemon has read them.
    """

    file: str = ""
    settings: list[dict[str, Any]] = []
    warnings: list[str] = []
    problem: str = ""
    ignored: list[str] = []
    changed_since_daemon: bool = False


class Stopped(Message):
    """The daemon that leaves."""

    pid: int = 0


class Settled(Message):
    """Counts of a flush; unembedded: chunks, -1 for unknown."""

    taken: int = 0
    consolidated: int = 0
    waiting: int = 0
    embedded: int = 0
    unembedded: int = 0


class Reindexed(Message):
    """Counts of a new index."""

    chunks: int = 0
    consolidated: int = 0


class Repaired(Message):
    """Counts of a repair, and the damage.

    events: brought back. memories: turns remembered anew. indexed: memories indexed anew. missing: events of remembered
    turns that are gone. unknown_rules: wishes whose author nothing tells any more.
    in_doubt: citations of memories that a person should look at. aside: the folder of the remains, or "".
    """

    events: int = 0
    memories: int = 0
    indexed: int = 0
    missing: int = 0
    unknown_rules: int = 0
    in_doubt: list[str] = []
    damage: list[str] = []
    aside: str = ""


class Witnessed(Message):
    """Prompts and answers in the audited sessions, counted.

    by_hook: captured as they happened. by_transcript: missed by the hook and found later. waiting: in the spool.
    forgotten: on request. lost: in the transcript alone. left_out: sessions without a readable transcript, or with a
    very long one. unfound: those of them whose transcript was never found, though the host named one. finding: (ok,
    warn or fail; the state; the remedy).
    """

    sessions: int = 0
    by_hook: int = 0
    by_transcript: int = 0
    waiting: int = 0
    forgotten: int = 0
    lost: int = 0
    left_out: int = 0
    worst_session: str = ""
    unfound: list[str] = []
    finding: list[str] = []


class EditCounts(Message):
    """Memories that a user's changes added, edited (or pinned) and retired."""

    added: int = 0
    edited: int = 0
    removed: int = 0

    def __add__(self, other: "EditCounts") -> "EditCounts":
        return EditCounts(self.added + other.added, self.edited + other.edited, self.removed + other.removed)


class MemoryFiles(Message):
    """A project's memory files.

    taken_back: a person's changes. extra: searched files by the name set.
    """

    project_id: str = ""
    project: str = ""
    folder: str = ""
    files: list[str] = []
    taken_back: EditCounts = field(default_factory=EditCounts)
    notices: list[str] = []
    extra: dict[str, int] = {}


class Files(Asking[MemoryFiles], tag="files"):
    """accept: those of the work tree as well, once for its folder."""

    project_dir: Path = ""
    accept: bool = False


class Flush(Asking[Settled], tag="flush"):
    pass


class Stats(Asking[StatsFound], tag="stats"):
    limit_dir: Path = ""


class Reindex(Asking[Reindexed], tag="reindex"):
    pass


class Repair(Asking[Repaired], tag="repair"):
    pass


class Witness(Asking[Witnessed], tag="witness"):
    pass


class Settings(Asking[SettingsHeld], tag="settings"):
    """root: of a project, or "". variables: the caller's, NAME=value."""

    root: Path = ""
    variables: Names = ()


class Status(Asking[StatusFound], tag="status"):
    pass


class Stop(Asking[Stopped], tag="stop"):
    pass
