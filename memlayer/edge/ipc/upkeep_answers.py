"""Answers about the daemon, its store and files, as JSON.

As in `answers`: names are added, never removed; times end in _ms. Hooks do not import this module.
"""

from __future__ import annotations

from typing import Any, Optional, TypedDict

from memlayer.edge.ipc.answers import UsageShare
from memlayer.edge.ipc.session_answers import ReadingState


class TableState(TypedDict):
    """A table of the store in counts. indexes: their names."""

    rows: int
    fragments: int
    versions: int
    unindexed_rows: int
    indexes: list[str]


class ProjectCount(TypedDict):
    """The memories of a project."""

    project_id: str
    project: str
    memories: int


class EmbeddingModel(TypedDict):
    """The embedding model.

    fingerprint: "" while none is loaded. place: that a provider is asked at, without its key. calibrated: the texts
    that its chances come from.
    """

    name: str
    provider: str
    fingerprint: str
    place: str
    calibrated: str


class DaemonState(TypedDict):
    """The daemon as `stats` tells of it.

    rebuilding: its work on the index, or "".
    """

    build: str
    pid: int
    since_ms: int
    rss_bytes: int
    rebuilding: str


class ModelCounts(TypedDict):
    """Calls of a model in a day, or in all."""

    calls: int
    tokens: int
    cost_usd: float


class ModelUse(TypedDict, total=False):
    """A language model's use and budget; {} without one.

    missing: the package or program that it lacks, or "". is_over: no call is allowed any more today.
    """

    provider: str
    model: str
    is_on: bool
    missing: str
    reads: str
    today: ModelCounts
    all: ModelCounts
    daily_calls: int
    daily_tokens: int
    is_over: bool
    problem: str
    problem_ms: int


class EmbeddingUse(TypedDict, total=False):
    """The tokens of a provider of embeddings; {} without one."""

    today: ModelCounts
    all: ModelCounts
    daily_tokens: int
    is_on: bool


class RecallCounts(TypedDict):
    """Prompts, those that were given notes, notes and their characters."""

    prompts: int
    answered: int
    entries: int
    chars: int


class OpTimes(TypedDict):
    """An operation's calls and times; None before the first call."""

    count: int
    late: int
    p50_ms: Optional[float]  # noqa: UP045 - evaluated on Python 3.9, too
    p95_ms: Optional[float]  # noqa: UP045 - evaluated on Python 3.9, too


class EmbeddingTimes(TypedDict):
    """Texts that were embedded, and the mean time of each."""

    queries: int
    query_ms: Optional[float]  # noqa: UP045 - evaluated on Python 3.9, too
    passages: int
    passage_ms: Optional[float]  # noqa: UP045 - evaluated on Python 3.9, too


class Stats(TypedDict):
    """Counts of the store and of the daemon's life.

    by_category and core_by_kind count memories that hold. consolidated, to_consolidate: turns by the extractor in use.
    refused: hook calls by reason; redacted: marks by kind; hooks: times by operation.
    """

    events: int
    memories: int
    chunks: int
    sessions: int
    projects: int
    embedded: int
    disk_bytes: int
    schema_version: int
    tables: dict[str, TableState]
    by_category: dict[str, int]
    by_project: list[ProjectCount]
    core_by_kind: dict[str, int]
    superseded: int
    used: UsageShare
    used_ever: dict[str, int]
    consolidated: int
    to_consolidate: int
    spool_waiting: int
    quarantined: int
    mode: str
    why: str
    model: EmbeddingModel
    daemon: DaemonState
    language_model: ModelUse
    memory_notes: ReadingState
    embedding_use: EmbeddingUse
    recall: RecallCounts
    arrived: int
    refused: dict[str, int]
    redacted: dict[str, int]
    hooks: dict[str, OpTimes]
    embedding: EmbeddingTimes


class Damage(TypedDict):
    """Damage of a table.

    aside: the folder that its remains are kept in, or "".
    """

    table: str
    says: str
    is_minor: bool
    aside: str


class SettingsHeld(TypedDict):
    """Settings as they hold for the caller's variables.

    settings: each with key, value, unit and from. problem: of the sources, one line. warnings: of the project's
    file. ignored: variables that set nothing. changed_since_daemon: since a running daemon has read them.
    """

    file: str
    settings: list[dict[str, Any]]
    warnings: list[str]
    problem: str
    ignored: list[str]
    changed_since_daemon: bool


class Status(TypedDict):
    """The daemon's state.

    store: opening, open or failed. job: that runs, or "". hooks_worked_ms: the last call in time by hook.
    settings_stamp: of the settings that it started with.
    """

    build: str
    protocol: int
    pid: int
    python: str
    since_ms: int
    settings_stamp: str
    settings_problem: str
    mode: str
    why: str
    store: str
    store_error: str
    damage: list[Damage]
    job: str
    jobs_waiting: int
    job_errors: int
    last_job_error: str
    hooks_worked_ms: dict[str, int]
    rebuilding: str
    file_notices: list[str]
    rss_bytes: int
    model: EmbeddingModel
    language_model: ModelUse
    spool_waiting: int
    spool_age_s: float


class Stopped(TypedDict):
    """The daemon that leaves."""

    pid: int


class Settled(TypedDict):
    """Counts of a flush.

    waiting: in the spool. unembedded: chunks, -1 for unknown.
    """

    taken: int
    consolidated: int
    waiting: int
    embedded: int
    unembedded: int


class Reindexed(TypedDict):
    """Counts of a new index."""

    chunks: int
    consolidated: int


class Repaired(TypedDict):
    """Counts of a repair (indexing.repair.Repaired), and the damage.

    in_doubt: citations of memories that a person should look at. aside: the folder of the remains, or "".
    """

    events: int
    memories: int
    indexed: int
    missing: int
    in_doubt: list[str]
    damage: list[str]
    aside: str


class Witnessed(TypedDict):
    """Events in the host's transcripts against those stored; see transcripts.audit.

    finding: (ok, warn or fail; the state; the remedy).
    """

    sessions: int
    by_hook: int
    by_transcript: int
    waiting: int
    forgotten: int
    lost: int
    left_out: int
    worst_session: str
    unfound: list[str]
    finding: list[str]


class MemoryFiles(TypedDict):
    """A project's memory files.

    taken_back: a person's changes, by sort. extra: searched files by the name set.
    """

    project_id: str
    project: str
    folder: str
    files: list[str]
    taken_back: dict[str, int]
    notices: list[str]
    extra: dict[str, int]
