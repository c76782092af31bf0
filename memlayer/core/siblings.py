"""Tells two statements about two things of a kind, in the same words, from one statement and what it has become.

`The login endpoint allows 5 requests`, `the checkout endpoint allows 40`: what changes its value says so in other words
as a rule, and is about the same thing in any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from memlayer.core.conflict_parts import MAX_CHARS, Parts, parts
from memlayer.core.conflict_words import normal
from memlayer.core.terms import query_terms

_TOKEN = re.compile(r"[\w./-]*\w")
_NUMBER = re.compile(r"[\d.:]+(?=\D|$)")
_HANGUL = re.compile("[가-힣]")
_PREDICATES = 2  # a Korean sentence ends in them, and says the same in several: 로 정했어, 로 하기로 했어
_THING, _VALUE = "thing", "value"
LEAST_SHARED = 0.5  # of the longer one's words
LONGEST_APART = 2  # words in the place of which others stand
# What one and the same thing is called now and then, or what only bounds a value.
_NO_NAME = re.compile(
    r"(?:it|its|this|that|the|an?|our|we|my|is|are|be|to|at|on|by|for|of|in|and|or|every|each|per|max|min|up|about"
    r"|only|just|now|from|until|after|before|under|over|within|once|twice|매주|매일|매달|최대|최소|약|이내|이하|이상|까지|부터|마다)"
)


def are_siblings(older: str, newer: str) -> bool:
    """True if another thing stands in one place, other values in others, and the rest is the same."""
    one, other = parts(older), parts(newer)
    before, after = _tokens(older), _tokens(newer)
    apart = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    same = sum(end - start for kind, start, end, _, _ in apart if kind == "equal")
    if same < LEAST_SHARED * max(len(before), len(after)):
        return False
    differs = False
    for kind, start, end, at, until in apart:
        if kind == "equal":
            continue
        if kind != "replace" or max(end - start, until - at) > LONGEST_APART:
            return False
        if _is_of_the_end(before, end) or _is_of_the_end(after, until):
            continue
        left, right = before[start:end], after[at:until]
        said, said_since = set(query_terms(" ".join(left))), set(query_terms(" ".join(right)))
        if said <= said_since or said_since <= said:
            continue  # another particle, or another form
        kinds = _kind(left, one), _kind(right, other)
        differs = differs or (all(kinds) and kinds != (_VALUE, _VALUE))
    return differs


def _tokens(text: str) -> list[str]:
    """The words, with one sign for each number."""
    return [_NUMBER.sub("#", found.group()) for found in _TOKEN.finditer(normal(text[:MAX_CHARS]))]


def _is_of_the_end(tokens: Sequence[str], end: int) -> bool:
    """Whether words that go up to there are a Korean sentence's predicate."""
    return end > len(tokens) - _PREDICATES + 1 and bool(_HANGUL.search(tokens[-1]))


def _kind(tokens: Sequence[str], of: Parts) -> str:
    """Whether the words name a thing, be it a value of the statement; "" for neither."""
    values = frozenset[str]().union(*of.values.values())
    kind = ""
    for token in tokens:
        terms = frozenset(query_terms(token))
        if _NO_NAME.fullmatch(token) or "#" in token or not terms & (of.terms | values):
            continue
        if not terms <= values:
            return _THING
        kind = _VALUE
    return kind
