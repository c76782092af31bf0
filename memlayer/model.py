"""Model values: events, memories, chunks and hits, and their ids."""

import dataclasses
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import msgspec

from memlayer.edge.capture.spool import event_id
from memlayer.edge.home.registry import GLOBAL
from memlayer.edge.home.session_ids import TEAM_SESSION
from memlayer.kinds import CATEGORIES, PERSONS, Author, Category, Ended, Kind, kind_of

__all__ = [
    "GLOBAL",
    "Chunk",
    "Event",
    "EventCount",
    "Hit",
    "Memory",
    "Row",
    "Scope",
    "TurnId",
    "Usage",
    "chunk_id",
    "citation_of",
    "event_id",
    "memory_key",
    "replace",
    "team_session",
    "turn_memory_id",
    "unix_ms",
    "usage_of",
]

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CITATION_CHARS = 6
FROM_INDEX = -1  # Memory.rules: a damage left its text alone, its author is to be drawn again
PROVEN = 3  # level from which age deletes no memory, and an order stands above newer ones

SHOWN, CITED, OPENED = USES = ("shown", "cited", "opened")
TurnId = tuple[str, str]  # session id, prompt id
Value = TypeVar("Value")


class Row(msgspec.Struct, frozen=True):
    """A stored value, defined once for store, wire, JSON and API."""

    def fields(self) -> dict[str, Any]:
        """Return the JSON object of the row."""
        told: dict[str, Any] = msgspec.to_builtins(self)
        return told

    def as_row(self, kind: type[Value], **more: Any) -> Value:
        """Return a row of a kind that has further fields."""
        return kind(**msgspec.structs.asdict(self) | more)


def replace(value: Value, **fields: Any) -> Value:
    """Return a row, or a dataclass, with other fields."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **fields)
    return dataclasses.replace(value, **fields)  # type: ignore[type-var]


class Event(Row, frozen=True):
    """A prompt, answer, tool call or session event. Append-only.

    kind: user | assistant | tool | task | remember | session_start | session_end | pre_compact | post_compact.
    source: hook | transcript | import.
    prompt_id groups a prompt with its answer (one turn). Empty for session events. uuid is the transcript's record
    uuid where known. at_ms: Unix time, milliseconds.
    """

    id: str
    kind: str
    session_id: str
    project_id: str
    prompt_id: str
    text: str
    at_ms: int
    source: str = "hook"
    uuid: str = ""
    detail: str = ""  # session_start: its source; session_end: its reason; compactions: manual or auto


class EventCount(NamedTuple):
    """A session's events of a kind within a quarter of an hour."""

    at_ms: int
    session_id: str
    kind: str
    rows: int


class Memory(Row, frozen=True):
    """A statement worth keeping, with the events it comes from.

    kind: as stored, a value of Kind or the place of a piece. See known_kind.
    importance in [0, 1]. by: who said it. ended_because, ended_ms: why and since when it holds no more.
    superseded_by: id of the memory in its place, or "". pinned: the user wants it kept and first. rules: the version of
    the rules that have read this turn or drew this statement of it, untouched since; 0 for none, or FROM_INDEX.
    evidence: JSON of the source's spans that state it, "" while there is none. level: of growth/levels.py, 0 for raw.
    files: paths that it is about, as the session named them. error: the error line that it explains, or "".
    headline: the fact in a line, "" where nobody wrote one. subject: the group of its headline.
    citation: the name in [mem:...]; 6 characters of base 62, derived from the id.
    """

    id: str
    key: str
    citation: str
    category: Category
    kind: str
    text: str
    importance: float
    project_id: str
    session_id: str
    prompt_id: str
    source_ids: tuple[str, ...]
    at_ms: int
    by: Author = Author.MEMLAYER
    ended_because: Ended = Ended.NOT
    ended_ms: int = 0
    superseded_by: str = ""
    pinned: bool = False
    rules: int = 0
    evidence: str = ""
    level: int = 0
    files: tuple[str, ...] = ()
    error: str = ""
    headline: str = ""
    subject: str = ""

    @property
    def known_kind(self) -> Kind:
        """The kind by which rooms decide."""
        return kind_of(self.category, self.kind)

    @property
    def holds(self) -> bool:
        return not self.ended_because

    @property
    def is_persons(self) -> bool:
        """True for the person's own words, and others' that they kept."""
        return self.pinned or self.by in PERSONS

    @property
    def is_note(self) -> bool:
        """True for a model's checked note, edited or not."""
        is_checked = self.by is Author.READER or bool(self.evidence)
        return is_checked and self.category == Category.CORE and not self.rules and self.kind != Kind.TASK

    def ended(self, because: Ended, at_ms: int, successor: str = "") -> "Memory":
        """Return the memory as it holds no more. successor: an id."""
        return replace(self, ended_because=because, ended_ms=at_ms, superseded_by=successor)

    def again(self) -> "Memory":
        """Return the memory as it holds again."""
        return replace(self, ended_because=Ended.NOT, ended_ms=0, superseded_by="")

    @property
    def place(self) -> str:
        """The `name:start-end` of a piece of a person's own Markdown, else ""."""
        return self.kind if self.known_kind is Kind.PIECE else ""


class Usage(Row, frozen=True):
    """A use of a memory. Ids alone, no text.

    how: shown (recall or a session's start gave it), cited (an answer named it), opened (a person or a model looked it
    up). prompt_id: of the turn, "" for a session's start or a look-up. at_ms: Unix time, milliseconds.
    """

    id: str
    memory_id: str
    session_id: str
    project_id: str
    prompt_id: str
    how: str
    at_ms: int


class Chunk(Row, frozen=True):
    """A piece of text in the search index. Derived, rebuilt at will.

    memory_id: the memory that a hit on this chunk stands for. event_id: "" when the text is the memory's own.
    role: the memory's kind, as stored. start, end: character offsets in the source text. terms: the text pre-split for
    full-text search. model: fingerprint of the model that made `vector`, "" while there is none.
    """

    id: str
    memory_id: str
    event_id: str
    role: str
    session_id: str
    project_id: str
    prompt_id: str
    category: Category
    importance: float
    at_ms: int
    start: int
    end: int
    text: str
    terms: str
    model: str = ""
    vector: tuple[float, ...] | None = None

    @property
    def known_kind(self) -> Kind:
        """See Memory.known_kind."""
        return kind_of(self.category, self.role)


class Hit(Row, frozen=True):
    """A chunk found by lexical or vector search.

    lexical: raw BM25; cosine: raw dot product of unit vectors; None: not found by that search.
    """

    chunk: Chunk
    lexical: float | None = None
    cosine: float | None = None


@dataclass(frozen=True)
class Scope:
    """The scope of a search.

    project_ids None: everywhere, at the user's request only. session_id "": any. extra: columns with their values.
    Without a category daily memories are left out, since their turns say the same.
    """

    project_ids: tuple[str, ...] | None
    session_id: str = ""
    excluded_session_id: str = ""
    extra: dict[str, str] = field(default_factory=dict)


def unix_ms() -> int:
    """Return the present Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def _base62(raw: bytes, chars: int) -> str:
    number = int.from_bytes(raw, "big")
    out = []
    for _ in range(chars):
        number, digit = divmod(number, 62)
        out.append(_BASE62[digit])
    return "".join(out)


def citation_of(memory_id: str) -> str:
    """Return the citation of a memory: 6 characters of base 62.

    Two memories may share one (about 1 in 10 at 100,000). A reader that resolves a citation must expect several.
    """
    return _base62(hashlib.sha256(b"citation\0" + memory_id.encode()).digest()[:12], CITATION_CHARS)


def turn_memory_id(session_id: str, prompt_id: str) -> str:
    """Return the id of a turn's memory."""
    return event_id(session_id, prompt_id, Kind.TURN)


def team_session(project_id: str) -> str:
    """Return the session id of colleagues' notes in a project."""
    return TEAM_SESSION + project_id


def memory_key(category: Category, memory_id: str, at_ms: int) -> str:
    """Return a memory's key: `turn_<day>_<4 hex>`; a core memory's has no day."""
    name = CATEGORIES[category].key
    if category is not Category.CORE:
        name += time.strftime("_%Y-%m-%d", time.localtime(at_ms / 1000))
    return "%s_%s" % (name, memory_id[:4])


def chunk_id(memory_id: str, source_id: str, ordinal: int) -> str:
    """Return the id of an event's or memory's ordinal-th chunk."""
    return f"{memory_id}:{source_id[:16]}:{ordinal}"


def usage_of(memory: Memory, how: str, *, session_id: str, prompt_id: str, at_ms: int) -> Usage:
    """A use of a memory; reported twice, it has the same id."""
    once = prompt_id or str(at_ms // 86_400_000)
    usage_id = event_id(memory.id, session_id, how, once)
    return Usage(usage_id, memory.id, session_id, memory.project_id, prompt_id, how, at_ms)
