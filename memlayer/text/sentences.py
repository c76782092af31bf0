"""Find where sentences begin and end, in English and Korean prose and in lists."""

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
    """The columns a text takes: a Hangul syllable says about as much as two letters."""
    return len(text) + sum("가" <= char <= "힣" for char in text)


def sentences(text: str) -> list[Span]:
    """Return the sentences of `text` in order, without the white space around them; a list item is one."""
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
