"""Recall: a prompt to the memories that fit it, ranked, gated and within the budget; or to nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from memlayer.core import context
from memlayer.core.model import Chunk, Hit, Scope, citation_of
from memlayer.core.noise import recallable
from memlayer.core.query import Query, reduce_prompt
from memlayer.core.scoring import Score, Weights, coverage, score, share_a_script
from memlayer.errors import EmbedderError
from memlayer.ports import Embedder, Store
from memlayer.service.consolidation import OPEN_QUESTION
from memlayer.service.sessions import Session
from memlayer.service.snippet import snippet
from memlayer.service.term_stats import TermStats

NEAR_DUPLICATE = 0.8  # Jaccard of the terms from which two candidates say the same
MAX_QUERY_CHARS = 100_000


@dataclass(frozen=True)
class RecallRules:
    """What the user may set. min_score: floor on relevance. candidates: how many chunks each leg brings."""

    enabled: bool = True
    budget: context.Budget = field(default_factory=context.Budget)
    min_score: float = 0.4
    candidates: int = 40
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Candidate:
    """A memory that came into question. reason: why it was kept or dropped."""

    chunk: Chunk
    score: Score
    kept: bool
    reason: str
    snippet: str = ""

    @property
    def citation(self) -> str:
        return citation_of(self.chunk.memory_id)

    @property
    def key(self) -> str:
        return key_of(self.chunk)


@dataclass(frozen=True)
class Recalled:
    """What a prompt brought back. block: "" for silence. gate: why the search was not even made, or ""."""

    block: str
    mode: str
    gate: str = ""
    query: Query | None = None
    candidates: tuple[Candidate, ...] = ()
    took_ms: float = 0.0

    @property
    def entries(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.candidates if one.kept)


@dataclass
class Recall:
    """Searches the store with both legs, fuses and gates. Thread-safe: it keeps no state but the thread of a leg."""

    store: Store
    embedder: Callable[[], Embedder | None]
    terms: TermStats
    now_ms: Callable[[], int] = lambda: int(time.time() * 1000)
    _legs: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(2, thread_name_prefix="leg"))

    def answer(self, prompt: str, scope: Scope, rules: RecallRules, session: Session | None = None) -> Recalled:
        """The block for a prompt. session: whose context must not be repeated."""
        started = time.perf_counter()
        prompt = prompt[:MAX_QUERY_CHARS]
        mode = "hybrid" if self.embedder() is not None else "lexical"
        if not rules.enabled:
            return Recalled("", mode, gate="recall is switched off")
        if not recallable(prompt):
            return Recalled("", mode, gate="nothing in it to look for")
        query = reduce_prompt(prompt)
        found = self.search(query, scope, rules)
        judged = self._judge(found, query, rules, session)
        entries = [context.Entry(one.key, one.snippet, one.citation, one.chunk.at_ms) for one in judged if one.kept]
        took_ms = (time.perf_counter() - started) * 1000
        return Recalled(context.block(entries, rules.budget), mode, "", query, tuple(judged), took_ms)

    def search(self, query: Query, scope: Scope, rules: RecallRules) -> list[tuple[Chunk, Score]]:
        """The best chunk of each memory that either leg finds, best score first."""
        limit = rules.candidates
        embedder = self.embedder()
        by_text = self._legs.submit(self.store.search_text, query.terms, scope, limit) if query.terms else None
        near: list[Hit] = []
        if embedder is not None and query.text:
            try:
                near = self.store.search_vector(embedder.embed_query(query.text), embedder.fingerprint, scope, limit)
            except EmbedderError:
                embedder = None
        worded = by_text.result() if by_text is not None else []
        return self._fuse(worded, near, query, embedder, rules)

    def _fuse(
        self, worded: Sequence[Hit], near: Sequence[Hit], query: Query, embedder: Embedder | None, rules: RecallRules
    ) -> list[tuple[Chunk, Score]]:
        rarity = self.terms.weights(query.terms)
        cosines = {hit.chunk.id: hit.cosine for hit in near}
        # What the vector leg did not return is at most as near as the last that it did.
        farthest = min((cosine for cosine in cosines.values() if cosine is not None), default=0.0)
        now_ms = self.now_ms()
        best: dict[str, tuple[Chunk, Score]] = {}
        for hit in (*near, *worded):
            chunk = hit.chunk
            terms = frozenset(chunk.terms.split())
            lexical: float | None = coverage(query.terms, terms, rarity) if query.terms else None
            if not lexical and embedder is not None and not share_a_script(query.terms, terms):
                lexical = None
            vector = None
            if embedder is not None:
                cosine = cosines.get(chunk.id)
                if cosine is None:
                    cosine = farthest if near else 0.0
                vector = embedder.calibration.relevance(cosine)
            one = score(
                lexical, vector, importance=chunk.importance, age_ms=now_ms - chunk.at_ms, category=chunk.category,
                weights=rules.weights,
            )  # fmt: skip
            held = best.get(chunk.memory_id)
            if held is None or one.score > held[1].score:
                best[chunk.memory_id] = (chunk, one)
        return sorted(best.values(), key=lambda pair: (-pair[1].score, -pair[0].at_ms))

    def _judge(
        self, found: Sequence[tuple[Chunk, Score]], query: Query, rules: RecallRules, session: Session | None
    ) -> list[Candidate]:
        most, max_chars = rules.budget.max_entries, rules.budget.max_entry_chars
        judged: list[Candidate] = []
        kept: list[Candidate] = []
        kept_terms: list[frozenset[str]] = []
        for chunk, one in found:
            reason = self._why_dropped(chunk, one, session, rules.min_score)
            terms = frozenset(chunk.terms.split())
            twin = -1
            if not reason:
                twin = next((i for i, other in enumerate(kept_terms) if _jaccard(terms, other) >= NEAR_DUPLICATE), -1)
                if twin >= 0 and chunk.at_ms <= kept[twin].chunk.at_ms:
                    reason = "says the same as " + kept[twin].key
                elif twin < 0 and len(kept) >= most:
                    reason = "more than %d entries" % most
            if reason:
                judged.append(Candidate(chunk, one, False, reason))
                continue
            candidate = Candidate(chunk, one, True, "kept", snippet(chunk, query, self.terms, max_chars))
            if twin >= 0:  # the newer of two that say the same takes the older one's place
                older = judged.index(kept[twin])
                judged[older] = replace(kept[twin], kept=False, reason="says the same as " + candidate.key)
                kept[twin], kept_terms[twin] = candidate, terms
                judged.insert(older, candidate)
                continue
            judged.append(candidate)
            kept.append(candidate)
            kept_terms.append(terms)
        return judged

    def _why_dropped(self, chunk: Chunk, one: Score, session: Session | None, floor: float) -> str:
        if chunk.role == OPEN_QUESTION:
            return "a question that was never answered"
        if session is not None:
            if chunk.session_id == session.id and chunk.at_ms >= session.context_since_ms:
                return "still in this session's context"
            if chunk.memory_id in session.inherited:
                return "in this session's context by resume or fork"
            if chunk.memory_id in session.shown:
                return "already shown in this session"
        # The floor is on relevance: importance and recency order what fits, they never make a memory fit.
        if one.relevance < floor:
            return "relevance %.2f below the floor %.2f" % (one.relevance, floor)
        return ""


def key_of(chunk: Chunk) -> str:
    """The key of the memory a chunk stands for, without asking the store: keys are made from category, day and id."""
    if chunk.category == "core":
        return "core_" + chunk.memory_id[:4]
    day = time.strftime("%Y-%m-%d", time.localtime(chunk.at_ms / 1000))
    prefix = "turn" if chunk.category == "conversation" else chunk.category
    return "%s_%s_%s" % (prefix, day, chunk.memory_id[:4])


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0
