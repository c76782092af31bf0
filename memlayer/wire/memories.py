"""Operations on memories: recall, search, show, list, change, their uses."""

from typing import Any

from memlayer.model import Event, Memory, Usage
from memlayer.wire.message import Asking, Limit, Message, Names, Path, Share, TextOrNone, Whole


class MemoryRow(Memory, frozen=True):
    """A memory with its project's name and session's host. text: marked."""

    project: str = ""
    host: str = ""


class SearchMode(Message):
    """The searches that run, hybrid or lexical, and why lexical."""

    mode: str = ""
    why: str = ""


class Candidate(Message):
    """A memory that recall looked at.

    chance in [0, 1]. parts: of its score.
    """

    key: str = ""
    citation: str = ""
    score: float = 0.0
    chance: float = 0.0
    parts: dict[str, float | None] = {}
    kept: bool = False
    reason: str = ""
    snippet: str = ""


class Recalled(SearchMode):
    """The notes for a prompt, with the reasons.

    block: "" for none. gate: why nothing was given, or open. need in [0, 1]. queries: the text and the terms.
    """

    block: str = ""
    gate: str = ""
    need: float = 0.0
    signals: dict[str, Any] = {}
    queries: list[str] = []
    took_ms: float = 0.0
    candidates: list[Candidate] = []


class Hit(MemoryRow, frozen=True):
    """A memory that a search found, best first.

    preview: the start of its text. event_type: turn, day, note or the kind of a statement. path: of the file that holds
    it, "" for none. Lines from 1, inclusive.
    """

    score: float = 0.0
    parts: dict[str, float | None] = {}
    snippet: str = ""
    preview: str = ""
    event_type: str = ""
    path: str = ""
    start_line: int = 0
    end_line: int = 0


class Hits(SearchMode):
    """The hits of a search, and turns by their tool calls."""

    hits: list[Hit] = []
    done: list[Hit] = []


class MissingSource(Message):
    """A source that is gone. at_ms: when it went."""

    id: str = ""
    why: str = ""
    at_ms: int = 0


class Neighbour(Message):
    """A turn near a memory's own, or the own one."""

    key: str = ""
    citation: str = ""
    at_ms: int = 0
    text: str = ""
    mine: bool = False


class Quote(Message):
    """Words that a statement rests on. start, end: characters of the text."""

    quote: str = ""
    at_ms: int = 0
    start: int = 0
    end: int = 0
    speaker: str = ""
    method: str = ""
    confidence: float = 0.0


class Shown(Message):
    """A memory with its sources, versions and uses.

    beside: the things that it is about or waits for. said_again: the turns of later sessions that say it, too.
    growth: a level and the facts behind it (growth.levels), {} for no statement.
    """

    memory: MemoryRow
    newer: list[MemoryRow] = []
    older: list[MemoryRow] = []
    events: list[Event] = []
    cited_in: list[Usage] = []
    missing: list[MissingSource] = []
    beside: list[str] = []
    said_again: list[MemoryRow] = []
    neighbours: list[Neighbour] = []
    quotes: list[Quote] = []
    growth: dict[str, Any] = {}


class Matches(Message):
    """The memories of some names, and the names of none."""

    matches: list[Shown] = []
    unknown: list[str] = []


class Memories(Message):
    """Memories, newest first."""

    memories: list[MemoryRow] = []


class CitedMemory(MemoryRow, frozen=True):
    """A memory with counts of its uses."""

    cited: int = 0
    cited_sessions: int = 0
    shown_sessions: int = 0
    last_cited_ms: int = 0


class Cited(Message):
    """Memories by use."""

    memories: list[CitedMemory] = []


class UsageShare(Message):
    """Counts of notes within some days.

    shown: at prompts. The lines of starts do not count.
    """

    window_days: int = 0
    shown: int = 0
    cited: int = 0
    opened: int = 0
    cited_of_shown: int = 0


class Remembered(Message):
    """A remembered statement.

    is_new: nothing was merged. older: memories that it replaced. newer: the memory that replaced it already, if any.
    contradicts: pinned memories that say otherwise.
    """

    memory: MemoryRow
    is_new: bool = False
    older: list[MemoryRow] = []
    newer: list[MemoryRow] = []
    contradicts: list[MemoryRow] = []


class Changed(Message):
    """A memory after its change. replaces: those in whose place it is."""

    memory: MemoryRow
    is_changed: bool = True
    replaces: list[MemoryRow] = []


class Version(MemoryRow, frozen=True):
    """A memory's version. sources: without their texts."""

    sources: list[Event] = []


class Versions(Message):
    """All versions of a memory, newest first. asked: the named one's id."""

    asked: str = ""
    versions: list[Version] = []


class Recall(Asking[Recalled], tag="recall"):
    """is_explained: candidates that were left out have snippets too."""

    prompt: str = ""
    project_dir: Path = ""
    session_id: str = ""
    is_explained: bool = False


class Search(Asking[Hits], tag="search"):
    query: str = ""
    project_dir: Path = ""
    limit: Limit = 10
    min_score: Share = 0.0
    since_ms: Whole = 0
    until_ms: Whole = 0
    category: str = ""
    kind: str = ""
    session_id: str = ""
    file: str = ""


class Show(Asking[Matches], tag="show"):
    """limit_dir: a model asks, within this project."""

    ids: Names = ()
    limit_dir: Path = ""


class List(Asking[Memories], tag="list"):
    """rules: only the person's orders in force."""

    project_dir: Path = ""
    session_id: str = ""
    category: str = ""
    limit: Limit = 50
    with_superseded: bool = False
    rules: bool = False


class Remember(Asking[Remembered], tag="remember"):
    """id_: of a `remember` event in the spool."""

    id_: str = ""


class Pin(Asking[Changed], tag="pin"):
    id_: str = ""
    off: bool = False


class Edit(Asking[Changed], tag="edit"):
    """text: "" for the same, with a headline or a subject."""

    id_: str = ""
    text: str = ""
    headline: TextOrNone = None
    subject: TextOrNone = None


class Restore(Asking[Changed], tag="restore"):
    id_: str = ""
    keep_both: bool = False


class History(Asking[Versions], tag="history"):
    id_: str = ""
    limit_dir: Path = ""


class Citations(Asking[Cited], tag="citations"):
    """Arguments of a list of citations.

    order: "" for the newest citation first, popular, or unused: of the last 30 days.
    """

    order: str = ""
    limit: Limit = 10
    project_dir: Path = ""


class CountUses(Asking[UsageShare], tag="usage_share"):
    days: Limit = 30
