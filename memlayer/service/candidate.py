"""A memory that came into question for a prompt, and how two of them compare."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memlayer.core.model import Chunk, Memory, citation_of, turn_memory_id
from memlayer.core.scoring import Score
from memlayer.core.terms import index_terms
from memlayer.service.sessions import Session

BELOW = "relevance "  # how the reason of a candidate begins that missed the floor
SHOWN = "already shown in this session"
CROWDED = "more than %d entries"
NEAR_DUPLICATE = 0.8  # Jaccard of the terms from which two candidates say the same


@dataclass(frozen=True)
class Candidate:
    """A memory that came into question. reason: why it was kept or dropped."""

    chunk: Chunk
    score: Score
    kept: bool
    reason: str
    snippet: str = ""
    newer: str = ""  # citation of a newer memory on the same matter

    @property
    def citation(self) -> str:
        return citation_of(self.chunk.memory_id)

    @property
    def key(self) -> str:
        return key_of(self.chunk)


def key_of(chunk: Chunk) -> str:
    """The key of the memory a chunk stands for, without asking the store: keys are made from category, day and id."""
    if chunk.category == "core":
        return "core_" + chunk.memory_id[:4]
    day = time.strftime("%Y-%m-%d", time.localtime(chunk.at_ms / 1000))
    prefix = "turn" if chunk.category == "conversation" else chunk.category
    return "%s_%s_%s" % (prefix, day, chunk.memory_id[:4])


def turn_of(chunk: Chunk) -> str:
    """The id of the memory of the turn that a chunk was drawn from, or is a part of; "" for none."""
    return turn_memory_id(chunk.session_id, chunk.prompt_id) if chunk.prompt_id else ""


def told_by(turn: Candidate) -> str:
    """Why a statement is left out where the turn it was drawn from is an entry."""
    return "%s says it, and more" % turn.citation


def same_as(other: Candidate) -> str:
    """Why one of two that say the same is left out."""
    return "says the same as " + other.citation


def in_context(chunk: Chunk, session: Session | None) -> str:
    """How the model comes to have this memory before its eyes already; "" when it does not."""
    if session is None:
        return ""
    if chunk.session_id == session.id and chunk.at_ms >= session.context_since_ms:
        return "still in this session's context"
    if chunk.memory_id in session.inherited or turn_of(chunk) in session.inherited:
        return "in this session's context by resume or fork"
    if chunk.memory_id in session.shown:
        return SHOWN
    return ""


def whole(memory: Memory) -> Chunk:
    """A core memory as a hit on all of its text."""
    return Chunk(
        id=memory.id, memory_id=memory.id, event_id="", role=memory.kind, session_id=memory.session_id,
        project_id=memory.project_id, prompt_id=memory.prompt_id, category=memory.category,
        importance=memory.importance, at_ms=memory.at_ms, start=0, end=len(memory.text), text=memory.text,
        terms=index_terms(memory.text),
    )  # fmt: skip


def within(judged: Sequence[Candidate], most: int) -> list[Candidate]:
    """The candidates, of which only the first `most` kept ones had room in the block: what was not in it was not shown
    either, and may come with the next prompt."""
    out = []
    for one in judged:
        most -= one.kept
        out.append(replace(one, kept=False, reason="no room left in the block") if one.kept and most < 0 else one)
    return out


class Words:
    """The terms of a text, and what each of them weighs."""

    def __init__(self, terms: frozenset[str], weight: Mapping[str, float]) -> None:
        self._terms, self._weight = terms, weight
        self._whole = sum(map(weight.__getitem__, terms))

    def overlap(self, other: Words) -> float:
        """The overlap coefficient of two texts, each term by its weight, in [0, 1]."""
        smaller = min(self._whole, other._whole)
        return sum(map(self._weight.__getitem__, self._terms & other._terms)) / smaller if smaller else 0.0

    def weighing(self, least: float) -> frozenset[str]:
        """The terms that weigh so much."""
        return frozenset(term for term in self._terms if self._weight[term] >= least)

    def holds(self, terms: Iterable[str]) -> bool:
        """True if all of them are there."""
        return self._terms.issuperset(terms)


def say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if two texts are near duplicates, by the Jaccard coefficient of their terms."""
    if min(len(one), len(other)) < NEAR_DUPLICATE * max(len(one), len(other)):
        return False  # the coefficient is at most the smaller one's share of the larger
    shared = len(one & other)
    return shared > 0 and shared >= NEAR_DUPLICATE * (len(one) + len(other) - shared)
