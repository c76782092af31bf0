"""The retriever: scored chunks for a query, best first.

Words and vectors both search, and both measure every chunk found: coverage and calibrated cosine, fused.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

from memlayer.errors import EmbedderError
from memlayer.give.query import Query
from memlayer.keep.indexer import TermStats
from memlayer.model import Chunk, Hit, Scope
from memlayer.ports import Embedder, Store, Vector
from memlayer.text.korean import without_particles
from memlayer.text.sounds import is_hangul_run
from memlayer.text.terms import bm25, frequencies, index_terms, query_terms, stem
from memlayer.turns.turn import TEMPLATE_TURNS

NEIGHBOUR = 0.25  # share of the best other fit in the same session
NEIGHBOUR_HALF_LIFE_MS = 600_000  # about two turns. From a half to eight turns made no difference
STEEPNESS, BIAS = 5.8, 2.05  # see ChunkEvidence.relevance()

MOST_HEARD = 48  # words of a query
_WORD = re.compile("[a-z]{3,}|[가-힣]{2,}")

IDEAL_SHARE = 0.6  # of the ideal document's BM25. A search whose best is below it found no good words at all
RARE_CHUNKS, RARE_SHARE = 3, 0.02  # a rare term is in at most so many chunks of its project, or such a share
UNTRANSLATED = 0.5  # of the weight of a word that may stand in the other language


@dataclass(frozen=True)
class Weights:
    """Shares of full-text search and of vector search."""

    lexical: float = 0.5
    vector: float = 0.5


@dataclass(frozen=True)
class Score:
    """The score of one chunk of a search, and its parts.

    score in [0, 1]: the order of a search. relevance in [0, 1]: the measure of the floor. lexical: coverage in [0, 1];
    vector: calibrated cosine in [0, 1]; None where that search did not run. bm25: raw. cosine: calibrated, unbounded.
    """

    score: float
    relevance: float
    lexical: float | None
    vector: float | None
    bm25: float = 0.0
    cosine: float | None = None


def coverage(counts: Mapping[str, int], weight: Mapping[str, float]) -> float:
    """Return a document's share of a query's information, in [0, 1].

    counts: the query's terms in the document (text.terms.bm25). weight: of every term of the query. Unlike raw BM25
    it has a bound that two queries share.
    """
    whole = sum(weight.values())
    return sum(weight[term] for term in counts) / whole if whole else 0.0


def is_hangul(terms: Sequence[str]) -> bool:
    """True if a third are Hangul: technical Korean has many English names."""
    return 3 * sum("가" <= term[:1] <= "힣" for term in terms) >= len(terms) > 0


@dataclass(frozen=True)
class ChunkEvidence:
    """The measures of one chunk for a query.

    covered, bm25: see coverage() and text.terms.bm25. vector: calibrated cosine, 0 and 1 at the calibration's ends,
    unbounded beyond. None: that search did not run. foreign: query and chunk are written in different scripts, so that
    few words could be in both.
    """

    covered: float | None
    bm25: float | None
    vector: float | None
    foreign: bool = False

    @property
    def clipped(self) -> float | None:
        """Return the calibrated cosine, within [0, 1]."""
        return None if self.vector is None else min(1.0, max(0.0, self.vector))

    def relevance(self, weights: Weights) -> float:
        """Return the probability of an answer, comparable between queries.

        A logistic regression on coverage and cosine, fitted to questions with their answers and their near misses
        (half of the invented dialogues of docs/inside/quality.md). Words alone are their own measure.
        """
        if self.vector is None:
            return self.covered or 0.0
        whole = weights.lexical + weights.vector
        lexical = weights.lexical / whole * (self.covered or 0.0)
        vector = weights.vector / whole * min(1.5, max(-1.0, self.vector))
        return 1.0 / (1.0 + math.exp(BIAS - STEEPNESS * (lexical + vector)))

    def fit(self, weights: Weights, best_bm25: float) -> float:
        """Return the fit among one search's hits, in [0, 1]."""
        vector = self.clipped
        if self.bm25 is None or (self.foreign and not self.bm25):
            return vector or 0.0
        lexical = self.bm25 / best_bm25 if best_bm25 else 0.0
        if vector is None:
            return lexical
        return (weights.lexical * lexical + weights.vector * vector) / (weights.lexical + weights.vector)


def session_boost(places: Sequence[tuple[str, int]], fits: Sequence[float]) -> list[float]:
    """Lift each fit by its session's best other, more when nearer.

    Turns around an answer are evidence for it. places: (session id, Unix time in milliseconds), beside fits. May
    exceed 1 by NEIGHBOUR.
    """
    sessions: dict[str, list[int]] = {}
    for place, (session_id, _) in enumerate(places):
        if session_id:  # a remembered statement may belong to no session
            sessions.setdefault(session_id, []).append(place)
    out = list(fits)
    for members in sessions.values():
        members.sort(key=lambda place: -fits[place])
        for place in members:
            lift = 0.0
            for other in members:
                if fits[other] <= lift:
                    break  # distance only takes away, and the rest begin with less
                if other != place:
                    apart_ms = abs(places[other][1] - places[place][1])
                    lift = max(lift, fits[other] * math.pow(0.5, apart_ms / NEIGHBOUR_HALF_LIFE_MS))
            out[place] += NEIGHBOUR * lift
    return out


def _bare(word: str) -> str:
    return without_particles(word, shortest=2) if is_hangul_run(word) else word


Scored = tuple[Chunk, Score]


class Alike(NamedTuple):
    """A query's word and one that sounds like it, as terms."""

    own: tuple[str, ...]
    other: tuple[str, ...]


class Rarity(NamedTuple):
    """The rarity of a query's terms.

    weight: term -> inverse document frequency. rare: terms that few chunks of the project hold. alike: words of the
    other script that stand for the query's, by sound. unknown: terms that no chunk of the project holds.
    """

    weight: dict[str, float]
    rare: frozenset[str]
    alike: tuple[Alike, ...] = ()
    unknown: frozenset[str] = frozenset()

    @property
    def translatable(self) -> dict[str, float]:
        """Return the weights for a text in the other script.

        A word that the project has nowhere may stand there translated: it counts UNTRANSLATED.
        """
        return {term: share * (UNTRANSLATED if term in self.unknown else 1) for term, share in self.weight.items()}

    @property
    def shown(self) -> dict[str, float]:
        """Return the weights with those of words that sound alike."""
        out = dict(self.weight)
        for own, other in self.alike:
            for term in other:
                out.setdefault(term, sum(self.weight[own_term] for own_term in own) / len(other))
        return out


@dataclass
class Retriever:
    """Parallel searches by words and by vectors, fused. Thread-safe."""

    store: Store
    embedder: Callable[[], Embedder | None]
    terms: TermStats
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="search"))

    def search(
        self,
        query: Query,
        scope: Scope,
        limit: int,
        weights: Weights,
        rarity: Rarity | None = None,
        vector: Vector | None = None,
    ) -> list[Scored]:
        """Return the best chunk of each memory found, best score first.

        limit: chunks of each of the two searches. rarity: of the query's terms, vector: its own, if known already.
        """
        embedder = self.embedder()
        rarity = rarity or self.rarity(query.terms, scope, query.text)
        terms = list(dict.fromkeys([*query.terms, *(term for pair in rarity.alike for term in pair.other)]))
        by_text = self._threads.submit(self.store.search_text, terms, scope, limit) if terms else None
        near: list[Hit] = []
        if embedder is not None and query.text:
            try:
                vector = vector or embedder.embed_query(query.text)
                near = self.store.search_vector(vector, embedder.fingerprint, scope, limit)
            except EmbedderError:
                embedder = None
        worded = by_text.result() if by_text is not None else []
        return self._fused(self._evidence(worded, near, query, embedder, rarity), rarity.weight, weights)

    def vector(self, query: Query) -> Vector | None:
        """Return a query's vector, None where there is none now."""
        embedder = self.embedder()
        try:
            return embedder.embed_query(query.text) if embedder is not None and query.text else None
        except EmbedderError:
            return None

    def nearness(self, vector: Vector | None, project_id: str, chunk_ids: Sequence[str]) -> dict[str, float]:
        """Return chunk id -> calibrated cosine, of those known."""
        embedder = self.embedder()
        if vector is None or embedder is None:
            return {}
        found = self.store.cosines(vector, embedder.fingerprint, project_id, chunk_ids)
        return {chunk_id: embedder.calibration.position(cosine) for chunk_id, cosine in found.items()}

    def rarity(self, terms: Sequence[str], scope: Scope, text: str = "") -> Rarity:
        """Return the terms' rarity, half by store, half by first project."""
        project = self.store.holding(terms, scope.project_ids[0]) if scope.project_ids else None
        weight = self.terms.weights(terms, project)
        alike = self._alike(text, weight, scope)
        if project is None:
            return Rarity(weight, frozenset(), alike)
        most = max(RARE_CHUNKS, RARE_SHARE * project.chunks)
        heard = {term for own, _ in alike for term in own}
        counts = {term: project.by_term.get(term, 0) for term in terms}
        return Rarity(
            weight,
            frozenset(term for term in terms if 0 < counts[term] <= most),
            alike,
            frozenset(term for term in terms if not counts[term]) - heard,
        )

    def _alike(self, text: str, weight: dict[str, float], scope: Scope) -> tuple[Alike, ...]:
        """Find words that sound alike; they bound a word's weight."""
        if not text or not scope.project_ids:
            return ()
        words = {stem(word): tuple(query_terms(word)) for word in _WORD.findall(text.lower())[:MOST_HEARD]}
        words = {_bare(word): own for word, own in words.items() if own and all(term in weight for term in own)}
        by_word = self.store.sounding_like(list(words), scope.project_ids[0])
        alike = tuple(
            Alike(words[word], tuple(index_terms(other).split()) if is_hangul_run(other) else (other,))
            for word, others in by_word.items()
            for other in others
        )
        if alike:
            project = self.store.holding([term for pair in alike for term in pair.other], scope.project_ids[0])
            known = self.terms.weights([term for pair in alike for term in pair.other], project)
            for own, other in alike:
                for term in own:
                    weight[term] = min(weight[term], max(known[other_term] for other_term in other))
        return alike

    def is_templated(self, opening: str, scope: Scope) -> bool:
        """True for an opening (turns.turn.opening_term) of many turns of the first project.

        Only the words in memory are asked: of a project that no search has used yet nothing is known.
        """
        holding = self.store.holding([opening], scope.project_ids[0]) if opening and scope.project_ids else None
        return holding is not None and holding.by_term.get(opening, 0) >= TEMPLATE_TURNS

    def _evidence(
        self, worded: Sequence[Hit], near: Sequence[Hit], query: Query, embedder: Embedder | None, rarity: Rarity
    ) -> list[tuple[Chunk, ChunkEvidence]]:
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
                counts = frequencies(query.terms, split[key])
                for own, other in rarity.alike:
                    if all(term in split[key] for term in other):
                        counts.update({term: 1 for term in own if term not in counts})
                is_other = bool(rarity.alike) and is_hangul(split[key]) != hangul
                covered = coverage(counts, rarity.translatable if is_other else rarity.weight)
                lexical = bm25(counts, rarity.weight, len(split[key]) / max(1.0, mean_length))
            # A chunk without a vector of this model is measured by its words alone, as far as it has been embedded.
            if embedder is not None and (key in cosines or chunk.model == embedder.fingerprint):
                cosine = cosines.get(key)
                vector = embedder.calibration.position(farthest if cosine is None else cosine)
            is_foreign = not lexical and is_hangul(split[key]) != hangul  # words in common count whatever the script
            out.append((chunk, ChunkEvidence(covered, lexical, vector, is_foreign)))
        return out

    def _fused(
        self, judged: Sequence[tuple[Chunk, ChunkEvidence]], rarity: Mapping[str, float], weights: Weights
    ) -> list[Scored]:
        best_bm25 = max((evidence.bm25 or 0.0 for _, evidence in judged), default=0.0)
        ideal = sum(rarity.values()) * IDEAL_SHARE
        fits = [evidence.fit(weights, max(best_bm25, ideal)) for _, evidence in judged]
        fits = session_boost([(chunk.session_id, chunk.at_ms) for chunk, _ in judged], fits)
        best: dict[str, Scored] = {}
        for (chunk, evidence), fit in zip(judged, fits, strict=True):
            scored = Score(
                score=min(1.0, fit / (1 + NEIGHBOUR)),
                relevance=evidence.relevance(weights),
                lexical=evidence.covered,
                vector=evidence.clipped,
                bm25=evidence.bm25 or 0.0,
                cosine=evidence.vector,
            )
            best_so_far = best.get(chunk.memory_id)
            if best_so_far is None or scored.score > best_so_far[1].score:
                best[chunk.memory_id] = (chunk, scored)
        return sorted(best.values(), key=lambda pair: (-pair[1].score, -pair[0].at_ms))
