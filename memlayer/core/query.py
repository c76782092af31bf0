"""What a prompt asks: a long prompt, a pasted log or a stack trace is reduced to the lines that say what is wanted."""

from __future__ import annotations

import re

from memlayer.core.question import is_question
from memlayer.core.terms import query_terms

SHORT_CHARS = 600
MAX_TERMS = 32
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TELLING = re.compile(r"(?:Error|Exception|error:|fatal:|panic:|FAILED|Traceback|오류|에러|실패)")


class Query:
    """text: what is embedded. terms: what full-text search looks for, most telling first at most MAX_TERMS."""

    __slots__ = ("terms", "text")

    def __init__(self, text: str, terms: list[str]) -> None:
        self.text = text
        self.terms = terms


def reduce_prompt(prompt: str) -> Query:
    """A short prompt is its own query. Of a longer one: its questions, first and last prose lines, and its errors."""
    prompt = prompt.strip()
    if len(prompt) <= SHORT_CHARS:
        return Query(prompt, query_terms(prompt)[:MAX_TERMS])
    prose = [line.strip() for line in _FENCE.sub("\n", prompt[:20_000]).split("\n") if line.strip()]
    if not prose:
        prose = [line.strip() for line in prompt[:2000].split("\n") if line.strip()]
    asked = [line for line in prose if len(line) <= SHORT_CHARS and is_question(line)]
    errors = [line for line in prompt[:200_000].split("\n") if _TELLING.search(line)][-3:]
    picked: list[str] = []
    left = SHORT_CHARS
    for line in [*asked[:3], prose[0], prose[-1], *errors]:
        line = line.strip()[:300]
        if line not in picked and len(line) <= left:
            picked.append(line)
            left -= len(line)
    text = "\n".join(picked)
    return Query(text, query_terms(text)[:MAX_TERMS])
