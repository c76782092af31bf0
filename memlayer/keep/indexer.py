"""The index's write side: chunks and vectors of memories."""

import logging
import threading
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

from memlayer.edge.home import paths
from memlayer.errors import EmbedderError
from memlayer.kinds import Category
from memlayer.model import Chunk, Memory, chunk_id, replace
from memlayer.ports import Embedder, Holding, Store, Vector, VectorCache, events_by_id
from memlayer.text.terms import index_terms, inverse_document_frequency
from memlayer.turns.turn import of_piece, pieces, unlabelled
from memlayer.turns.turn_memory import full_text, is_searched

BUCKETS = 1 << 18  # 1 MB; at 200,000 different terms two share a bucket about every second time, and only raise a count
RECENT = 500  # chunks whose terms can still be taken back
PSEUDO_DOCUMENTS = 1000  # that hold none of the terms
_MAGIC = b"memlayer-terms-1\n"
log = logging.getLogger(__name__)
CHARS_AT_ONCE = 12_000  # embedded while everything else waits: ten whole chunks, a good second of a busy core
CurrentEmbedder = Callable[[], "Embedder | None"]


def term_weight(documents: int, holding: int) -> float:
    """Return the inverse document frequency over a corpus enlarged by PSEUDO_DOCUMENTS.

    Without them a store of five memories would take every word it holds for a common one.
    """
    return inverse_document_frequency(documents + PSEUDO_DOCUMENTS, holding)


class TermStats:
    """Document frequencies over all projects; no term can be read back. Thread-safe."""

    def __init__(self) -> None:
        self._counts = array("I", bytes(4 * BUCKETS))
        self._documents = 0
        self._recent: dict[str, frozenset[int]] = {}
        self._lock = threading.Lock()

    @property
    def documents(self) -> int:
        """Chunks counted."""
        return self._documents

    def add(self, chunk_id: str, terms: Iterable[str]) -> None:
        """Count one chunk's terms; a chunk counted anew soon after replaces itself."""
        buckets = frozenset(_bucket(term) for term in terms)
        with self._lock:
            before = self._recent.pop(chunk_id, None)
            if before is None:
                self._documents += 1
            for bucket in buckets - (before or frozenset()):
                self._counts[bucket] += 1
            for bucket in (before or frozenset()) - buckets:
                self._counts[bucket] = max(0, self._counts[bucket] - 1)
            self._recent[chunk_id] = buckets
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]

    def weights(self, terms: Iterable[str], project: Holding | None = None) -> dict[str, float]:
        """Return term -> weight; half of it by the project's chunks."""
        weights = {term: term_weight(self._documents, self._counts[_bucket(term)]) for term in terms}
        if project is None:
            return weights
        own = {term: term_weight(project.chunks, project.by_term.get(term, 0)) for term in weights}
        return {term: (weight + own[term]) / 2 for term, weight in weights.items()}

    @classmethod
    def counted(cls, store: Store) -> "TermStats":
        """Count anew over all chunks of the store."""
        stats = cls()
        store.scan_terms(lambda chunk_id, terms: stats.add(chunk_id, terms.split()))
        stats._recent.clear()
        return stats

    def save(self, path: Path) -> None:
        """Write the counts to a file. Raises OSError."""
        with self._lock:
            data = _MAGIC + b"%d\n" % self._documents + zlib.compress(self._counts.tobytes(), 1)
        paths.write_whole(str(path), data)

    @classmethod
    def load(cls, path: Path, documents: int) -> "TermStats | None":
        """Load saved counts if whole and of about the present size."""
        stats = cls()
        try:
            magic, counted, packed = path.read_bytes().split(b"\n", 2)
            raw = zlib.decompress(packed)
            counted_documents = int(counted)
        except (OSError, ValueError, zlib.error):
            return None
        if magic + b"\n" != _MAGIC or len(raw) != 4 * BUCKETS or abs(counted_documents - documents) > documents * 0.05:
            return None
        stats._counts = array("I", raw)
        stats._documents = counted_documents
        return stats


def _bucket(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) & (BUCKETS - 1)


class Indexer:
    """Writer of chunks and vectors. Idempotent.

    lock: held during each batch of writes. Hold it as well around writes to the store that belong to the batch.
    """

    def __init__(self, store: Store, *, embedder: CurrentEmbedder, cache: VectorCache, terms: TermStats) -> None:
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._terms = terms
        self.lock = threading.RLock()
        self.postponed = ""  # why chunks were left without vectors, until they are embedded
        self.is_behind = False  # chunks have their words, and wait for embed_some

    def index(self, memories: Sequence[Memory], *, texts: Mapping[str, str] | None = None, embed: bool = True) -> None:
        """Replace the chunks of these memories. Unsearched memories lose theirs.

        A turn's chunks are made of its events, because its memory holds only the head of its text. texts: the whole
        texts of turns by memory id, where the caller has them already.
        """
        with self.lock:
            texts = self._turn_texts(memories) if texts is None else texts
            chunks = [
                chunk
                for memory in memories
                if is_searched(memory)
                for chunk in self._chunks_of(memory, texts.get(memory.id) or memory.text)
            ]
            self._replace_chunks(memories, chunks, embed)

    def drop_unused(self) -> None:
        """Drop cached vectors of texts that the search index lacks.

        These are of rows gone now, and of rows replaced earlier (a prompt before its answer came, an earlier wording),
        whose words are known no more.
        """
        self._cache.keep_only(lambda consume: self._store.scan_texts(lambda text: consume(unlabelled(text))))

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
        # A write costs much the same however few rows it has: most chunks are replaced by those of their ids. New ones
        # first: what an old one ends is found by its words until then, and after a crash between the two.
        self._store.put_chunks(embedded)
        self._store.drop_chunks([memory.id for memory in memories], {chunk.id for chunk in embedded})
        for chunk in chunks:
            self._terms.add(chunk.id, chunk.terms.split())

    def _chunks_of(self, memory: Memory, text: str) -> list[Chunk]:
        """Cut the whole text of a memory into chunks without vectors."""
        cut = pieces(text)
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
            self.is_behind = True
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
