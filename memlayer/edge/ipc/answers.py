"""Answers of the daemon's operations about memories, as their JSON is.

The command line and other clients read them (`arguments.read_answer`). Names are added, never removed or renamed within
a protocol: two versions may meet for a moment. Times end in _ms: Unix time in milliseconds, 0 for unknown or never.
"""

from __future__ import annotations

from typing import Any, Optional, TypedDict

Parts = dict[str, Optional[float]]
MemoryCounts = dict[str, Any]  # a text, and counts by the plurals of kinds.CATEGORIES


class MemoryRow(TypedDict):
    """A memory (model.Memory) with the name of its project.

    text: with the mark of its kind. headline: "" where nobody wrote one.
    """

    id: str
    key: str
    citation: str
    category: str
    kind: str
    text: str
    importance: float
    project_id: str
    project: str
    session_id: str
    prompt_id: str
    source_ids: list[str]
    at_ms: int
    superseded_by: str
    superseded_ms: int
    pinned: bool
    settled: str
    evidence: str
    level: int
    files: list[str]
    error: str
    headline: str
    subject: str


class Mode(TypedDict):
    """The searches that run.

    mode: hybrid or lexical. why: it is lexical.
    """

    mode: str
    why: str


class Candidate(TypedDict):
    """A memory that recall looked at.

    chance in [0, 1]. parts: of its score.
    """

    key: str
    citation: str
    score: float
    chance: float
    parts: Parts
    kept: bool
    reason: str
    snippet: str


class Recalled(Mode):
    """The notes for a prompt, with the reasons.

    block: "" for none. gate: why nothing was given, or open. need in [0, 1]. queries: the text and the terms.
    """

    block: str
    gate: str
    need: float
    signals: dict[str, float]
    queries: list[str]
    took_ms: float
    candidates: list[Candidate]


class Hit(MemoryRow):
    """A memory that a search found, best first.

    preview: the start of its text. event_type: turn, day, note or the kind of a statement. path: of the file that holds
    it, "" for none; lines from 1, inclusive.
    """

    score: float
    parts: Parts
    snippet: str
    preview: str
    event_type: str
    path: str
    start_line: int
    end_line: int


class DoneTurn(MemoryRow):
    """A turn whose tool call holds the words. snippet: the call."""

    snippet: str


class Hits(Mode):
    """The hits of a search, and turns by their tool calls."""

    hits: list[Hit]
    done: list[DoneTurn]


class EventRow(TypedDict):
    """A source of a memory."""

    id: str
    kind: str
    text: str
    at_ms: int
    source: str


class UseRow(TypedDict):
    """A session that cited a memory."""

    session_id: str
    at_ms: int


class MissingSource(TypedDict):
    """A source that is gone. at_ms: when it went."""

    id: str
    why: str
    at_ms: int


class Neighbour(TypedDict):
    """A turn near a memory's own.

    mine: it is the own one.
    """

    key: str
    citation: str
    at_ms: int
    text: str
    mine: bool


class Quote(TypedDict):
    """Words that a statement rests on. start, end: characters of the text."""

    quote: str
    at_ms: int
    start: int
    end: int
    speaker: str
    method: str
    confidence: float


class Growth(TypedDict, total=False):
    """A statement's level and the facts behind it, {} for other memories.

    See growth.levels.
    """

    level: int
    name: str
    reason: str
    accesses: int
    confidence: float
    sessions: int
    last_ms: int
    said: int
    has_evidence: bool


class Shown(TypedDict):
    """A memory with its sources, versions and uses.

    beside: the things that it is about or waits for. said_again: the turns of later sessions that say it, too.
    """

    memory: MemoryRow
    newer: list[MemoryRow]
    older: list[MemoryRow]
    events: list[EventRow]
    cited_in: list[UseRow]
    missing: list[MissingSource]
    beside: list[str]
    said_again: list[MemoryRow]
    neighbours: list[Neighbour]
    quotes: list[Quote]
    growth: Growth


class Matches(TypedDict):
    """The memories of some names, and the names of none."""

    matches: list[Shown]
    unknown: list[str]


class Memories(TypedDict):
    """Memories, newest first."""

    memories: list[MemoryRow]


class CitedMemory(MemoryRow):
    """A memory with counts of its uses."""

    cited: int
    cited_sessions: int
    shown_sessions: int
    last_cited_ms: int


class Cited(TypedDict):
    """Memories by use."""

    memories: list[CitedMemory]


class UsageShare(TypedDict):
    """Counts of notes within some days; see records.usages.Share."""

    window_days: int
    shown: int
    cited: int
    opened: int
    cited_of_shown: int


class Remembered(TypedDict):
    """A remembered statement.

    is_new: nothing was merged. older: memories that it superseded. newer: the memory that superseded it already, if
    any. contradicts: pinned memories that say otherwise.
    """

    memory: MemoryRow
    is_new: bool
    older: list[MemoryRow]
    newer: list[MemoryRow]
    contradicts: list[MemoryRow]


class Changed(TypedDict):
    """A memory after its change."""

    memory: MemoryRow


class SourceRow(TypedDict):
    """A source of a version, without its text."""

    id: str
    kind: str
    at_ms: int
    session_id: str
    source: str


class Version(MemoryRow):
    """A memory's current, superseded, reworded or retired version, and the reason."""

    state: str
    why: str
    sources: list[SourceRow]


class Versions(TypedDict):
    """All versions of a memory, newest first. asked: the named one's id."""

    asked: str
    versions: list[Version]


class RemovedRows(TypedDict):
    """Counts of erased rows."""

    events: int
    memories: int
    chunks: int


class ForgottenMemory(MemoryRow):
    """A memory that goes. along: because of another one."""

    along: bool


class Forgotten(TypedDict):
    """A selection that is forgotten, or would be.

    events: how many go. left: memory files that could not be cleaned, and why, one line each. unknown: ids of none.
    """

    memories: list[ForgottenMemory]
    events: int
    removed: RemovedRows
    left: list[str]
    unknown: list[str]


class AgedRows(TypedDict):
    """Rows of a project that are too old.

    what: a memory's category or an event's kind.
    """

    project_id: str
    project: str
    what: str
    rows: int
    oldest_ms: int


class Aged(TypedDict):
    """All rows that are too old, or were.

    days: the settings. left: see Forgotten.
    """

    days: dict[str, int]
    rows: list[AgedRows]
    removed: RemovedRows
    left: list[str]


class ReviewItem(TypedDict):
    """A memory under review. against: the memory that it contradicts."""

    memory: MemoryRow
    reason: str
    why: str
    against: Optional[MemoryRow]  # noqa: UP045 - evaluated on Python 3.9, too


class TaskMeant(TypedDict):
    """A task that a sentence may be about."""

    citation: str
    title: str
    status: str


class TaskAsked(TypedDict):
    """A sentence that may be about a task.

    id: six characters, for the answer. wish: the status that it reports. candidates: the likeliest first.
    """

    id: str
    wish: str
    quote: str
    at_ms: int
    candidates: list[TaskMeant]


class ReviewList(TypedDict):
    """Memories and sentences under review. total: also beyond the limit."""

    items: list[ReviewItem]
    total: int
    task_questions: list[TaskAsked]


class Decided(TypedDict):
    """A decision on a memory under review, and the memory after it.

    memory: None where no task is meant.
    """

    how: str
    memory: Optional[MemoryRow]  # noqa: UP045 - evaluated on Python 3.9, too


class Undone(TypedDict):
    """A decision that was taken back. memory: None for a kept one."""

    how: str
    memory: Optional[MemoryRow]  # noqa: UP045 - evaluated on Python 3.9, too


class TextForModel(TypedDict):
    """Text for a model, and the citations in it."""

    text: str
    ids: list[str]
