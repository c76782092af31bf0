"""A double of the store, in memory."""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from memlayer.adapters.search.word_index import WordSounds
from memlayer.errors import StoreError
from memlayer.kinds import Category
from memlayer.model import PROVEN, Chunk, Event, EventCount, Hit, Memory, Scope, Usage, replace
from memlayer.ports import (
    ANY_MEMORY,
    Damage,
    DeletionPlan,
    Holding,
    MemoryQuery,
    Removed,
    RetentionCutoffs,
    RowCount,
    Selection,
    StoreStats,
    UsageQuery,
    Vector,
)
from memlayer.text.terms import bm25, inverse_document_frequency


class MemoryStore:
    """Store in dictionaries: the real store's answers, nothing on disk."""

    def __init__(self, dimensions: int = 64) -> None:
        self._dimensions = dimensions
        self._lock = threading.RLock()
        self._events: dict[str, Event] = {}
        self._memories: dict[str, Memory] = {}
        self._chunks: dict[str, Chunk] = {}
        self._usages: dict[str, Usage] = {}

    def add_events(self, events: Sequence[Event]) -> list[str]:
        with self._lock:
            new = [event for event in {event.id: event for event in events}.values() if event.id not in self._events]
            self._events.update((event.id, event) for event in new)
            return [event.id for event in new]

    def put_memories(self, memories: Sequence[Memory]) -> None:
        with self._lock:
            self._memories.update((memory.id, memory) for memory in memories)

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        self._check_vectors(chunk.vector for chunk in chunks)
        with self._lock:
            for chunk in chunks:
                self._chunks[chunk.id] = chunk if chunk.vector is not None else replace(chunk, model="")

    def drop_chunks(self, memory_ids: Sequence[str], kept: Collection[str] = ()) -> None:
        with self._lock:
            rows = self._chunks.items()
            self._chunks = {key: row for key, row in rows if row.memory_id not in memory_ids or key in kept}

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
        with self._lock:
            found = [
                event
                for event in self._events.values()
                if (ids is None or event.id in ids)
                and (prompt_ids is None or event.prompt_id in prompt_ids)
                and session_id in ("", event.session_id)
                and project_id in ("", event.project_id)
                and (event.kind in ((kind,) if isinstance(kind, str) else kind) or kind == "")
                and event.at_ms >= since_ms
                and (not before_ms or event.at_ms < before_ms)
            ]
        found.sort(key=lambda event: (event.at_ms, event.id), reverse=True)
        return found[:limit][::-1]

    def event_counts(self, project_id: str = "", since_ms: int = 0) -> list[EventCount]:
        found = self.events(project_id=project_id, since_ms=since_ms, limit=10_000_000)
        rows = Counter((event.at_ms // 900_000 * 900_000, event.session_id, event.kind) for event in found)
        return [EventCount(*named, count) for named, count in sorted(rows.items())]

    def memories(self, query: MemoryQuery = ANY_MEMORY) -> list[Memory]:
        with self._lock:
            found = [memory for memory in self._memories.values() if matches(memory, query)]
        found.sort(key=lambda memory: (memory.at_ms, memory.id), reverse=True)
        if query.order == "importance":
            found.sort(key=lambda memory: memory.importance, reverse=True)
        return found[: query.limit]

    def turn_counts(self, session_ids: Sequence[str]) -> dict[str, int]:
        turns = (one for one in self._memories.values() if one.category == Category.CONVERSATION)
        return Counter(one.session_id for one in turns if one.session_id in session_ids)

    def put_usages(self, usages: Sequence[Usage]) -> None:
        with self._lock:
            self._usages = {**{usage.id: usage for usage in usages}, **self._usages}

    def usages(self, query: UsageQuery) -> list[Usage]:
        with self._lock:
            found = [
                usage
                for usage in self._usages.values()
                if (query.memory_ids is None or usage.memory_id in query.memory_ids)
                and query.session_id in ("", usage.session_id)
                and query.project_id in ("", usage.project_id)
                and query.how in ("", usage.how)
                and usage.at_ms >= query.since_ms
            ]
        return sorted(found, key=lambda usage: (usage.at_ms, usage.id), reverse=True)[: query.limit]

    def prune_usages(self) -> int:
        with self._lock:
            kept = {key: usage for key, usage in self._usages.items() if usage.memory_id in self._memories}
            pruned, self._usages = len(self._usages) - len(kept), kept
            return pruned

    def scan(self, consume: Callable[[Sequence[Event] | Sequence[Memory] | Sequence[Usage]], None]) -> None:
        with self._lock:
            events, memories = list(self._events.values()), list(self._memories.values())
            usages = list(self._usages.values())
        consume(events)
        consume(memories)
        consume(usages)

    def search_text(self, terms: Sequence[str], scope: Scope, limit: int) -> list[Hit]:
        with self._lock:
            everything = [(chunk, Counter(chunk.terms.split())) for chunk in self._chunks.values()]
        wanted = {word for term in terms for word in term.split()}
        mean = sum(sum(counts.values()) for _, counts in everything) / max(1, len(everything))
        weights = {
            word: inverse_document_frequency(len(everything), sum(word in counts for _, counts in everything))
            for word in wanted
        }
        hits = []
        for chunk, counts in everything:
            if not wanted.isdisjoint(counts) and in_scope(chunk, scope):
                found = {word: counts[word] for word in wanted if word in counts}
                score = bm25(found, weights, sum(counts.values()) / mean)
                hits.append(Hit(chunk=lean(chunk), lexical=score))
        hits.sort(key=lambda hit: (-(hit.lexical or 0.0), hit.chunk.id))
        return hits[:limit]

    def sounding_like(self, words: Sequence[str], project_id: str) -> dict[str, list[str]]:
        sounds = WordSounds()
        with self._lock:
            for chunk in self._chunks.values():
                if chunk.project_id == project_id:
                    sounds.hear(chunk.terms.split())
        return {word: hits for word in words if (hits := sounds.alike(word))}

    def holding(self, terms: Sequence[str], project_id: str) -> Holding:
        with self._lock:
            term_sets = [set(chunk.terms.split()) for chunk in self._chunks.values() if chunk.project_id == project_id]
        return Holding(len(term_sets), {term: sum(term in words for words in term_sets) for term in terms})

    def search_vector(self, vector: Vector, model: str, scope: Scope, limit: int) -> list[Hit]:
        self._check_vectors([vector])
        with self._lock:
            hits = [
                Hit(chunk=lean(chunk), cosine=sum(a * b for a, b in zip(vector, chunk.vector, strict=True)))
                for chunk in self._chunks.values()
                if chunk.vector is not None and chunk.model == model and in_scope(chunk, scope)
            ]
        hits.sort(key=lambda hit: (-(hit.cosine or 0.0), hit.chunk.id))
        return hits[:limit]

    def cosines(self, vector: Vector, model: str, project_id: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        hits = self.search_vector(vector, model, Scope((project_id,)), len(self._chunks))
        return {hit.chunk.id: hit.cosine or 0.0 for hit in hits if hit.chunk.id in chunk_ids}

    def unembedded(self, model: str, limit: int) -> list[Chunk]:
        with self._lock:
            found = [chunk for chunk in self._chunks.values() if chunk.model != model]
        return [replace(chunk, vector=None) for chunk in found[:limit]]

    def count_unembedded(self, model: str) -> int:
        return len(self.unembedded(model, len(self._chunks)))

    def set_vectors(self, vectors: Sequence[tuple[str, Vector]], model: str) -> None:
        self._check_vectors(vector for _, vector in vectors)
        with self._lock:
            for key, vector in vectors:
                if key in self._chunks:
                    self._chunks[key] = replace(self._chunks[key], vector=tuple(vector), model=model)

    def plan_deletion(self, selection: Selection) -> DeletionPlan:
        with self._lock:
            memories = {memory.id for memory in self._memories.values() if selected(memory.id, memory, selection)}
            events = {source for key in memories for source in self._memories[key].source_ids} & set(self._events)
            if not selection.memory_ids:
                events |= {event.id for event in self._events.values() if selected(event.id, event, selection)}
                chunks = [chunk for chunk in self._chunks.values() if selected(chunk.memory_id, chunk, selection)]
                memories |= {chunk.memory_id for chunk in chunks}
            turns = {(self._events[key].session_id, self._events[key].prompt_id) for key in events}
            events |= {
                event.id
                for event in self._events.values()
                if event.prompt_id and (event.session_id, event.prompt_id) in turns
            }
            memories |= {memory.id for memory in self._memories.values() if events.intersection(memory.source_ids)}
            memories |= {chunk.memory_id for chunk in self._chunks.values() if chunk.event_id in events}
            return DeletionPlan(tuple(sorted(events)), tuple(sorted(memories)))

    def plan_retention(self, cutoffs: RetentionCutoffs) -> DeletionPlan:
        before_ms = {"conversation": cutoffs.conversation_ms, "daily": cutoffs.daily_ms}
        with self._lock:
            events = [
                event
                for event in self._events.values()
                if event.at_ms < (cutoffs.tools_ms if event.kind == "tool" else cutoffs.conversation_ms)
            ]
            memories = [
                memory
                for memory in self._memories.values()
                if memory.at_ms < before_ms.get(memory.category, cutoffs.core_ms)
                if not memory.pinned and memory.level < PROVEN
                if not (memory.category == "custom" and memory.session_id)
            ]
        groups: dict[tuple[str, str], list[int]] = {}
        for project_id, kind, at_ms in sorted(
            [(memory.project_id, memory.category, memory.at_ms) for memory in memories]
            + [(event.project_id, event.kind, event.at_ms) for event in events]
        ):
            groups.setdefault((project_id, kind), []).append(at_ms)
        counts = tuple(RowCount(*key, len(times), min(times)) for key, times in groups.items())
        return DeletionPlan(tuple(event.id for event in events), tuple(memory.id for memory in memories), counts)

    def forget(self, plan: DeletionPlan | Selection) -> Removed:
        with self._lock:
            chosen = self.plan_deletion(plan) if isinstance(plan, Selection) else plan
            chunks = [key for key, chunk in self._chunks.items() if chunk.memory_id in chosen.memory_ids]
            prompts = {self._events[key].prompt_id for key in chosen.event_ids if key in self._events} - {""}
            self._usages = {
                key: usage
                for key, usage in self._usages.items()
                if usage.memory_id not in chosen.memory_ids and usage.prompt_id not in prompts
            }
            memories = [key for key in chosen.memory_ids if self._memories.pop(key, None)]
            events = [key for key in chosen.event_ids if self._events.pop(key, None)]
            for key in chunks:
                del self._chunks[key]
            return Removed(events=len(events), memories=len(memories), chunks=len(chunks))

    def scan_terms(self, consume: Callable[[str, str], None]) -> None:
        with self._lock:
            for chunk in self._chunks.values():
                consume(chunk.id, chunk.terms)

    def scan_texts(self, consume: Callable[[str], None]) -> None:
        for chunk in list(self._chunks.values()):
            consume(chunk.text)

    @property
    def dimensions(self) -> int:
        return self._dimensions

    def fit(self, dimensions: int) -> None:
        with self._lock:
            if dimensions != self._dimensions:
                self._chunks = {key: replace(chunk, vector=None, model="") for key, chunk in self._chunks.items()}
            self._dimensions = dimensions

    def clear_chunks(self) -> None:
        with self._lock:
            self._chunks.clear()

    def warm(self, project_id: str, model: str) -> None:
        """Do nothing: the store is always warm."""

    def upkeep(self, *, force: bool = False) -> bool:
        return force

    def stats(self) -> StoreStats:
        with self._lock:
            kept = list(self._memories.values())
            return StoreStats(
                events=len(self._events),
                memories=len(self._memories),
                chunks=len(self._chunks),
                projects=len({event.project_id for event in self._events.values()}),
                embedded=sum(1 for chunk in self._chunks.values() if chunk.vector is not None),
                disk_bytes=0,
                schema_version=0,
                by_category=dict(Counter(memory.category for memory in self._memories.values())),
                by_project=dict(Counter(memory.project_id for memory in self._memories.values())),
                core_by_kind=dict(
                    Counter(memory.kind for memory in kept if memory.category == "core" and memory.holds)
                ),
                turns_by_rules=dict(Counter(str(memory.rules) for memory in kept if memory.category == "conversation")),
                used_ever=dict(Counter(usage.how for usage in self._usages.values())),
                ended_count=sum(1 for memory in kept if not memory.holds),
            )

    def damage(self) -> list[Damage]:
        return []

    def clear_damage(self) -> None:
        """Do nothing: there is no disk that could fail."""

    @property
    def is_suspect(self) -> bool:
        return False

    def recheck(self) -> bool:
        return False

    def close(self) -> None:
        """Do nothing: there are no resources to release."""

    def _check_vectors(self, vectors: Iterable[Vector | None]) -> None:
        for vector in vectors:
            if vector is not None and len(vector) != self._dimensions:
                raise StoreError(f"a vector of {len(vector)} dimensions does not fit an index of {self._dimensions}")


def lean(chunk: Chunk) -> Chunk:
    """Return the chunk as a hit carries it."""
    return replace(chunk, vector=None)


def matches(memory: Memory, query: MemoryQuery) -> bool:
    """True if the memory matches all filters of the query."""
    return (
        (query.ids is None or memory.id in query.ids)
        and (query.keys is None or memory.key in query.keys)
        and (query.citations is None or memory.citation in query.citations)
        and query.project_id in ("", memory.project_id)
        and (query.session_id == "" or memory.session_id in _listed(query.session_id))
        and query.category in (None, memory.category)
        and (not query.before_ms or memory.at_ms < query.before_ms)
        and (query.superseded_by is None or memory.superseded_by in query.superseded_by)
        and (query.source_ids is None or not set(query.source_ids).isdisjoint(memory.source_ids))
        and query.kind in ("", memory.kind)
        and (query.is_current is None or memory.holds == query.is_current)
        and (not query.unread_by or memory.rules != query.unread_by)
    )


def _listed(ids: str | Sequence[str]) -> Sequence[str]:
    return (ids,) if isinstance(ids, str) else ids


def in_scope(chunk: Chunk, scope: Scope) -> bool:
    """True if a search in the scope looks at the chunk."""
    return (
        (scope.project_ids is None or chunk.project_id in scope.project_ids)
        and scope.session_id in ("", chunk.session_id)
        and (not scope.excluded_session_id or chunk.session_id != scope.excluded_session_id)
        and ("category" in scope.extra or chunk.category != "daily")
        and all(getattr(chunk, column) == value for column, value in scope.extra.items())
    )


def selected(memory_id: str, row: Event | Memory | Chunk, selection: Selection) -> bool:
    """True if a selection names the row, which belongs to that memory."""
    return (
        (not selection.memory_ids or memory_id in selection.memory_ids)
        and selection.session_id in ("", row.session_id)
        and selection.project_id in ("", row.project_id)
        and (not selection.before_ms or row.at_ms < selection.before_ms)
    )
