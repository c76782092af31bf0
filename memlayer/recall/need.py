"""Two small logistic regressions: does a prompt need a memory, and would this memory help with it?

Fitted on 802 prompts of real sessions by `evals/fit_need.py`; docs/experiments.md has the signals that did not help.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from memlayer.model import Chunk
from memlayer.recall.query import Query
from memlayer.recall.retriever import Rarity
from memlayer.recall.scoring import Score
from memlayer.recall.session_words import SessionWords
from memlayer.text.sentences import is_question

HANGUL_CHARS = 2.2  # a syllable says about as much as so many Latin letters
SHORTEST = 20  # characters under which no prompt of the labelled sessions needed anything
_HANGUL = re.compile("[\uac00-\ud7a3]")
_LOOKS_BACK = re.compile(
    r"\b(?:what|which|where|when|why|how|who)\b[^.?!\n]{0,40}\b(?:did|had) (?:we|i|you)\b"
    r"|\b(?:what|which|where|who) (?:was|were) (?:the|our|my)\b|\bremind me\b|\bdo you remember\b|\blast time\b"
    r"|\bhad this before\b|\btell me again\b|\bwe (?:decided|agreed|chose|settled) (?:on|that|to)\b"
    r"|[었였했갔됐렸꿨졌](?:지|더라|었지|나|던가)[요?\s]*(?:$|[?])|뭐였|지난번|저번|예전에|지난 세션|이전 세션|기억나",
    re.IGNORECASE | re.MULTILINE,
)


# Questions by their form alone: for something to be done, or about what lies before both.
_REQUESTS = re.compile(
    r"\b(?:can|could|would|will) (?:you|we|i)\b|^(?:should|shall) (?:we|i)\b|\b(?:do|did) you\b"
    r"|^(?:is|are|does|do|would|wouldn't|couldn't) (?:this|that|it|there|these)\b|해줘|해주|줄래|주세요|할까|해도 돼",
    re.IGNORECASE,
)
DIRECT_CHARS = 160
NEW_MATTER = 0.9  # the novelty of a prompt about a matter that its session has not touched
DIRECT_RELEVANCE = 0.4  # from which a memory answers a direct question, as for a search


@dataclass(frozen=True)
class PromptSignals:
    """chars: its length, Hangul counted for its density. novelty: share of its information that the session has not
    said, in [0, 1]. prompts: how many came before it in its session. looks_back: it asks for the past in so many words.
    asks: it has a question mark. asks_a_fact: it is nothing but a short question for a fact.
    """

    chars: float
    novelty: float
    prompts: int
    looks_back: bool
    asks: bool = False
    asks_a_fact: bool = False

    @property
    def is_direct(self) -> bool:
        """True if it asks a memory directly: for the past, or for a fact that the session has said nothing of."""
        return self.looks_back or (self.asks_a_fact and (not self.prompts or self.novelty >= NEW_MATTER))

    @property
    def is_too_short(self) -> bool:
        return self.chars < SHORTEST and not (self.looks_back or self.asks)

    def odds(self) -> tuple[float, ...]:
        """The inputs of the regression."""
        return (
            math.log1p(min(self.chars, 2000)), float(self.prompts == 0), math.log1p(self.prompts), self.novelty,
            float(self.looks_back),
        )  # fmt: skip


@dataclass(frozen=True)
class MemorySignals:
    """bm25: raw. coverage: share of the prompt's information, in [0, 1]. cosine: calibrated, None without vectors.

    rare: information of the terms that it shares with the prompt, that are rare in the project and that the session has
    not said.
    """

    bm25: float
    coverage: float
    cosine: float | None
    rare: float

    def odds(self) -> tuple[float, ...]:
        """The inputs of the regression."""
        cosine = self.coverage if self.cosine is None else self.cosine  # without vectors words stand for both
        return math.log1p(self.bm25), self.coverage, cosine, math.log1p(self.rare)


# Weight of each input, and the constant last.
NEED = (0.37, 0.935, -0.074, 1.14, 5.309, -3.145)
HELP = (0.494, 2.637, 1.174, 0.304, -6.228)


def need(signals: PromptSignals) -> float:
    """How likely the prompt needs something from an earlier session, in [0, 1]."""
    return 0.0 if signals.is_too_short else _logistic(signals.odds(), NEED)


def helps(signals: MemorySignals) -> float:
    """How likely the memory helps, given that the prompt needs one, in [0, 1]."""
    return _logistic(signals.odds(), HELP)


def prompt_signals(prompt: str, query: Query, rarity: dict[str, float], said: SessionWords) -> PromptSignals:
    """rarity: term -> inverse document frequency of each of the query's terms."""
    whole = sum(rarity.values())
    new = sum(weight for term, weight in rarity.items() if term not in said.terms)
    return PromptSignals(
        chars=len(prompt.strip()) + (HANGUL_CHARS - 1) * len(_HANGUL.findall(prompt)),
        novelty=new / whole if whole else 0.0,
        prompts=said.prompts,
        looks_back=bool(_LOOKS_BACK.search(query.text)),
        asks="?" in query.text or "？" in query.text,
        asks_a_fact=len(query.text) <= DIRECT_CHARS and is_question(query.text) and not _REQUESTS.search(query.text),
    )


def memory_signals(chunk: Chunk, score: Score, rarity: Rarity, said: SessionWords) -> MemorySignals:
    """What speaks for a memory. rarity: of the query's terms."""
    shared = rarity.rare.intersection(chunk.terms.split()) - said.terms
    rare = sum(rarity.weight[term] for term in shared)
    return MemorySignals(bm25=score.bm25, coverage=score.lexical or 0.0, cosine=score.cosine, rare=rare)


def _logistic(inputs: tuple[float, ...], weights: tuple[float, ...]) -> float:
    odds = weights[-1] + sum(value * weight for value, weight in zip(inputs, weights, strict=False))
    return 1.0 / (1.0 + math.exp(-odds))
