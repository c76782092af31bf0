"""The index's write side: chunks and vectors of memories."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from memlayer.errors import EmbedderError
from memlayer.indexing.term_stats import TermStats
from memlayer.kinds import Category
from memlayer.model import Chunk, Memory, chunk_id, replace
from memlayer.ports import DeletionPlan, Embedder, Store, Vector, VectorCache, events_by_id
from memlayer.text.terms import index_terms
from memlayer.turns.opening import of_piece
from memlayer.turns.turn import pieces, unlabelled
from memlayer.turns.turn_memory import full_text, is_searched

log = logging.getLogger(__name__)

CHARS_AT_ONCE = 12_000  # embedded while everything else waits: ten whole chunks, a good second of a busy core

CurrentEmbedder = Callable[[], "Embedder | None"]


class Indexer:
    """Writer of chunks and vectors. Idempotent.

    lock: held during each batch of writes. Hold it as well around writes to the store that belong to the batch.
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
        self.postponed = ""  # why chunks were left without vectors, until they are embedded
        self.on_left: Callable[[], object] = lambda: None  # chunks have their words, and wait for embed_some
        self.on_index: Callable[[Sequence[Memory]], object] = lambda memories: None  # before their chunks are written

    def index(self, memories: Sequence[Memory], *, texts: Mapping[str, str] | None = None, embed: bool = True) -> None:
        """Replace the chunks of these memories. Unsearched memories lose theirs.

        A turn's chunks are made of its events, because its memory holds only the head of its text. texts: the whole
        texts of turns by memory id, where the caller has them already.
        """
        with self.lock:
            self.on_index(memories)
            texts = self._turn_texts(memories) if texts is None else texts
            chunks = [
                chunk
                for memory in memories
                if is_searched(memory)
                for chunk in self._chunks_of(memory, texts.get(memory.id) or memory.text)
            ]
            self._replace_chunks(memories, chunks, embed)

    def erase_lent(self, memory_ids: Sequence[str]) -> None:
        """Erase memories without tombstones: their file or author may return."""
        if memory_ids:
            with self.lock:
                self._store.forget(DeletionPlan(memory_ids=tuple(memory_ids)))
                drop_unused(self._store, self._cache)

    def _turn_texts(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Return the whole texts of the searched turns among memories, by id."""
        turns = [memory for memory in memories if memory.category == Category.CONVERSATION and is_searched(memory)]
        events = events_by_id(self._store, (source for turn in turns for source in turn.source_ids))
        return {
            turn.id: full_text([events[source] for source in turn.source_ids if source in events]) for turn in turns
        }

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
        # A write costs much the same however few rows it has: most chunks are replaced by those of their ids.
        self._store.drop_chunks([memory.id for memory in memories], {chunk.id for chunk in embedded})
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
                terms=_terms(memory, text, ordinal, piece),
            )
            for ordinal, (start, end, piece) in enumerate(cut)
        ]

    def _embedded(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        embedder = self._embedder()
        if embedder is None or not chunks:
            return list(chunks)
        if embedder.problem:  # no query is embedded either: whoever asks waits for no slow server
            self.postponed = embedder.problem
            return list(chunks)
        texts = [unlabelled(chunk.text) for chunk in chunks]
        vectors = self._cache.get_many(embedder.fingerprint, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        room = accumulate(map(len, missing), initial=0)
        now = [text for text, chars in zip(missing, room, strict=False) if chars < CHARS_AT_ONCE]
        try:
            vectors.update(self._made(embedder, now))
        except EmbedderError as bad:  # searchable by its words now. embed_some tries again
            log.warning("chunks stay without vectors: %s", bad)
            self.postponed = str(bad)
        if len(now) < len(missing):
            self.on_left()
        return [
            replace(chunk, vector=vectors[text], model=embedder.fingerprint) if text in vectors else chunk
            for chunk, text in zip(chunks, texts, strict=True)
        ]

    def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        vectors = self._cache.get_many(embedder.fingerprint, texts)
        vectors.update(self._made(embedder, [text for text in dict.fromkeys(texts) if text not in vectors]))
        return [vectors[text] for text in texts]

    def _made(self, embedder: Embedder, texts: Sequence[str]) -> dict[str, Vector]:
        """Embed texts and keep their vectors. Raises EmbedderError."""
        if not texts:
            return {}
        made = dict(zip(texts, embedder.embed_passages(texts), strict=True))
        self._cache.put_many(embedder.fingerprint, made)
        return made


def _terms(memory: Memory, text: str, ordinal: int, piece: str) -> str:
    """Return a piece's terms, of a turn with its opening."""
    opening = of_piece(text, ordinal) if memory.category == Category.CONVERSATION else ""
    return " ".join(filter(None, (index_terms(unlabelled(piece)), opening)))


def drop_unused(store: Store, cache: VectorCache) -> None:
    """Drop cached vectors of texts that the search index lacks.

    These are of rows gone now, and of rows replaced earlier (a prompt before its answer came, an earlier wording),
    whose words are known no more.
    """
    cache.keep_only(lambda consume: store.scan_texts(lambda text: consume(unlabelled(text))))
