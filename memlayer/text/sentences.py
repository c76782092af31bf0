"""Sentences of English and Korean text, and questions."""

from __future__ import annotations

import re
from typing import NamedTuple


class Span(NamedTuple):
    """Character offsets into a text, end exclusive."""

    start: int
    end: int


# A stop counts before white space only, so `3.14`, `checkout.py`, `v1.2.` in a path and `?q=1` do not end
# anything; Korean and CJK prose is often typed without the space, and its stops cannot be anything else. A run of stops
# is looked at once: a test runner prints thousands of dots, and each of them would look at all that follow.
_END = re.compile(
    r"\n+"
    r"|(?<![.!?\u2026])[.!?\u2026]+[\"')\]\u201d\u2019*_`]*(?=\s)"
    r"|(?<=[다요죠까음함임네])[.!?]+(?=[\uac00-\ud7a3])"
    r"|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*"
)
_NO_END = re.compile(
    r"(?:(?<![A-Za-z])(?:e\.g|i\.e|etc|vs|cf|al|approx|resp|incl|no|nr|fig|eq|sec|mr|mrs|ms|dr|prof|st|jr|inc|ltd)"
    r"|(?:^|\s)[A-Z]"
    r"|(?:^|\n)[ \t>*-]*(?:\d{1,3}|[a-z]))\Z",
    re.IGNORECASE,
)
_BEFORE = 24  # characters that `_NO_END` has to see


def width(text: str) -> int:
    """The columns of a text: a Hangul syllable counts as two letters."""
    return len(text) + sum("가" <= char <= "힣" for char in text)


def sentences(text: str) -> list[Span]:
    """Return the sentences of `text` in order, without white space around them.

    A list item is a sentence.
    """
    spans = []
    start = 0
    for end in (*_ends(text), len(text)):
        piece = text[start:end]
        bare = piece.strip()
        if bare:
            at = start + len(piece) - len(piece.lstrip())
            spans.append(Span(at, at + len(bare)))
        start = end
    return spans


def _ends(text: str) -> list[int]:
    ends = []
    for match in _END.finditer(text):
        at = match.start()
        if text[at] == "." and match.end() - at == 1 and _NO_END.search(text[max(0, at - _BEFORE) : at]):
            continue
        ends.append(match.end())
    return ends


_ENGLISH_START = re.compile(
    r"^(?:so |and |but |ok |okay |well |hey )*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does"
    r"|did|can|could|should|would|will|have|has|had|am|may|shall)\b(?!.*[.!]$)",
    re.IGNORECASE,
)
_KOREAN_END = re.compile(
    r"(?:까|나요|가요|니|냐|지|죠|던가|더라|을래|ㄹ까|는데요|뭐야|뭐였|어디야|누구야|언제야|몇)[요\s?？.]*$"
)
_KOREAN_WORD = re.compile("뭐|무엇|무슨|어떤|어느|어디|언제|누가|누구|왜|어떻게|얼마|몇")


def is_question(text: str) -> bool:
    """True if the last sentence asks.

    A question word alone is not enough.
    """
    lines = [line.strip() for line in text.strip().split("\n") if line.strip()]
    if not lines:
        return False
    last = lines[-1]
    if last.rstrip("\"')” ").endswith(("?", "？")):
        return True
    if _ENGLISH_START.match(last):
        return True
    return bool(_KOREAN_END.search(last) and _KOREAN_WORD.search(last))
