"""The query of a prompt: a long one, a pasted log or a stack trace is reduced to the lines that state the request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memlayer.text.sentences import is_question
from memlayer.text.terms import query_terms

SHORT_CHARS = 600
MAX_TERMS = 48
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
# The host writes such a prompt itself when a plan is accepted: it says all that is needed.
_PLAN = re.compile(r"\s*Implement the following plan:", re.IGNORECASE)
_ERROR_LINE = re.compile(r"(?:Error|Exception|error:|fatal:|panic:|FAILED|Traceback|오류|에러|실패)")


def is_plan(prompt: str) -> bool:
    """True for a plan that the host hands over as a prompt."""
    return bool(_PLAN.match(prompt))


@dataclass(frozen=True)
class Query:
    """text: embedded for the vector search. terms: distinct terms for full-text search, at most MAX_TERMS."""

    text: str
    terms: tuple[str, ...]


def reduce_prompt(prompt: str) -> Query:
    """The query of a prompt."""
    text = reduced(prompt)
    return Query(text, tuple(query_terms(text)[:MAX_TERMS]))


def reduced(prompt: str) -> str:
    """The lines of a prompt that state its request, at most SHORT_CHARS characters.

    A short prompt stays whole. Of a longer one: its questions, first and last prose lines, and its errors.
    """
    prompt = prompt.strip()
    if len(prompt) <= SHORT_CHARS:
        return prompt
    prose = [line.strip() for line in _FENCE.sub("\n", prompt[:20_000]).split("\n") if line.strip()]
    if not prose:
        prose = [line.strip() for line in prompt[:2000].split("\n") if line.strip()]
    asked = [line for line in prose if len(line) <= SHORT_CHARS and is_question(line)]
    errors = [line for line in prompt[:200_000].split("\n") if _ERROR_LINE.search(line)][-3:]
    picked: list[str] = []
    left = SHORT_CHARS
    for line in [*asked[:3], prose[0], prose[-1], *errors]:
        line = line.strip()[:300]
        if line not in picked and len(line) <= left:
            picked.append(line)
            left -= len(line)
    return "\n".join(picked)
