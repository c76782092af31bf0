"""Recall: a prompt to the memories that fit it, ranked, gated and within the budget; or to nothing."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from memlayer.core import context
from memlayer.core.follow_up import points_back
from memlayer.core.intent import ASKING, CHAT, ORDER, asks_anybody, asks_to_be_reminded, intent
from memlayer.core.intent_words import STANDING_ORDER
from memlayer.core.model import Chunk, Scope, citation_of
from memlayer.core.noise import recallable
from memlayer.core.query import Query, questions_in, reduce_prompt, with_context
from memlayer.core.scoring import Score, Weights
from memlayer.service.candidate import (
    BELOW,
    CROWDED,
    SHOWN,
    Candidate,
    in_context,
    same_as,
    say_the_same,
    told_by,
    within,
)
from memlayer.service.consolidation import OPEN_QUESTION
from memlayer.service.dated import dated
from memlayer.service.recent_turns import RecentTurns
from memlayer.service.renewed import renewed
from memlayer.service.replaced import Replaced
from memlayer.service.retriever import Found, Retriever
from memlayer.service.sessions import Session
from memlayer.service.shown import was_shown, was_told
from memlayer.service.snippet import snippet

GENERAL_MIN_SCORE = 1.6  # times the floor, for a question that anybody could be asked
SURE = 0.7  # the relevance from which a prompt has found what it is about
MAX_QUERY_CHARS = 100_000


@dataclass(frozen=True)
class RecallRules:
    """What the user may set. min_score: floor on relevance. candidates: how many chunks each leg brings."""

    enabled: bool = True
    budget: context.Budget = field(default_factory=context.Budget)
    min_score: float = 0.4
    candidates: int = 30
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Recalled:
    """What a prompt brought back. block: "" for silence. gate: why the search was not even made, or "".

    asked: the questions in a long prompt, and the prompt with the turn before it, that were searched for besides.
    """

    block: str
    mode: str
    gate: str = ""
    query: Query | None = None
    candidates: tuple[Candidate, ...] = ()
    took_ms: float = 0.0
    asked: tuple[Query, ...] = ()

    @property
    def entries(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.candidates if one.kept)


@dataclass
class Recall:
    """Composes the answer to a prompt. Thread-safe."""

    retriever: Retriever
    recent: RecentTurns | None = None
    replaced: Replaced | None = None

    def renew(self, project_id: str) -> None:
        """Memories of that project have changed. Raises StoreError."""
        if self.replaced is not None:
            self.replaced.renew([project_id])

    def answer(self, prompt: str, scope: Scope, rules: RecallRules, session: Session | None = None) -> Recalled:
        """The block for a prompt. session: whose context must not be repeated."""
        started = time.perf_counter()
        prompt = unicodedata.normalize("NFC", prompt[:MAX_QUERY_CHARS])  # a Mac's file names are decomposed
        mode = "hybrid" if self.retriever.embedder() is not None else "lexical"
        if not rules.enabled:
            return Recalled("", mode, gate="recall is switched off")
        if not recallable(prompt):
            return Recalled("", mode, gate="nothing in it to look for")
        wanted = intent(prompt)
        if wanted == CHAT:
            return Recalled("", mode, gate="small talk")
        # How orders are carried out is asked by each of them, however little it says.
        if wanted == ORDER or asks_to_be_reminded(prompt):
            rules = replace(rules, weights=replace(rules.weights, aside=0.0))
        query = reduce_prompt(prompt)
        found = self.retriever.search(query, scope, rules.candidates, rules.weights)
        besides = questions_in(prompt)
        for asked in besides:
            found = _better(found, self.retriever.search(asked, scope, rules.candidates, rules.weights))
        if session is not None and wanted == ASKING and points_back(prompt):
            longer = self._as_meant(query, found, session)
            if longer is not None:
                besides.append(longer)
                found = _better(found, self.retriever.search(longer, scope, rules.candidates, rules.weights))
        if wanted == ASKING and asks_anybody(prompt):
            rules = replace(rules, min_score=min(1.0, rules.min_score * GENERAL_MIN_SCORE))
        judged = self._judge(found, query, rules, session, wanted)
        if self.replaced is not None:
            most, max_chars = rules.budget.max_entries, rules.budget.max_entry_chars
            judged = renewed(judged, self.replaced, session, query, self.retriever.terms, most, max_chars)
        similar = partial(self.retriever.similar, scope=scope)
        judged = dated(judged, query, rules.budget, self.retriever.terms, similar)
        entries = [_entry(one) for one in judged if one.kept]
        explanation = "" if session is not None and session.explained_ms else context.EXPLANATION
        block = context.block(entries, rules.budget, explanation)
        judged = within(judged, len(context.entry_lines(block)))
        took_ms = (time.perf_counter() - started) * 1000
        return Recalled(block, mode, "", query, tuple(judged), took_ms, tuple(besides))

    def _as_meant(self, query: Query, found: Sequence[Found], session: Session) -> Query | None:
        """The query with the turn before it, for each memory to keep the better of its two scores; None if there is
        none, or if it was understood without it: a second search costs as much as the first."""
        if any(one.relevance >= SURE and not in_context(chunk, session) for chunk, one in found):
            return None
        before = self.recent.before(session.id, session.last_ms > session.since_ms) if self.recent else ""
        return with_context(query, before) if recallable(before) else None

    def _judge(
        self, found: Sequence[Found], query: Query, rules: RecallRules, session: Session | None, wanted: str
    ) -> list[Candidate]:
        most, max_chars = rules.budget.max_entries, rules.budget.max_entry_chars
        judged: list[Candidate] = []
        kept: list[Candidate] = []
        kept_terms: list[frozenset[str]] = []
        kept_turns: dict[tuple[str, str], int] = {}  # their places among the kept
        present = [
            (chunk, frozenset(chunk.terms.split()))
            for chunk, _ in found
            if chunk.role != OPEN_QUESTION and in_context(chunk, session)
        ]
        shown = frozenset(session.shown) if session is not None else frozenset()
        for chunk, one in found:
            reason = _why_dropped(chunk, one, session, rules.min_score)
            if not reason and was_told(shown, chunk):
                reason = "the turn that says it was shown in this session"
            if not reason and wanted == ORDER and not _guides(chunk):
                reason = "the prompt is an order, and this is no standing order"
            twin = -1
            terms: frozenset[str] = frozenset()
            turn = (chunk.session_id, chunk.prompt_id)
            same_turn = kept_turns.get(turn, -1) if chunk.prompt_id else -1
            if not reason and same_turn >= 0 and chunk.category == "core":
                reason = told_by(kept[same_turn])
            if not reason:
                terms = frozenset(chunk.terms.split())
                newer = (other for other, said in present if chunk.at_ms <= other.at_ms and say_the_same(terms, said))
                if repeated := next(newer, None):
                    reason = "says the same as %s, which is in the context" % citation_of(repeated.memory_id)
            if not reason:
                twin = next((i for i, other in enumerate(kept_terms) if say_the_same(terms, other)), -1)
                if twin >= 0 and chunk.at_ms <= kept[twin].chunk.at_ms:
                    reason = same_as(kept[twin])
                elif twin < 0 and same_turn < 0 and len(kept) >= most:
                    reason = CROWDED % most
            if reason:
                judged.append(Candidate(chunk, one, False, reason))
                continue
            text = snippet(chunk, query, self.retriever.terms, max_chars)
            if shown and was_shown(shown, chunk, text, query, self.retriever.terms):
                judged.append(Candidate(chunk, one, False, SHOWN))
                continue
            candidate = Candidate(chunk, one, True, "kept", text)
            if same_turn >= 0:  # a statement and the turn it comes from are one thing to recall: the turn tells more
                twin = same_turn
            if twin >= 0:  # the newer of two that say the same takes the older one's place
                older = judged.index(kept[twin])
                judged[older] = replace(kept[twin], kept=False, reason=same_as(candidate))
                kept_turns.pop((kept[twin].chunk.session_id, kept[twin].chunk.prompt_id), None)
                kept[twin], kept_terms[twin], kept_turns[turn] = candidate, terms, twin
                judged.insert(older, candidate)
                continue
            kept_turns[turn] = len(kept)
            judged.append(candidate)
            kept.append(candidate)
            kept_terms.append(terms)
        return judged


def _better(found: Sequence[Found], other: Sequence[Found]) -> list[Found]:
    """What either of two searches found, each memory with the more relevant of its two scores, best first."""
    best = {chunk.memory_id: (chunk, one) for chunk, one in found}
    for chunk, one in other:
        held = best.get(chunk.memory_id)
        if held is None or one.relevance > held[1].relevance:
            best[chunk.memory_id] = (chunk, one)
    return sorted(best.values(), key=lambda pair: (-pair[1].score, -pair[0].at_ms))


def _why_dropped(chunk: Chunk, one: Score, session: Session | None, floor: float) -> str:
    if chunk.role == OPEN_QUESTION:
        return "a question that was never answered"
    reason = in_context(chunk, session)
    if reason:
        return reason
    # The floor is on relevance: importance and recency order what fits, they never make a memory fit.
    if one.relevance < floor:
        return BELOW + "%.2f below the floor %.2f" % (one.relevance, floor)
    return ""


def _guides(chunk: Chunk) -> bool:
    """True if the memory says how things are to be done; what was done once is no guide to an order."""
    return bool(STANDING_ORDER.search(chunk.text))


def _entry(one: Candidate) -> context.Entry:
    mark = context.superseded_mark(one.newer) if one.newer else ""
    return context.Entry(one.citation, context.day_of(one.chunk.at_ms), one.snippet, mark)
