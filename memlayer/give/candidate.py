"""A memory considered for a prompt: its chances and its reason.

Two logistic regressions, fitted on 802 prompts of real sessions by `evals/fit_need.py`, give the chances: a prompt's
need, and a memory's help. docs/inside/experiments.md has the signals that did not matter.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from memlayer.give.outcomes import Matter
from memlayer.give.query import PromptSignals, states
from memlayer.give.retriever import Rarity, Score, Scored
from memlayer.indexing.retracted import SessionWords
from memlayer.kinds import Category
from memlayer.model import Chunk, Memory, citation_of, memory_key, turn_memory_id
from memlayer.records.sessions import Session
from memlayer.text.context_block import flatten
from memlayer.text.terms import index_terms

LeftOut = dict[str, str]  # citation -> why a start does not tell it

NEAR_DUPLICATE = 0.8  # Jaccard coefficient of the terms of near duplicates
AT_START = "start:"  # citation and ":" and the characters told, in Session.shown
MAX_SHOWN = 2000  # newest ids that are remembered as shown to one session

DIRECT_RELEVANCE = 0.4  # from which a memory answers a direct question, as in a search
# The weight of each input, then the intercept.
NEED = (0.37, 0.935, -0.074, 1.14, 5.309, -3.145)
HELP = (0.494, 2.637, 1.174, 0.304, -6.228)


class Reason(Enum):
    """Why a candidate was kept or left out; the value is display."""

    KEPT = "kept"
    UNSURE = "too unsure"
    OPEN_QUESTION = "a question that was never answered"
    ASKS = "only asks, or orders"
    OWN_SESSION = "still in this session's context"
    INHERITED = "in this session's context by resume or fork"
    SHOWN = "already shown in this session"
    REPEATS = "says the same as a better entry, or as this session's context"
    OLDER = "a newer value is known"
    DONE = "its plan was carried out"
    SAME_TURN = "its turn has an entry"
    TAKEN_BACK = "its statement was taken back"
    TEMPLATED = "its prompt begins like many others, as a script sends them"
    LESSON = "a note of its session on the same matter has an entry"
    HOST_SAYS = "the host's own memory, which is loaded, says it"
    CROWDED = "no room left in the block"
    RUN = "nobody typed its prompt"
    SUMMED = "sums up turns, which have entries of their own"
    RESTED = "not used for long"
    OLD = "not spoken of lately"
    ENDED = "holds no more"
    SECRET = "its point was a secret, which is hidden"


@dataclass(frozen=True)
class MemorySignals:
    """Features of a memory for the help regression.

    bm25: raw. coverage: share of the prompt's information, in [0, 1]. cosine: calibrated, None without vectors. rare:
    information of the shared terms that are rare in the project and that the session has not said.
    """

    bm25: float
    coverage: float
    cosine: float | None
    rare: float

    def inputs(self) -> tuple[float, ...]:
        """Return the inputs of the regression."""
        cosine = self.coverage if self.cosine is None else self.cosine  # without vectors words stand for both
        return math.log1p(self.bm25), self.coverage, cosine, math.log1p(self.rare)


@dataclass(eq=False)
class Candidate:
    """One memory in the pipeline, whose stages set reason, snippet and chunk.

    chance: that the prompt needs this memory; helps: that it helps if one is needed; in [0, 1]. snippet: its entry's
    text, if kept. chunk: of the successor where a superseded statement gave way to it. newer: another candidate that
    gives the same thing a newer value. deed: one that tells of this one's plan as done. matter: whose outcome
    the chunk is. why: a note was chosen.
    """

    chunk: Chunk
    score: Score
    reason: Reason = Reason.UNSURE
    chance: float = 0.0
    helps: float = 0.0
    signals: MemorySignals | None = None
    snippet: str = ""
    newer: "Candidate | None" = None
    deed: "Candidate | None" = None
    matter: Matter | None = None
    why: str = ""

    @property
    def kept(self) -> bool:
        return self.reason is Reason.KEPT

    @property
    def is_note(self) -> bool:
        """True for a note found by its words, told whole."""
        return bool(self.why)

    @property
    def citation(self) -> str:
        return citation_of(self.chunk.memory_id)

    @property
    def key(self) -> str:
        return key_of(self.chunk)


def key_of(chunk: Chunk) -> str:
    """Return the key of a chunk's memory, made of category, day, id."""
    return memory_key(chunk.category, chunk.memory_id, chunk.at_ms)


def turn_of(chunk: Chunk) -> str:
    """Return the id of a chunk's turn, else of its memory."""
    return turn_memory_id(chunk.session_id, chunk.prompt_id) if chunk.prompt_id else chunk.memory_id


def in_context(chunk: Chunk, session: Session | None) -> Reason | None:
    """Return why this memory is in the context already; None if not."""
    if session is None:
        return None
    if chunk.session_id == session.id and chunk.at_ms >= session.context_since_ms:
        return Reason.OWN_SESSION
    known = {chunk.memory_id, turn_of(chunk)}
    if chunk.category == Category.CORE and is_whole_at_start(citation_of(chunk.memory_id), chunk.text, session):
        return Reason.SHOWN
    if known.intersection(session.inherited):
        return Reason.INHERITED
    return Reason.SHOWN if known.intersection(session.shown) else None


def is_whole_at_start(citation: str, text: str, session: Session) -> bool:
    """True if the session's start told all of a memory, no headline."""
    mark = AT_START + citation + ":"
    return any(len(flatten(text)) <= int(row[len(mark) :]) for row in session.shown if row.startswith(mark))


def with_start(shown: Iterable[str], told: Mapping[str, int]) -> list[str]:
    """Add a start's memories. told: citation -> characters of its line."""
    return list(dict.fromkeys([*shown, *("%s%s:%d" % (AT_START, *row) for row in told.items())]))[-MAX_SHOWN:]


def with_shown(shown: Iterable[str], entries: Iterable[Candidate]) -> list[str]:
    """Add each entry's memory and turn to a session's shown ids."""
    ids = dict.fromkeys(shown)
    for entry in entries:
        ids.update(dict.fromkeys((entry.chunk.memory_id, turn_of(entry.chunk))))
    return list(ids)[-MAX_SHOWN:]


def whole_chunk(memory: Memory) -> Chunk:
    """Return a core memory as one chunk with all of its text."""
    return Chunk(
        id=memory.id, memory_id=memory.id, event_id="", role=memory.kind, session_id=memory.session_id,
        project_id=memory.project_id, prompt_id=memory.prompt_id, category=memory.category,
        importance=memory.importance, at_ms=memory.at_ms, start=0, end=len(memory.text), text=memory.text,
        terms=index_terms(memory.text),
    )  # fmt: skip


def near_duplicates(terms: frozenset[str], other: frozenset[str]) -> bool:
    """True for two texts whose terms have a Jaccard coefficient of NEAR_DUPLICATE."""
    if min(len(terms), len(other)) < NEAR_DUPLICATE * max(len(terms), len(other)):
        return False  # the coefficient is at most the ratio of their sizes
    shared = len(terms & other)
    return shared > 0 and shared >= NEAR_DUPLICATE * (len(terms) + len(other) - shared)


def need(signals: PromptSignals) -> float:
    """Return the probability that the prompt needs an earlier session."""
    return 0.0 if signals.is_too_short else _logistic(signals.inputs(), NEED)


def helps(signals: MemorySignals) -> float:
    """Return the probability that the memory helps a prompt that needs one."""
    return _logistic(signals.inputs(), HELP)


def memory_signals(chunk: Chunk, score: Score, rarity: Rarity, session_words: SessionWords) -> MemorySignals:
    """Return a memory's signals. rarity: of the query's terms."""
    rare_terms = rarity.rare.intersection(chunk.terms.split()) - session_words.terms
    rare = sum(rarity.weight[term] for term in rare_terms)
    return MemorySignals(bm25=score.bm25, coverage=score.lexical or 0.0, cosine=score.cosine, rare=rare)


def judge(
    hits: Iterable[Scored], signals: PromptSignals, rarity: Rarity, session_words: SessionWords
) -> list[Candidate]:
    """Return the candidates of a search with their chances, best first.

    A direct question also admits memories that answer it as a search would count, whatever the regressions say. A bare
    name admits only statements with all of it. Of equal chances turns go before core memories, and newer before older.
    """
    needed = need(signals)
    candidates = []
    for chunk, score in hits:
        features = memory_signals(chunk, score, rarity, session_words)
        helpful = helps(features)
        chance = needed * helpful
        if signals.is_direct and score.relevance >= DIRECT_RELEVANCE:
            chance = max(chance, score.relevance)
        if signals.names_only:
            chance = score.relevance if states(chunk.text, list(rarity.weight), rarity.alike) else 0.0
        candidates.append(Candidate(chunk, score, chance=chance, helps=helpful, signals=features))
    candidates.sort(
        key=lambda candidate: (
            -round(candidate.chance, 2),
            candidate.chunk.category == Category.CORE,
            -candidate.chunk.at_ms,
        )
    )
    return candidates


def _logistic(inputs: tuple[float, ...], weights: tuple[float, ...]) -> float:
    odds = weights[-1] + sum(value * weight for value, weight in zip(inputs, weights, strict=False))
    return 1.0 / (1.0 + math.exp(-odds))
