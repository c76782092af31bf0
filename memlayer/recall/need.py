"""Two logistic regressions: a prompt's need, and a memory's help.

Fitted on 802 prompts of real sessions by `evals/fit_need.py`; docs/experiments.md has the signals that did not help.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from memlayer.model import Chunk
from memlayer.recall.candidate import Candidate, MemorySignals
from memlayer.recall.query import PromptSignals
from memlayer.recall.retriever import Found, Rarity
from memlayer.recall.scoring import Score
from memlayer.recall.session_words import SessionWords

DIRECT_RELEVANCE = 0.4  # from which a memory answers a direct question, as in a search
# The weight of each input, then the intercept.
NEED = (0.37, 0.935, -0.074, 1.14, 5.309, -3.145)
HELP = (0.494, 2.637, 1.174, 0.304, -6.228)


def need(signals: PromptSignals) -> float:
    """Return the probability that the prompt needs an earlier session."""
    return 0.0 if signals.is_too_short else _logistic(signals.odds(), NEED)


def helps(signals: MemorySignals) -> float:
    """Return the probability that the memory helps a prompt that needs one."""
    return _logistic(signals.odds(), HELP)


def memory_signals(chunk: Chunk, score: Score, rarity: Rarity, said: SessionWords) -> MemorySignals:
    """Return a memory's signals. rarity: of the query's terms."""
    held = rarity.rare.intersection(chunk.terms.split()) - said.terms
    rare = sum(rarity.weight[term] for term in held)
    return MemorySignals(bm25=score.bm25, coverage=score.lexical or 0.0, cosine=score.cosine, rare=rare)


def judge(found: Iterable[Found], signals: PromptSignals, rarity: Rarity, said: SessionWords) -> list[Candidate]:
    """Return the candidates of a search with their chances, best first.

    A direct question also admits memories that answer it as a search would count, whatever the regressions say. Of
    equal chances turns go before core memories, and newer before older.
    """
    needed = need(signals)
    candidates = []
    for chunk, score in found:
        features = memory_signals(chunk, score, rarity, said)
        helpful = helps(features)
        chance = needed * helpful
        if signals.is_direct and score.relevance >= DIRECT_RELEVANCE:
            chance = max(chance, score.relevance)
        candidates.append(Candidate(chunk, score, chance=chance, helps=helpful, signals=features))
    candidates.sort(key=lambda one: (-round(one.chance, 2), one.chunk.category == "core", -one.chunk.at_ms))
    return candidates


def _logistic(inputs: tuple[float, ...], weights: tuple[float, ...]) -> float:
    odds = weights[-1] + sum(value * weight for value, weight in zip(inputs, weights, strict=False))
    return 1.0 / (1.0 + math.exp(-odds))
