"""Answers of the daemon's operations about sessions, notes and talks.

See answers.py.
"""

from __future__ import annotations

from typing import Optional, TypedDict

from memlayer.edge.ipc.answers import MemoryRow


class GivenCounts(TypedDict):
    """Notes given in a session: to how many prompts, of how many."""

    prompts: int
    answered: int
    notes: int


class SessionDetails(TypedDict, total=False):
    """The details of a single session. core: memories drawn from it."""

    core: int
    events: int
    summary: str
    given: GivenCounts


class SessionRow(SessionDetails):
    """A session (records.sessions.Session) with counts.

    shown, inherited: how many notes. turns: memories of turns.
    """

    id: str
    project_id: str
    project: str
    project_dir: str
    transcript_path: str
    since_ms: int
    last_ms: int
    said_ms: int
    prompted_ms: int
    answered_ms: int
    measured_ms: int
    ended: str
    ended_ms: int
    context_since_ms: int
    caught_up_bytes: int
    read_bytes: int
    model: str
    total_tokens: int
    explained_ms: int
    start_chars: int
    flush_count: int
    compaction_count: int
    compact_start_ms: int
    compact_post_ms: int
    compact_awaits: str
    pre_compact_ms: int
    memory_flush_at: int
    memory_flush_compaction_count: int
    memory_asked_compaction_count: int
    asked_prompt_id: str
    summarized_ms: int
    noted_ms: int
    shown: int
    inherited: int
    turns: int


class Sessions(TypedDict):
    """Sessions, newest first. total: also those beyond the limit."""

    sessions: list[SessionRow]
    total: int


class FileSession(TypedDict):
    """A session that changed a file. turns: citations, oldest first."""

    session_id: str
    at_ms: int
    edits: int
    turns: list[str]


class FileHistory(TypedDict):
    """All that is kept about a file, newest first."""

    memories: list[MemoryRow]
    attempts: list[MemoryRow]
    sessions: list[FileSession]


class CureRow(TypedDict):
    """A call that worked after an error.

    line: of the error. sessions: how many met it. citation: of the turn.
    """

    line: str
    command: str
    sessions: int
    at_ms: int
    citation: str


class Cures(TypedDict):
    """Notes about an error, and its cures.

    met: how many sessions had it.
    """

    memories: list[MemoryRow]
    cures: list[CureRow]
    met: int


class GivenNote(TypedDict, total=False):
    """A note on record, with its memory unless that is forgotten.

    chance, helps, lexical, vector in [0, 1]; reason: why it was chosen or left out; why: of a note.
    """

    id: str
    citation: str
    key: str
    category: str
    day: str
    at_ms: int
    text: str
    superseded_by: str
    forgotten: bool
    chance: float
    helps: float
    reason: str
    why: str
    lexical: float
    vector: float
    newer: str


class GivenFacts(TypedDict, total=False):
    """Facts of a prompt that a daemon answered.

    start: the source of a session's start. place: "first prompt" of its session, or "". moment: the event that notes
    were given at, if no prompt.
    """

    gate: str
    place: str
    need: float
    mode: str
    took_ms: float
    left_out_count: int
    start: str
    moment: str


class GivenPrompt(GivenFacts):
    """A prompt or session start with its notes.

    prompt: its text, None if not kept. chars: of the block. delivered: the host had it in time.
    """

    at_ms: int
    session_id: str
    project_id: str
    project: str
    event_id: str
    chars: int
    delivered: bool
    prompt: Optional[str]  # noqa: UP045 - evaluated on Python 3.9, too
    given: list[GivenNote]
    left_out: list[GivenNote]


class GivenPrompts(TypedDict):
    """The record of the last prompts, newest first."""

    prompts: list[GivenPrompt]


class ReadingState(TypedDict):
    """The reading of sessions by a language model, in counts.

    reading: a session's id, or "". why: sessions wait, "" for no reason but their turn.
    """

    is_on: bool
    reading: str
    waiting: int
    read: int
    gave_up: int
    notes: int
    refused_notes: int
    calls: int
    tokens: int
    why: str


class NotesState(ReadingState):
    """Who reads sessions, and its budget.

    is_allowed: by the project that was asked for. problem: the model's last one.
    """

    provider: str
    model: str
    base_url: str
    reads: str
    is_enabled: bool
    is_allowed: bool
    today_tokens: int
    all_tokens: int
    daily_tokens: int
    is_over: bool
    problem: str
    problem_ms: int
    model_missing: str


class RefusedNote(TypedDict):
    """A note of the model that was not kept."""

    kind: str
    text: str
    reason: str
    at_ms: int
    session_id: str
    project: str


class RefusedNotes(TypedDict):
    """Refused notes, newest first. total: also those beyond the limit."""

    refusals: list[RefusedNote]
    total: int


class ProjectEstimate(TypedDict):
    """The sessions of a project to be read, and their tokens."""

    project_id: str
    project: str
    sessions: int
    tokens: int


class SessionsDone(TypedDict, total=False):
    """Counts of an executed reading. waiting: left over, because of problem."""

    read: int
    waiting: int
    problem: str
    notes: int
    refused_notes: int


class SessionsRead(SessionsDone):
    """The estimate of a reading, or its counts once it is done."""

    dry_run: bool
    is_on: bool
    sessions: int
    calls: int
    tokens: int
    by_project: list[ProjectEstimate]


class HeadlinesWritten(TypedDict):
    """Notes without a headline, and how many got one.

    problem: why some wait.
    """

    dry_run: bool
    is_on: bool
    notes: int
    calls: int
    tokens: int
    written: int
    problem: str


class TalkEvent(TypedDict):
    """An event of a talk with the agent."""

    kind: str
    prompt_id: str
    text: str
    detail: str
    at_ms: int


class TalkStep(TypedDict, total=False):
    """The answer to a step of a talk.

    It is {} where memory is switched off. start: context, notice. prompt: also ids of the notes. compact: orders,
    constraints, citation. history, undo: session_id, summary, events.
    """

    context: str
    notice: str
    ids: list[str]
    orders: str
    constraints: list[str]
    citation: str
    session_id: str
    summary: str
    events: list[TalkEvent]
