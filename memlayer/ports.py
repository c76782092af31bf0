"""Ports: the protocols that adapters, and doubles in tests, implement."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memlayer.errors import ConsolidationError, StoreError
from memlayer.kinds import Author, Category
from memlayer.model import Chunk, Event, EventCount, Hit, Memory, Scope, Usage
from memlayer.wire.curation import Removed as Removed
from memlayer.wire.curation import RowCount as RowCount
from memlayer.wire.upkeep import Damage as Damage
from memlayer.wire.upkeep import StoreStats as StoreStats

Vector = tuple[float, ...]
ScanProgress = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True)
class Calibration:
    """Map from a model's raw cosines to relevance in [0, 1].

    low and high: the centred cosines that map to 0 and 1. Between them linear. made: how and when they were measured.
    """

    low: float
    high: float
    made: str = ""

    def position(self, cosine: float) -> float:
        """Map centred unit vectors' cosine: low to 0, high to 1, unbounded."""
        return (cosine - self.low) / (self.high - self.low)

    def relevance(self, cosine: float) -> float:
        """Return the position, clipped to [0, 1]."""
        return min(1.0, max(0.0, self.position(cosine)))


@dataclass(frozen=True)
class DeletionPlan:
    """The rows to delete, with the chunks of these memories.

    counts: of a retention plan only.
    """

    event_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    counts: tuple[RowCount, ...] = ()


@dataclass(frozen=True)
class RetentionCutoffs:
    """The times before which retention deletes rows, by kind.

    Unix, ms; 0: none of the kind. conversation_ms: turns, and all events but those of tools. daily_ms, core_ms:
    memories of that category, core ones with those of category custom. Pinned and proven memories stay.
    """

    conversation_ms: int = 0
    tools_ms: int = 0
    daily_ms: int = 0
    core_ms: int = 0


class Embedder(Protocol):
    """Text to unit vectors. Implementations apply the model's prefixes and centring."""

    @property
    def fingerprint(self) -> str:
        """The name of model, prefixes and centring.

        Vectors of two fingerprints must never be compared.
        """

    @property
    def dimensions(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    @property
    def place(self) -> str:
        """Provider, model and host that texts go to; "" for this machine."""

    @property
    def problem(self) -> str:
        """Why queries are not embedded now, one line; "" when they are."""

    def embed_query(self, text: str) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...


class VectorCache(Protocol):
    """Vectors by content; see adapters.sqlite_files."""

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]: ...

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None: ...

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None: ...


@dataclass(frozen=True)
class Selection:
    """A selection of rows to forget or list: all fields must hold."""

    memory_ids: tuple[str, ...] = ()
    session_id: str = ""
    project_id: str = ""
    before_ms: int = 0


@dataclass(frozen=True)
class MemoryQuery:
    """The filters, order and limit of Store.memories.

    All given filters must match. Raises StoreError. session_id: one, or any of these. superseded_by: by any of these
    ids. source_ids: drawn from any of these events. is_current: in force, or (False) ended. unread_by:
    other rules than these have read it, or none. order: newest | importance (then newest).
    """

    ids: Sequence[str] | None = None
    keys: Sequence[str] | None = None
    citations: Sequence[str] | None = None
    project_id: str = ""
    session_id: str | Sequence[str] = ""
    category: Category | None = None
    before_ms: int = 0
    superseded_by: Sequence[str] | None = None
    source_ids: Sequence[str] | None = None
    kind: str = ""
    is_current: bool | None = None
    unread_by: int = 0
    limit: int = 1000
    order: str = "newest"

    def __post_init__(self) -> None:
        if self.order not in ("newest", "importance"):
            raise StoreError(f"unknown order {self.order!r}; use newest or importance")


ANY_MEMORY = MemoryQuery()


@dataclass(frozen=True)
class UsageQuery:
    """The filters and limit of Store.usages; all must match."""

    memory_ids: Sequence[str] | None = None
    session_id: str = ""
    project_id: str = ""
    how: str = ""
    since_ms: int = 0
    limit: int = 1000


@dataclass(frozen=True)
class Holding:
    """A project's chunks: their number, and how many hold each term."""

    chunks: int
    by_term: Mapping[str, int]


class Store(Protocol):
    """The store of record. All errors are StoreError.

    One process writes. Any number of its threads read. Every write is on disk (fsynced) when the call returns.
    """

    def add_events(self, events: Sequence[Event]) -> list[str]:
        """Insert events with new ids; return the inserted ids, in order."""

    def put_memories(self, memories: Sequence[Memory]) -> None:
        """Insert or replace by id."""

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Insert or replace by id."""

    def drop_chunks(self, memory_ids: Sequence[str], kept: Collection[str] = ()) -> None:
        """Remove the chunks of these memories, without those of kept ids."""

    def events(
        self,
        *,
        ids: Sequence[str] | None = None,
        prompt_ids: Sequence[str] | None = None,
        session_id: str = "",
        project_id: str = "",
        kind: str | Sequence[str] = "",
        since_ms: int = 0,
        before_ms: int = 0,
        limit: int = 1000,
    ) -> list[Event]:
        """Return events that match all given filters, oldest first; the newest `limit`."""

    def event_counts(self, project_id: str = "", since_ms: int = 0) -> list[EventCount]:
        """Count the events of each quarter of an hour, session and kind."""

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        """Return the memories that a query selects, in its order."""

    def turn_counts(self, session_ids: Sequence[str]) -> dict[str, int]:
        """Count the memories of turns of sessions."""

    def put_usages(self, usages: Sequence[Usage]) -> None:
        """Insert the usages whose id is not there yet."""

    def usages(self, query: UsageQuery) -> list[Usage]:
        """Usages that match the query, newest first."""

    def prune_usages(self) -> int:
        """Delete the usages of memories that are gone; their number."""

    def scan(self, consume: Callable[[Sequence[Event] | Sequence[Memory] | Sequence[Usage]], None]) -> None:
        """Hand over every event, memory and usage, in bounded memory.

        Events first, then memories, then usages. In parts and in no order.
        """

    def search_text(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        """Find chunks that hold any of the terms, best BM25 first.

        Terms: of text.terms.query_terms. Hit.lexical is set.
        """

    def holding(self, terms: Sequence[str], project_id: str) -> Holding | None:
        """Count a project's chunks by term; None where that needs a search."""

    def sounding_like(self, words: Sequence[str], project_id: str) -> dict[str, list[str]]:
        """Find a project's words of the other script by sound.

        words: Hangul runs and English stems. Words without any, and projects not in memory, are left out.
        """

    def search_vector(self, vector: Vector, model: str, scope: Scope, limit: int) -> list[Hit]:
        """Find the nearest chunks embedded by `model`, best first.

        model: a fingerprint. Hit.cosine is set.
        """

    def cosines(self, vector: Vector, model: str, project_id: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Measure chunks against a vector; {} where that needs a search."""

    def scan_terms(self, consume: Callable[[str, str], None]) -> None:
        """Call consume(chunk id, terms) for every chunk, in bounded memory."""

    def scan_texts(self, consume: Callable[[str], None]) -> None:
        """Call consume(text) for every chunk, in bounded memory."""

    def unembedded(self, model: str, limit: int) -> list[Chunk]:
        """Return chunks whose vector is missing or of another model."""

    def count_unembedded(self, model: str) -> int: ...

    def set_vectors(self, vectors: Sequence[tuple[str, Vector]], model: str) -> None:
        """Set vectors by (chunk id, vector); other columns stay."""

    def plan_deletion(self, selection: Selection) -> DeletionPlan:
        """Return the rows that a selection takes with it.

        The memories and events it names, the events that these come from, and every other memory drawn from them.
        """

    def plan_retention(self, cutoffs: RetentionCutoffs) -> DeletionPlan:
        """Plan the deletion of rows older than the cutoffs, with counts."""

    def forget(self, plan: DeletionPlan | Selection) -> Removed:
        """Erase the planned rows, or a selection's, from all versions."""

    @property
    def dimensions(self) -> int:
        """The length of the vectors that fit; 0 while there are none."""

    def fit(self, dimensions: int) -> None:
        """Fit vectors of this length; drop others (see unembedded)."""

    def clear_chunks(self) -> None:
        """Drop and recreate the search index."""

    def warm(self, project_id: str, model: str) -> None:
        """Prepare a project: its first search is as quick as the next."""

    def upkeep(self, *, force: bool = False) -> bool:
        """Compact, update indexes and drop old versions if due; True if done."""

    def stats(self) -> StoreStats: ...

    def damage(self) -> list[Damage]:
        """Return damage until clear_damage(); the store serves its readable rows."""

    def clear_damage(self) -> None:
        """Note that the damage is repaired, as far as it can be."""

    @property
    def is_suspect(self) -> bool:
        """True if a table failed since opening or the last recheck()."""

    def recheck(self) -> bool:
        """Open the tables anew without unreadable rows; True if damage was found."""

    def close(self) -> None: ...


def notes_in_force(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return a project's core memories in force, newest first, tasks too.

    None of which it is unclear whose words they are.
    """
    asked = MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=limit)
    return [row for row in store.memories(asked) if row.by is not Author.UNCLEAR]


def memories_by_id(store: Store, ids: Iterable[str]) -> dict[str, Memory]:
    """Return id -> memory, of the stored ones of these."""
    wanted = sorted(set(ids))
    return {row.id: row for row in store.memories(MemoryQuery(ids=wanted, limit=len(wanted)))} if wanted else {}


def events_by_id(store: Store, ids: Iterable[str]) -> dict[str, Event]:
    """Return id -> event, of the stored ones of these, oldest first."""
    wanted = sorted(set(ids))
    return {event.id: event for event in store.events(ids=wanted, limit=len(wanted))} if wanted else {}


@dataclass(frozen=True)
class Completion:
    """A language model's answer and its usage, 0 where it says none."""

    text: str
    input_tokens: int
    output_tokens: int
    cost_usd: float = 0.0


class LanguageModel(Protocol):
    """Language model that the user turned on; no state between calls."""

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """Complete a prompt once, within the deadline.

        Gives up at the deadline. max_tokens: of the answer. Raises ConsolidationError, one line without any text of the
        prompt. ModelMissing when nothing was sent.
        """


class ModelMissing(ConsolidationError):
    """No program, package or key to call the model; nothing was sent."""
