"""The seams with two implementations: where service asks and adapters (or the doubles in testing.py) answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memlayer.core.model import Chunk, Event, Hit, Memory, Scope

Vector = tuple[float, ...]
Progress = Callable[[int, int], None]  # (done, total)


@dataclass(frozen=True)
class Calibration:
    """How raw cosines of one model become a relevance in [0, 1].

    low and high: the centred cosines that map to 0 and 1 (measured on background text); between them linear.
    """

    low: float
    high: float

    def position(self, cosine: float) -> float:
        """cosine: dot product of two centred unit vectors. 0 at low, 1 at high, and beyond them less or more."""
        return (cosine - self.low) / (self.high - self.low)

    def relevance(self, cosine: float) -> float:
        """The position, within [0, 1]."""
        return min(1.0, max(0.0, self.position(cosine)))


class Embedder(Protocol):
    """Text to unit vectors. Implementations apply the model's prefixes and its centring themselves."""

    @property
    def fingerprint(self) -> str:
        """Names model, prefixes and centring; vectors of different fingerprints must never be compared."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def calibration(self) -> Calibration: ...

    def embed_query(self, text: str) -> Vector: ...

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]: ...


@dataclass(frozen=True)
class Selection:
    """What to forget or list. Empty fields do not restrict; all given ones must hold."""

    memory_ids: tuple[str, ...] = ()
    session_id: str = ""
    project_id: str = ""
    before_ms: int = 0


@dataclass(frozen=True)
class Removed:
    """What a forget removed, and what the caches need to forget the rest."""

    events: int = 0
    memories: int = 0
    chunks: int = 0
    event_ids: tuple[str, ...] = ()
    chunk_texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class StoreStats:
    """Counts of rows; disk_bytes of the store's folder; tables: rows, fragments, versions and index state by table.

    by_category and by_project count memories.
    """

    events: int
    memories: int
    chunks: int
    sessions: int
    projects: int
    embedded: int
    disk_bytes: int
    schema_version: int
    tables: dict[str, dict[str, object]] = field(default_factory=dict)
    by_category: dict[str, int] = field(default_factory=dict)
    by_project: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Damage:
    """Something of the store that could not be read. is_minor: a power failure explains it, or the table is derived, so
    that a repair makes it whole. aside: the folder where damaged files are kept, or ""."""

    at_ms: int
    table: str
    says: str
    is_minor: bool
    aside: str = ""


class Store(Protocol):
    """The store of record. One process writes; any number of its threads read. All errors are StoreError.

    Every write is on disk (fsynced) when the call returns.
    """

    def add_events(self, events: Sequence[Event]) -> list[str]:
        """Insert the events whose id is not there yet; returns the ids inserted, in order."""
        ...

    def put_memories(self, memories: Sequence[Memory]) -> None:
        """Insert or replace by id."""
        ...

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Insert or replace by id."""
        ...

    def drop_chunks(self, memory_ids: Sequence[str]) -> None:
        """Remove all chunks of these memories."""
        ...

    def events(
        self,
        *,
        ids: Sequence[str] | None = None,
        prompt_ids: Sequence[str] | None = None,
        session_id: str = "",
        project_id: str = "",
        kind: str = "",
        limit: int = 1000,
    ) -> list[Event]:
        """Events that match all given filters, oldest first; the newest `limit` of them."""
        ...

    def memories(
        self,
        *,
        ids: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        citations: Sequence[str] | None = None,
        project_id: str = "",
        session_id: str = "",
        category: str = "",
        before_ms: int = 0,
        superseded_by: Sequence[str] | None = None,
        source_ids: Sequence[str] | None = None,
        kind: str = "",
        is_current: bool | None = None,
        not_settled: str = "",
        limit: int = 1000,
        order: str = "newest",
    ) -> list[Memory]:
        """Memories that match all given filters; order: newest | importance (then newest).

        superseded_by: by any of these ids. source_ids: drawn from any of these events. is_current: not superseded, or
        (False) superseded. not_settled: consolidated by another extractor than this one, or by none.
        """
        ...

    def search_text(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        """Chunks that hold any of the terms (from core.terms.query_terms), best BM25 first; Hit.lexical is set."""
        ...

    def search_vector(self, vector: Vector, model: str, scope: Scope, limit: int) -> list[Hit]:
        """Nearest chunks among those embedded by `model` (a fingerprint), best first; Hit.cosine is set."""
        ...

    def scan_terms(self, consume: Callable[[str, str], None]) -> None:
        """Call consume(chunk id, terms) for every chunk, in bounded memory."""
        ...

    def unembedded(self, model: str, limit: int) -> list[Chunk]:
        """Chunks whose vector is missing or made by another model."""
        ...

    def count_unembedded(self, model: str) -> int: ...

    def set_vectors(self, vectors: Sequence[tuple[str, Vector]], model: str) -> None:
        """(chunk id, vector) pairs; other columns stay."""
        ...

    def forget(self, selection: Selection) -> Removed:
        """Remove memories, their events and their chunks from every table and from old versions."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of the vectors that fit; 0 while there is none."""
        ...

    def fit(self, dimensions: int) -> None:
        """Make vectors of this length fit; vectors of another length are dropped (see unembedded)."""
        ...

    def clear_chunks(self) -> None:
        """Drop and recreate the search index."""
        ...

    def warm(self, project_id: str, model: str) -> None:
        """Prepare for searches in that project: the first one is then as quick as the next."""
        ...

    def upkeep(self, *, force: bool = False) -> bool:
        """Compact fragments, bring indexes up to date, drop old versions, if there is enough to do; True if it did."""
        ...

    def stats(self) -> StoreStats: ...

    def damage(self) -> list[Damage]:
        """What was found damaged, until clear_damage(); the store goes on with what it can read."""
        ...

    def clear_damage(self) -> None:
        """The damage is repaired, as far as it can be."""
        ...

    def close(self) -> None: ...
