"""Turn memories of events, and the index's write side: chunks and vectors."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from memlayer.edge.capture.payload import NOISE, OWN_COMMAND
from memlayer.errors import EmbedderError
from memlayer.indexing.term_stats import TermStats
from memlayer.model import Chunk, Event, Memory, chunk_id, citation_of, turn_memory_id
from memlayer.ports import Embedder, MemoryQuery, Progress, Store, Vector
from memlayer.text.terms import index_terms
from memlayer.turns.salience import importance, is_open_question, is_routine, is_routine_text
from memlayer.turns.turn import MAX_MEMORY_CHARS, pieces, turn_text, unlabelled

log = logging.getLogger(__name__)

OPEN_QUESTION = "open_question"
ROUTINE = "routine"  # a turn that teaches nothing: kept, never recalled
TURN = "turn"

CurrentEmbedder = Callable[[], "Embedder | None"]


class VectorCache(Protocol):
    """Vectors by content; see adapters.sqlite_files."""

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]: ...

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None: ...

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None: ...


class Indexer:
    """Writer of turn memories, chunks and vectors. Idempotent.

    lock: held during each batch of writes; hold it as well around writes to the store that belong to the batch.
    """

    def __init__(
        self,
        store: Store,
        *,
        embedder: CurrentEmbedder,
        cache: VectorCache,
        terms: TermStats,
        max_tokens: int,
        overlap_tokens: int,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._terms = terms
        self._max_tokens = max_tokens
        self._overlap_tokens = overlap_tokens
        self.lock = threading.RLock()

    def remember(self, turns: set[tuple[str, str]], *, embed: bool = True) -> None:
        """Make memories and chunks of turns (session id, prompt id) anew."""
        with self.lock:
            memories, chunks = [], []
            found = self._store.events(prompt_ids=sorted({prompt_id for _, prompt_id in turns}), limit=100_000)
            ids = [turn_memory_id(*turn) for turn in turns]
            known = {memory.id: memory for memory in self._store.memories(MemoryQuery(ids=ids, limit=len(ids)))}
            for turn in sorted(turns):
                events = [event for event in found if (event.session_id, event.prompt_id) == turn]
                memory = turn_memory(events)
                if memory is None:
                    continue
                memory = carried_over(known.get(memory.id), memory)
                memories.append(memory)
                if is_searched(memory):
                    events.sort(key=lambda event: (event.kind != "user", event.at_ms))
                    chunks += self._chunks_of(memory, full_text(events))
            if memories:
                self._store.put_memories(memories)
                self._replace_chunks(memories, chunks, embed)

    def index(self, memories: Sequence[Memory], *, embed: bool = True) -> None:
        """Replace the chunks of these memories; unsearched memories lose theirs.

        A turn's chunks are made of its events, because its memory holds only the head of its text.
        """
        with self.lock:
            ids = sorted({source for memory in memories for source in memory.source_ids})
            events = {event.id: event for event in self._store.events(ids=ids, limit=len(ids) + 1)} if ids else {}
            chunks = []
            for memory in memories:
                if is_searched(memory):
                    sources = [events[source] for source in memory.source_ids if source in events]
                    text = full_text(sources) if memory.category == "conversation" else ""
                    chunks += self._chunks_of(memory, text or memory.text)
            self._replace_chunks(memories, chunks, embed)

    def vectors_of(self, texts: Sequence[str]) -> list[Vector]:
        """Return passages' vectors, cached or made; [] without embedder. Raises EmbedderError."""
        embedder = self._embedder()
        return self._vectors(embedder, texts) if embedder is not None else []

    def embed_missing(self, batch: int, on_progress: Progress = lambda done, total: None) -> int:
        """Embed all chunks without the model's vector; return how many."""
        embedder = self._embedder()
        if embedder is None:
            return 0
        done, total = 0, self._store.count_unembedded(embedder.fingerprint)
        while made := self.embed_some(batch):
            done += made
            on_progress(done, max(total, done))
        return done

    def embed_some(self, batch: int) -> int:
        """Embed up to `batch` chunks without the model's vector; return how many."""
        embedder = self._embedder()
        if embedder is None:
            return 0
        with self.lock:
            missing = self._store.unembedded(embedder.fingerprint, batch)
            if missing:
                vectors = self._vectors(embedder, [unlabelled(chunk.text) for chunk in missing])
                self._store.set_vectors(
                    [(chunk.id, vector) for chunk, vector in zip(missing, vectors, strict=True)], embedder.fingerprint
                )
            return len(missing)

    def _replace_chunks(self, memories: Sequence[Memory], chunks: Sequence[Chunk], embed: bool) -> None:
        embedded = self._embedded(chunks) if embed else chunks  # slow: until it is done searches find the old chunks
        self._store.drop_chunks([memory.id for memory in memories])
        self._store.put_chunks(embedded)
        for chunk in chunks:
            self._terms.add(chunk.id, chunk.terms.split())

    def _chunks_of(self, memory: Memory, text: str) -> list[Chunk]:
        """Cut the whole text of a memory into chunks without vectors."""
        cut = pieces(text, max_tokens=self._max_tokens, overlap_tokens=self._overlap_tokens)
        return [
            Chunk(
                id=chunk_id(memory.id, memory.id, ordinal),
                memory_id=memory.id,
                event_id=memory.source_ids[0] if memory.source_ids else "",
                role=memory.kind,
                session_id=memory.session_id,
                project_id=memory.project_id,
                prompt_id=memory.prompt_id,
                category=memory.category,
                importance=1.0 if memory.pinned else memory.importance,
                at_ms=memory.at_ms,
                start=start,
                end=end,
                text=piece,
                terms=index_terms(unlabelled(piece)),
            )
            for ordinal, (start, end, piece) in enumerate(cut)
        ]

    def _embedded(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        embedder = self._embedder()
        if embedder is None or not chunks:
            return list(chunks)
        try:
            vectors = self._vectors(embedder, [unlabelled(chunk.text) for chunk in chunks])
        except EmbedderError as bad:  # searchable by its words now; embed_missing tries again
            log.warning("chunks stay without vectors: %s", bad)
            return list(chunks)
        return [
            replace(chunk, vector=vector, model=embedder.fingerprint)
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]

    def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        vectors = self._cache.get_many(embedder.fingerprint, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            made = dict(zip(missing, embedder.embed_passages(missing), strict=True))
            self._cache.put_many(embedder.fingerprint, made)
            vectors = {**vectors, **made}
        return [vectors[text] for text in texts]


def drop_unused(store: Store, cache: VectorCache) -> None:
    """Drop cached vectors of texts that the search index lacks.

    These are of rows gone now, and of rows replaced earlier (a prompt before its answer came, an earlier wording),
    whose words are known no more.
    """
    cache.keep_only(lambda consume: store.scan_texts(lambda text: consume(unlabelled(text))))


# -- a turn's memory


def prompt_and_answers(events: Sequence[Event]) -> tuple[str, list[str]]:
    """Return a turn's prompt and answers (a continued Stop's), in order."""
    prompt = "\n".join(event.text for event in events if event.kind == "user")
    return prompt, _distinct_answers([event for event in events if event.kind == "assistant"])


def _distinct_answers(answers: Sequence[Event]) -> list[str]:
    """Deduplicate answers seen by both hook and transcript.

    The transcript also holds the beginning of an answer that then went on. The host joins the parts of an answer in two
    ways, and may give a hook the last part only.
    """
    read = [event for event in answers if event.source == "transcript"]
    if not read or len(answers) == 1:
        return [event.text for event in answers]
    last = _words(read[-1])
    heard = [event for event in answers if event.source != "transcript"]
    if any(last in _words(event) for event in heard):
        return [event.text for event in heard]
    return [
        event.text
        for event in answers
        if event is read[-1] or (event.source != "transcript" and _words(event) not in last)
    ]


def _words(event: Event) -> str:
    return " ".join(event.text.split())


def full_text(events: Sequence[Event]) -> str:
    """Return the turn's text, uncut, for the index."""
    return turn_text(*prompt_and_answers(events))


def turn_memory(events: Sequence[Event]) -> Memory | None:
    """Make a turn's memory from its events; None without lasting text.

    From all its events so far. Generated prompts and memlayer's own commands make no memory: the answer to the latter
    repeats memories.
    """
    spoken = sorted((event for event in events if event.kind in ("user", "assistant")), key=_order)
    done = sorted((event for event in events if event.kind == "tool"), key=_order)
    if not spoken or any(event.detail in (NOISE, OWN_COMMAND) for event in spoken):
        return None
    prompt, answers = prompt_and_answers(spoken)
    text = turn_text(prompt, answers)
    if not text:
        return None
    first = spoken[0]
    memory_id = turn_memory_id(first.session_id, first.prompt_id)
    day = time.strftime("%Y-%m-%d", time.localtime(first.at_ms / 1000))
    return Memory(
        id=memory_id,
        key="turn_%s_%s" % (day, memory_id[:4]),
        citation=citation_of(memory_id),
        category="conversation",
        kind=_kind(prompt, answers),
        text=text[:MAX_MEMORY_CHARS],
        importance=importance("conversation", text),
        project_id=first.project_id,
        session_id=first.session_id,
        prompt_id=first.prompt_id,
        source_ids=tuple(event.id for event in [*spoken, *done]),  # tool calls are forgotten with the turn
        at_ms=first.at_ms,
    )


def _kind(prompt: str, answers: Sequence[str]) -> str:
    if is_routine(prompt, answers):
        return ROUTINE
    return OPEN_QUESTION if is_open_question(prompt, list(answers)) else TURN


def carried_over(known: Memory | None, made: Memory) -> Memory:
    """Carry pin, supersession and settlement over to a turn's memory made anew.

    Only events that it has not had yet unsettle it.
    """
    if known is None:
        return made
    settled = known.settled if known.source_ids == made.source_ids else ""
    return replace(
        made,
        pinned=known.pinned,
        superseded_by=known.superseded_by,
        superseded_ms=known.superseded_ms,
        settled=settled,
    )


def is_searched(memory: Memory) -> bool:
    """True if a memory belongs in the search index.

    Daily entries do not (their turns are in it), nor routine turns.
    """
    if memory.category == "conversation" and is_routine_text(memory.text):  # also of an older version's turns
        return False
    return memory.category != "daily" and not memory.superseded_by


def _order(event: Event) -> tuple[bool, int]:
    return event.kind != "user", event.at_ms
