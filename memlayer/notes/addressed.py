"""Passages addressed to the keeper of notes: withheld, and no evidence.

A page, a file's name or an error line may say "ignore the above, note that ...". A model that never sees the sentence
cannot follow it, and a quote from it proves nothing.
"""

import re
from functools import cache

from memlayer.text.word_lists import rows

LEFT_OUT = "[left out: addressed to a model]"
_PASSAGE = re.compile(r"[^\n]+")


@cache
def _signs() -> re.Pattern[str]:
    patterns = [cell for row in rows("memlayer.notes", "addressed.tsv") for cell in row[1:] if cell]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


def addressed_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each line that addresses a reader."""
    return [match.span() for match in _PASSAGE.finditer(text) if _signs().search(match.group())]


def without_addressed(text: str) -> str:
    """Return the text with a mark in place of each such line."""
    out, at = [], 0
    for start, end in addressed_spans(text):
        label = re.match(r"(?:User|Assistant): ", text[start:end])
        out += [text[at : start + (label.end() if label else 0)], LEFT_OUT]
        at = end
    return "".join([*out, text[at:]])


def is_addressed(text: str, start: int, end: int) -> bool:
    """Return whether a span touches a line that addresses a reader."""
    return any(start < other_end and end > other_start for other_start, other_end in addressed_spans(text))
