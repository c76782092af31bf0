"""A memory that came into question for a prompt, and the reasons to keep it or leave it out."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from memlayer.model import Chunk, Memory, citation_of, turn_memory_id
from memlayer.recall.need import MemorySignals
from memlayer.recall.scoring import Score
from memlayer.records.sessions import Session
from memlayer.text.terms import index_terms

NEAR_DUPLICATE = 0.8  # Jaccard of the terms from which two candidates say the same
MAX_SHOWN = 2000  # memories that are remembered as shown to one session, the newest


class Reason(Enum):
    """Why a candidate was kept or left out, as a person reads it."""

    KEPT = "kept"
    UNSURE = "too unsure"
    OPEN_QUESTION = "a question that was never answered"
    OWN_SESSION = "still in this session's context"
    INHERITED = "in this session's context by resume or fork"
    SHOWN = "already shown in this session"
    REPEATS = "says the same as a better entry, or as this session's context"
    SAME_TURN = "its turn has an entry"
    TAKEN_BACK = "what it says was taken back"
    CROWDED = "no room left in the block"


@dataclass(frozen=True)
class Candidate:
    """chance: how sure it is that the prompt needs this memory; helps: that it helps if one is needed; in [0, 1].

    signals: what speaks for it. snippet: its entry's text, if kept.
    """

    chunk: Chunk
    score: Score
    reason: Reason
    chance: float = 0.0
    helps: float = 0.0
    signals: MemorySignals | None = None
    snippet: str = ""

    @property
    def kept(self) -> bool:
        return self.reason is Reason.KEPT

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
    """The id of the turn that a chunk is a part of, or that its statement was drawn from; else its memory's own."""
    return turn_memory_id(chunk.session_id, chunk.prompt_id) if chunk.prompt_id else chunk.memory_id


def in_context(chunk: Chunk, session: Session | None) -> Reason | None:
    """How the model comes to have this memory in its context already; None when it does not."""
    if session is None:
        return None
    if chunk.session_id == session.id and chunk.at_ms >= session.context_since_ms:
        return Reason.OWN_SESSION
    known = {chunk.memory_id, turn_of(chunk)}
    if known.intersection(session.inherited):
        return Reason.INHERITED
    return Reason.SHOWN if known.intersection(session.shown) else None


def with_shown(shown: Iterable[str], entries: Iterable[Candidate]) -> list[str]:
    """The ids a session was shown, with these entries: of each its memory and its turn."""
    found = dict.fromkeys(shown)
    for one in entries:
        found.update(dict.fromkeys((one.chunk.memory_id, turn_of(one.chunk))))
    return list(found)[-MAX_SHOWN:]


def whole(memory: Memory) -> Chunk:
    """A core memory as a hit on all of its text."""
    return Chunk(
        id=memory.id, memory_id=memory.id, event_id="", role=memory.kind, session_id=memory.session_id,
        project_id=memory.project_id, prompt_id=memory.prompt_id, category=memory.category,
        importance=memory.importance, at_ms=memory.at_ms, start=0, end=len(memory.text), text=memory.text,
        terms=index_terms(memory.text),
    )  # fmt: skip


def say_the_same(one: frozenset[str], other: frozenset[str]) -> bool:
    """True if two texts are near duplicates, by the Jaccard coefficient of their terms."""
    if min(len(one), len(other)) < NEAR_DUPLICATE * max(len(one), len(other)):
        return False  # the coefficient is at most the smaller one's share of the larger
    shared = len(one & other)
    return shared > 0 and shared >= NEAR_DUPLICATE * (len(one) + len(other) - shared)
