"""Recall: a prompt to the memories that help with it, within the budget; or to nothing."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from memlayer.edge.capture.noise import recallable
from memlayer.indexing.turn_memories import OPEN_QUESTION
from memlayer.model import Chunk, Scope
from memlayer.recall.candidate import Candidate, Reason, in_context, say_the_same, turn_of, whole
from memlayer.recall.need import DIRECT_RELEVANCE, PromptSignals, helps, memory_signals, need, prompt_signals
from memlayer.recall.query import Query, is_plan, reduce_prompt
from memlayer.recall.retriever import Rarity, Retriever
from memlayer.recall.scoring import Score, Weights
from memlayer.recall.session_words import LiveSessions, SessionWords
from memlayer.recall.snippet import snippet
from memlayer.recall.superseded import Replaced, Replacement
from memlayer.records.sessions import Session
from memlayer.text import context_block

MAX_QUERY_CHARS = 100_000
SURER = 2.0  # times min_chance for each entry after the first: on real sessions they are noise far more often


class Gate(Enum):
    """Why no search was made, as a person reads it."""

    OPEN = ""
    OFF = "recall is switched off"
    NOTHING_ASKED = "nothing in it to look for"
    PLAN = "an accepted plan says what it needs"
    TOO_SHORT = "too short to need an earlier session"
    OPENING = "the store was still opening"
    COMMAND = "a slash command"
    LATE = "recall took longer than recall.deadline_ms"
    FAILED = "recall failed; logs/daemon.log says why"


@dataclass(frozen=True)
class RecallRules:
    """The person's settings. min_chance: how sure recall must be to speak. candidates: chunks of each search."""

    enabled: bool = True
    budget: context_block.Budget = field(default_factory=context_block.Budget)
    min_chance: float = 0.126
    candidates: int = 30
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Recalled:
    """The answer to a prompt. block: "" for silence. need: how likely it needs an earlier session, in [0, 1]."""

    block: str
    mode: str
    gate: Gate = Gate.OPEN
    query: Query | None = None
    signals: PromptSignals | None = None
    need: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    took_ms: float = 0.0

    @property
    def entries(self) -> tuple[Candidate, ...]:
        return tuple(one for one in self.candidates if one.kept)


@dataclass
class Recall:
    """Composes the answer to a prompt. Thread-safe."""

    retriever: Retriever
    live: LiveSessions
    replaced: Replaced

    def renew(self, project_id: str) -> None:
        """Memories of that project have changed. Raises StoreError."""
        self.replaced.renew([project_id])

    def answer(self, prompt: str, scope: Scope, rules: RecallRules, session: Session | None = None) -> Recalled:
        """The block for a prompt. session: whose context must not be repeated. Raises StoreError."""
        started = time.perf_counter()
        prompt = unicodedata.normalize("NFC", prompt[:MAX_QUERY_CHARS])  # a Mac's file names are decomposed
        mode = "hybrid" if self.retriever.embedder() is not None else "lexical"
        if not rules.enabled:
            return Recalled("", mode, Gate.OFF)
        if not recallable(prompt):
            return Recalled("", mode, Gate.NOTHING_ASKED)
        if is_plan(prompt):
            return Recalled("", mode, Gate.PLAN)
        query = reduce_prompt(prompt)
        said = self.live.of(session.id, session.context_since_ms) if session is not None else SessionWords()
        rarity = self.retriever.rarity(query.terms, scope)
        signals = prompt_signals(prompt, query, rarity.weight, said)
        if signals.is_too_short:
            return Recalled("", mode, Gate.TOO_SHORT, query, signals)
        found = self.retriever.search(query, scope, rules.candidates, rules.weights, rarity)
        wanted = need(signals)
        judged = [_judged(chunk, score, rarity, said, wanted) for chunk, score in found]
        if signals.is_direct:
            judged = [replace(one, chance=max(one.chance, _answers(one.score))) for one in judged]
        judged.sort(key=lambda one: (-round(one.chance, 2), one.chunk.category == "core", -one.chunk.at_ms))
        judged = self._chosen(judged, rules, session, rarity.weight)
        lines = [
            context_block.Entry(one.citation, context_block.day_of(one.chunk.at_ms), one.snippet)
            for one in judged
            if one.kept
        ]
        explanation = "" if session is not None and session.explained_ms else context_block.EXPLANATION
        block = context_block.block(lines, rules.budget, explanation)
        judged = _within(judged, len(context_block.entry_lines(block)))
        took_ms = (time.perf_counter() - started) * 1000
        return Recalled(block, mode, Gate.OPEN, query, signals, wanted, tuple(judged), took_ms)

    def _chosen(
        self, judged: Sequence[Candidate], rules: RecallRules, session: Session | None, rarity: dict[str, float]
    ) -> list[Candidate]:
        """The candidates, those for the block kept and with their snippets."""
        present = [_terms(one.chunk) for one in judged if in_context(one.chunk, session) is Reason.OWN_SESSION]
        turns: set[str] = set()
        out = []
        for one in judged:
            reason = self._reason(one, rules, session, turns, present)
            if reason is Reason.KEPT and len(turns) >= rules.budget.max_entries:
                reason = Reason.CROWDED
            if reason is not Reason.KEPT:
                out.append(replace(one, reason=reason))
                continue
            kept = self._entry(one, rules.budget.max_entry_chars, rarity)
            if kept.kept:
                turns.add(turn_of(one.chunk))
                present.append(_terms(one.chunk))
            out.append(kept)
        return out

    def _reason(
        self,
        one: Candidate,
        rules: RecallRules,
        session: Session | None,
        turns: set[str],
        present: Sequence[frozenset[str]],
    ) -> Reason:
        if one.chunk.role == OPEN_QUESTION:
            return Reason.OPEN_QUESTION
        known = in_context(one.chunk, session)
        if known is not None:
            return known
        if one.chance < rules.min_chance * (SURER if turns else 1):
            return Reason.UNSURE
        if turn_of(one.chunk) in turns:
            return Reason.SAME_TURN
        terms = _terms(one.chunk)
        return Reason.REPEATS if any(say_the_same(terms, other) for other in present) else Reason.KEPT

    def _entry(self, one: Candidate, max_chars: int, rarity: dict[str, float]) -> Candidate:
        """The candidate as an entry: with what replaced its statement, or left out if that was taken back."""
        chunk = one.chunk
        gone: list[Replacement] = []

        def is_stale(sentence: str) -> bool:
            found = self.replaced.of(chunk.project_id, (chunk.session_id, chunk.prompt_id), sentence)
            gone.extend([found] if found else [])
            return found is not None

        text = snippet(chunk.text, rarity, max_chars, is_stale)
        if text:
            return replace(one, reason=Reason.KEPT, snippet=text)
        head = next((said.head for said in gone if said.head is not None), None)
        if head is None:
            return replace(one, reason=Reason.TAKEN_BACK)
        return replace(one, chunk=whole(head), reason=Reason.KEPT, snippet=snippet(head.text, rarity, max_chars))


def _judged(chunk: Chunk, score: Score, rarity: Rarity, said: SessionWords, wanted: float) -> Candidate:
    """A candidate with its chance. wanted: how likely the prompt needs a memory."""
    signals = memory_signals(chunk, score, rarity, said)
    fit = helps(signals)
    return Candidate(chunk, score, Reason.UNSURE, wanted * fit, fit, signals)


def _answers(score: Score) -> float:
    """How sure it is that a memory answers a direct question, in [0, 1]; 0 below the floor."""
    return score.relevance if score.relevance >= DIRECT_RELEVANCE else 0.0


def _terms(chunk: Chunk) -> frozenset[str]:
    return frozenset(chunk.terms.split())


def _within(judged: Sequence[Candidate], most: int) -> list[Candidate]:
    """The candidates, of which only the first `most` kept ones had room in the block."""
    out = []
    for one in judged:
        most -= one.kept
        out.append(replace(one, reason=Reason.CROWDED) if one.kept and most < 0 else one)
    return out
