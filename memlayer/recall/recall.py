"""Recall: the memories that help with a prompt, or silence."""

from __future__ import annotations

import time
import unicodedata
from dataclasses import dataclass, field
from enum import Enum

from memlayer.edge.capture.noise import recallable
from memlayer.model import Scope
from memlayer.recall.candidate import Candidate
from memlayer.recall.need import judge, need
from memlayer.recall.pipeline import Pipeline
from memlayer.recall.query import PromptSignals, Query, is_plan, prompt_signals, reduce_prompt
from memlayer.recall.retriever import Retriever
from memlayer.recall.scoring import Weights
from memlayer.recall.session_words import LiveSessions, SessionWords
from memlayer.recall.superseded import SupersededStatements
from memlayer.records.sessions import Session
from memlayer.text import context_block
from memlayer.transcripts import host_memory

MAX_QUERY_CHARS = 100_000


class Gate(Enum):
    """Why no search was made; the value is for display only."""

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
    """Settings of recall.

    min_chance: the least chance of an entry. candidates: chunks of each search.
    """

    enabled: bool = True
    budget: context_block.Budget = field(default_factory=context_block.Budget)
    min_chance: float = 0.126
    candidates: int = 30
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Recalled:
    """The answer to a prompt.

    block: "" for silence. need: probability that the prompt needs an earlier session.
    """

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
    """The answer to a prompt, composed. Thread-safe."""

    retriever: Retriever
    live: LiveSessions
    superseded: SupersededStatements

    def refresh(self, project_id: str) -> None:
        """Take note of a project's changed memories. Raises StoreError."""
        self.superseded.refresh([project_id])

    def answer(
        self,
        prompt: str,
        scope: Scope,
        rules: RecallRules,
        session: Session | None = None,
        host_lines: host_memory.Lines = (),
    ) -> Recalled:
        """Return the block for a prompt. Raises StoreError.

        session: the one whose context must not be repeated. host_lines: of the host's memory, which must not be either.
        """
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
        candidates = judge(found, signals, rarity, said)
        pipeline = Pipeline(self.superseded, session, rules.min_chance, rules.budget, rarity.weight, host_lines)
        block = pipeline.run(candidates)
        took_ms = (time.perf_counter() - started) * 1000
        return Recalled(block, mode, Gate.OPEN, query, signals, need(signals), tuple(candidates), took_ms)
