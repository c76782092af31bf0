"""The retriever: a query to scored chunks, best first. Both legs search; every chunk is then judged by both."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from memlayer.core.model import Chunk, Hit, Scope
from memlayer.core.necessity import asked
from memlayer.core.query import Query
from memlayer.core.scoring import (
    Evidence,
    Score,
    Weighed,
    Weights,
    chance,
    frequencies,
    is_hangul,
    near_in_session,
    score,
)
from memlayer.errors import EmbedderError
from memlayer.ports import Embedder, Similarities, Store
from memlayer.service.term_stats import TermStats

IDEAL_SHARE = 0.6  # of the ideal document's BM25: a search whose best is below it found no good words at all
Found = tuple[Chunk, Score]


@dataclass
class Retriever:
    """Searches the store with both legs at once and fuses them. Thread-safe: its only state is the legs' threads."""

    store: Store
    embedder: Callable[[], Embedder | None]
    terms: TermStats
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    _legs: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="leg"))

    def search(self, query: Query, scope: Scope, limit: int, weights: Weights) -> list[Found]:
        """The best chunk of each memory that either leg finds, best score first. limit: chunks a leg."""
        embedder = self.embedder()
        by_text = self._legs.submit(self.store.search_text, query.searched, scope, limit) if query.terms else None
        near: list[Hit] = []
        answerable = aside = 0.0
        if embedder is not None and query.text:
            try:
                vector = embedder.embed_query(query.text)
                answerable, aside = embedder.calibration.answerable(vector), embedder.calibration.aside(vector)
                near = self.store.search_vector(vector, embedder.fingerprint, scope, limit)
            except EmbedderError:
                embedder = None
        worded = by_text.result() if by_text is not None else []
        project = self.store.holding(query.terms, scope.project_ids[0]) if scope.project_ids else None
        rarity = self.terms.weights(query.terms, project)
        # Until a project's words are in memory nobody knows how many it has: no more than all projects have.
        known = (answerable, aside, chance(self.terms.documents if project is None else project.chunks))
        return self._fused(self._evidence(worded, near, query, embedder, rarity, known), rarity, weights)

    def similar(self, chunk_ids: Sequence[str], scope: Scope) -> Similarities | None:
        """The cosines of chunks of the scope's first project and each other; None where they are not known."""
        embedder = self.embedder()
        if embedder is None or not scope.project_ids:
            return None
        return self.store.similarities(chunk_ids, embedder.fingerprint, scope.project_ids[0])

    def _evidence(
        self,
        worded: Sequence[Hit],
        near: Sequence[Hit],
        query: Query,
        embedder: Embedder | None,
        rarity: Mapping[str, float],
        known: tuple[float, float, float],
    ) -> list[tuple[Chunk, Evidence]]:
        """What each leg has to say about each chunk that either of them found. known: answerable, aside and chance."""
        cosines = {hit.chunk.id: hit.cosine for hit in near}
        # What the vector leg did not return is at most as near as the last that it did.
        farthest = min((cosine for cosine in cosines.values() if cosine is not None), default=0.0)
        chunks = {hit.chunk.id: hit.chunk for hit in (*near, *worded)}
        split = {key: chunk.terms.split() for key, chunk in chunks.items()}
        mean_length = sum(map(len, split.values())) / len(split) if split else 1.0
        covers, ranks, hangul = Weighed(query, asked(rarity)), Weighed(query, rarity), is_hangul(query.terms)
        out = []
        for key, chunk in chunks.items():
            covered = worth = vector = None
            if query.terms:
                found = frequencies(query, split[key])
                covered = covers.coverage(found)
                worth = ranks.bm25(found, len(split[key]) / max(1.0, mean_length))
            if embedder is not None:
                cosine = cosines.get(key)
                vector = embedder.calibration.position(farthest if cosine is None else cosine)
            is_foreign = not worth and is_hangul(split[key]) != hangul  # of no account where words were found
            out.append((chunk, Evidence(covered, worth, vector, is_foreign, *known)))
        return out

    def _fused(
        self, judged: Sequence[tuple[Chunk, Evidence]], rarity: Mapping[str, float], weights: Weights
    ) -> list[Found]:
        ideal = sum(rarity.values())
        best_worth = max((evidence.worth or 0.0 for _, evidence in judged), default=0.0)
        fits = [evidence.fit(weights, max(best_worth, ideal * IDEAL_SHARE)) for _, evidence in judged]
        fits = near_in_session([(chunk.session_id, chunk.at_ms) for chunk, _ in judged], fits)
        now_ms = self.now_ms()
        best: dict[str, Found] = {}
        for (chunk, evidence), fit in zip(judged, fits, strict=True):
            one = score(
                evidence, fit, importance=chunk.importance, age_ms=now_ms - chunk.at_ms, category=chunk.category,
                weights=weights,
            )  # fmt: skip
            held = best.get(chunk.memory_id)
            if held is None or one.score > held[1].score:
                best[chunk.memory_id] = (chunk, one)
        return sorted(best.values(), key=lambda pair: (-pair[1].score, -pair[0].at_ms))
