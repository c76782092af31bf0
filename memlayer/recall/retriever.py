"""The retriever: scored chunks for a query, best first.

Words and vectors both search, and both measure every chunk found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from memlayer.errors import EmbedderError
from memlayer.indexing.term_stats import TermStats
from memlayer.model import Chunk, Hit, Scope
from memlayer.ports import Embedder, Store
from memlayer.recall.query import Query
from memlayer.recall.scoring import NEIGHBOUR, Evidence, Score, Weights, coverage, is_hangul, session_boost
from memlayer.text.bm25 import bm25, frequencies

IDEAL_SHARE = 0.6  # of the ideal document's BM25; a search whose best is below it found no good words at all
RARE_CHUNKS, RARE_SHARE = 3, 0.02  # a rare term is in at most so many chunks of its project, or such a share
Found = tuple[Chunk, Score]


class Rarity(NamedTuple):
    """The rarity of a query's terms.

    weight: term -> inverse document frequency. rare: terms that few chunks of the project hold.
    """

    weight: dict[str, float]
    rare: frozenset[str]


@dataclass
class Retriever:
    """Parallel searches by words and by vectors, fused. Thread-safe."""

    store: Store
    embedder: Callable[[], Embedder | None]
    terms: TermStats
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="search"))

    def search(
        self, query: Query, scope: Scope, limit: int, weights: Weights, rarity: Rarity | None = None
    ) -> list[Found]:
        """Return the best chunk of each memory found, best score first.

        limit: chunks of each of the two searches. rarity: of the query's terms, if known already.
        """
        embedder = self.embedder()
        by_text = self._threads.submit(self.store.search_text, query.terms, scope, limit) if query.terms else None
        near: list[Hit] = []
        if embedder is not None and query.text:
            try:
                vector = embedder.embed_query(query.text)
                near = self.store.search_vector(vector, embedder.fingerprint, scope, limit)
            except EmbedderError:
                embedder = None
        worded = by_text.result() if by_text is not None else []
        weight = (rarity or self.rarity(query.terms, scope)).weight
        return self._fused(self._evidence(worded, near, query, embedder, weight), weight, weights)

    def rarity(self, terms: Sequence[str], scope: Scope) -> Rarity:
        """Return the terms' rarity, half by store, half by first project."""
        project = self.store.holding(terms, scope.project_ids[0]) if scope.project_ids else None
        weight = self.terms.weights(terms, project)
        if project is None:
            return Rarity(weight, frozenset())
        most = max(RARE_CHUNKS, RARE_SHARE * project.chunks)
        return Rarity(weight, frozenset(term for term in terms if 0 < project.by_term.get(term, 0) <= most))

    def _evidence(
        self,
        worded: Sequence[Hit],
        near: Sequence[Hit],
        query: Query,
        embedder: Embedder | None,
        rarity: Mapping[str, float],
    ) -> list[tuple[Chunk, Evidence]]:
        cosines = {hit.chunk.id: hit.cosine for hit in near}
        # Chunks that the vector search did not return are at most as near as its last one.
        farthest = min((cosine for cosine in cosines.values() if cosine is not None), default=0.0)
        chunks = {hit.chunk.id: hit.chunk for hit in (*near, *worded)}
        split = {key: chunk.terms.split() for key, chunk in chunks.items()}
        mean_length = sum(map(len, split.values())) / len(split) if split else 1.0
        hangul = is_hangul(query.terms)
        out = []
        for key, chunk in chunks.items():
            covered = lexical = vector = None
            if query.terms:
                found = frequencies(query.terms, split[key])
                covered = coverage(found, rarity)
                lexical = bm25(found, rarity, len(split[key]) / max(1.0, mean_length))
            if embedder is not None:
                cosine = cosines.get(key)
                vector = embedder.calibration.position(farthest if cosine is None else cosine)
            is_foreign = not lexical and is_hangul(split[key]) != hangul  # words in common count whatever the script
            out.append((chunk, Evidence(covered, lexical, vector, is_foreign)))
        return out

    def _fused(
        self, judged: Sequence[tuple[Chunk, Evidence]], rarity: Mapping[str, float], weights: Weights
    ) -> list[Found]:
        best_bm25 = max((evidence.bm25 or 0.0 for _, evidence in judged), default=0.0)
        ideal = sum(rarity.values()) * IDEAL_SHARE
        fits = [evidence.fit(weights, max(best_bm25, ideal)) for _, evidence in judged]
        fits = session_boost([(chunk.session_id, chunk.at_ms) for chunk, _ in judged], fits)
        best: dict[str, Found] = {}
        for (chunk, evidence), fit in zip(judged, fits, strict=True):
            scored = Score(
                score=min(1.0, fit / (1 + NEIGHBOUR)),
                relevance=evidence.relevance(weights),
                lexical=evidence.covered,
                vector=evidence.clipped,
                bm25=evidence.bm25 or 0.0,
                cosine=evidence.vector,
            )
            held = best.get(chunk.memory_id)
            if held is None or scored.score > held[1].score:
                best[chunk.memory_id] = (chunk, scored)
        return sorted(best.values(), key=lambda pair: (-pair[1].score, -pair[0].at_ms))
