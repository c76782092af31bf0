"""The search query of a prompt, and its signals of need.

A long prompt, a pasted log or a stack trace is reduced to the lines that state the request.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from memlayer.edge.redaction.privacy import redact, without_marks
from memlayer.recall.session_words import SessionWords
from memlayer.recall.short_prompt import asks_in_words, names_a_thing
from memlayer.text.sentences import is_question
from memlayer.text.terms import query_terms
from memlayer.turns.questions import REQUESTS as _REQUESTS

SHORT_CHARS = 600
MAX_TERMS = 48
PLAN_CHARS, PLAN_TERMS = 3000, 300  # of a plan, whose head says its matter
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# The host itself writes such a prompt when a plan is accepted: it needs no turns, but notes on its matter (recall.py).
_PLAN = re.compile(r"\s*Implement the following plan:", re.IGNORECASE)
_ERROR_LINE = re.compile(r"(?:Error|Exception|error:|fatal:|panic:|FAILED|Traceback|오류|에러|실패)")
HANGUL_CHARS = 2.2  # Latin letters that carry about as much as one syllable
SHORTEST = 20  # characters under which no prompt of the labelled sessions needed anything
_HANGUL = re.compile("[\uac00-\ud7a3]")
_LOOKS_BACK = re.compile(
    r"\b(?:what|which|where|when|why|how|who)\b[^.?!\n]{0,40}\b(?:did|had) (?:we|i|you)\b"
    r"|\b(?:what|which|where|who) (?:was|were) (?:the|our|my)\b|\bremind me\b|\bdo you remember\b|\blast time\b"
    r"|\bhad this before\b|\btell me again\b|\bwe (?:decided|agreed|chose|settled) (?:on|that|to)\b"
    r"|[었였했갔됐렸꿨졌](?:지|더라|었지|나|던가)[요?\s]*(?:$|[?])|뭐였|지난번|저번|예전에|지난 세션|이전 세션|기억나",
    re.IGNORECASE | re.MULTILINE,
)
DIRECT_CHARS = 160
NEW_TOPIC = 0.9  # novelty of a prompt whose topic its session has not touched


def is_plan(prompt: str) -> bool:
    """True for an accepted plan that the host submits as a prompt."""
    return bool(_PLAN.match(prompt))


def plan_query(prompt: str) -> Query:
    """Return the query of an accepted plan: the terms of its head."""
    text = _PLAN.sub("", without_marks(prompt), count=1)[:PLAN_CHARS]
    return Query(text, tuple(query_terms(text)[:PLAN_TERMS]))


@dataclass(frozen=True)
class Query:
    """A query: its text for vectors, its MAX_TERMS distinct terms for words."""

    text: str
    terms: tuple[str, ...]


def typed_query(text: str) -> Query:
    """Return the query of a typed text, redacted: it may be sent.

    The whole text is, because a private span may cover several lines. A prompt comes redacted.
    """
    return reduce_prompt(redact(text))


def reduce_prompt(prompt: str) -> Query:
    """Return the query of a redacted prompt, without its marks."""
    text = reduced(without_marks(prompt))
    return Query(text, tuple(query_terms(text)[:MAX_TERMS]))


def reduced(prompt: str) -> str:
    """Return the lines that state a prompt's request, at most SHORT_CHARS characters.

    A short prompt stays whole. A longer one keeps its questions, first and last prose lines and error lines.
    """
    prompt = prompt.strip()
    if len(prompt) <= SHORT_CHARS:
        return prompt
    prose = [line.strip() for line in _FENCE.sub("\n", prompt[:20_000]).split("\n") if line.strip()]
    if not prose:
        prose = [line.strip() for line in prompt[:2000].split("\n") if line.strip()]
    questions = [line for line in prose if len(line) <= SHORT_CHARS and is_question(line)]
    errors = [line for line in prompt[:200_000].split("\n") if _ERROR_LINE.search(line)][-3:]
    picked: list[str] = []
    left = SHORT_CHARS
    for line in [*questions[:3], prose[0], prose[-1], *errors]:
        line = line.strip()[:300]
        if line not in picked and len(line) <= left:
            picked.append(line)
            left -= len(line)
    return "\n".join(picked)


@dataclass(frozen=True)
class PromptSignals:
    """Features of a prompt for the need regression.

    chars: its length, Hangul counted for its density. novelty: share of its information that the session has not said,
    in [0, 1]. prompts: number of earlier prompts in its session. looks_back: it explicitly asks for the past. asks: it
    has a question mark, or asks in words. asks_a_fact: it is only a short question for a fact. names: it is a bare noun
    phrase.
    """

    chars: float
    novelty: float
    prompts: int
    looks_back: bool
    asks: bool = False
    asks_a_fact: bool = False
    names: bool = False

    @property
    def is_direct(self) -> bool:
        """True for a question about the past, or a new fact."""
        return self.looks_back or (self.asks_a_fact and self._is_new)

    @property
    def names_only(self) -> bool:
        """True for a short prompt that only names a new subject."""
        return self.names and self._is_new and self.chars < SHORTEST and not (self.looks_back or self.asks)

    @property
    def is_too_short(self) -> bool:
        return self.chars < SHORTEST and not (self.looks_back or self.asks or self.names_only)

    @property
    def _is_new(self) -> bool:
        return not self.prompts or self.novelty >= NEW_TOPIC

    def odds(self) -> tuple[float, ...]:
        """Return the inputs of the regression."""
        return (
            math.log1p(min(self.chars, 2000)), float(self.prompts == 0), math.log1p(self.prompts), self.novelty,
            float(self.looks_back),
        )  # fmt: skip


def prompt_signals(
    prompt: str, query: Query, weight: Mapping[str, float], session_words: SessionWords
) -> PromptSignals:
    """Return a prompt's signals. weight: inverse document frequency of each query term."""
    whole = sum(weight.values())
    asks = asks_in_words(query.text)
    new = sum(share for term, share in weight.items() if term not in session_words.terms)
    return PromptSignals(
        chars=len(prompt.strip()) + (HANGUL_CHARS - 1) * len(_HANGUL.findall(prompt)),
        novelty=new / whole if whole else 0.0,
        prompts=session_words.prompts,
        looks_back=bool(_LOOKS_BACK.search(query.text)),
        asks=asks or "?" in query.text or "？" in query.text,
        asks_a_fact=len(query.text) <= DIRECT_CHARS
        and (asks or is_question(query.text))
        and not _REQUESTS.search(query.text),
        names=names_a_thing(query.text),
    )
