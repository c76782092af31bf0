"""The headline of a note: its fact in a line."""

from __future__ import annotations

import re

from memlayer.model import Memory
from memlayer.text.context_block import cut, flatten
from memlayer.text.sentences import sentences

MAX_HEADLINE_CHARS = 120
MAX_SUBJECT_CHARS = 20
LEAST_CLAUSE_CHARS = 60  # a shorter beginning is a condition ("With `X` set"), or names a matter and states nothing
# Between clauses: punctuation, an English conjunction, a Korean connective ending.
_BREAK = re.compile(
    r"[,;:](?=\s)|\s[-\u2013\u2014](?=\s)|\s(?=(?:because|since|so that|but|which|while)\s)"
    r"|(?<=[가-힣][고며서만지])(?=\s(?!(?:않|못|말|마라|마세|있|싶|없)))|(?<=는데)(?=\s)"  # "하지 않는다" is one
)


def headline_of(memory: Memory) -> str:
    """Return a memory's headline, at most MAX_HEADLINE_CHARS; else its first clause."""
    return flatten(memory.headline) or first_clause(memory.text)


def fitting(headline: str, subject: str) -> tuple[str, str]:
    """Return a headline and subject from anywhere as harmless lines that fit."""
    return cut(flatten(headline), MAX_HEADLINE_CHARS), cut(flatten(subject), MAX_SUBJECT_CHARS)


def first_clause(text: str) -> str:
    """Return a short text, else its first sentence or clauses."""
    text = flatten(text)
    if len(text) <= MAX_HEADLINE_CHARS:
        return text
    first = next((text[span.start : span.end].strip() for span in sentences(text)), text).rstrip(".。")
    if len(first) <= MAX_HEADLINE_CHARS:
        return first
    breaks = (at.start() for at in _BREAK.finditer(first))
    ends = [
        end
        for end in breaks
        if LEAST_CLAUSE_CHARS <= end <= MAX_HEADLINE_CHARS and first.count("(", 0, end) == first.count(")", 0, end)
    ]
    return first[: ends[-1]] if ends else cut(first, MAX_HEADLINE_CHARS)
