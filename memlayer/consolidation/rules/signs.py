"""Statements, and the signs that the rules look for."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from memlayer.text.word_lists import rows

DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT = "decision", "preference", "fact", "cause", "commitment"
KINDS = (DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT)
MAX_STATEMENTS = 6  # of one turn, from a language model; the rules keep fewer
MAX_DAILY_CHARS = 320


class Statement(NamedTuple):
    """One lasting statement. kind: one of KINDS. speaker: user | assistant.

    text: reads alone. source: the sentence as it stands in the turn.
    """

    kind: str
    text: str
    source: str
    speaker: str


class Extraction(NamedTuple):
    """The yield of a turn: its daily entry and statements.

    daily: one or two sentences about the turn, or None for nothing worth a line.
    """

    daily: str | None
    statements: tuple[Statement, ...]


# A thing that has a name: code, a path, a flag, a quoted string, a proper noun within the sentence.
NAMES = re.compile(
    r"`[^`]+`|\b[a-z]+[A-Z]\w*|\b\w+[_/]\w+|\w\.(?:go|py|md|json|ya?ml|toml|sh|ts|js|rs|java|sql)\b|(?<!\w)--\w+"
    r"|\b[A-Z]{2,}\w*|\b[A-Za-z]+-[a-z]+\b|\"[^\"]+\"|\b[A-Z][a-z]+[A-Z]\w*|(?<!^)(?<![.] )\b[A-Z][a-z]{2,}"
    r"|(?<![A-Za-z])[A-Za-z]{2,}(?=[은는이가을를로와과도의에])"
)


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(filter(None, (english, korean))), re.IGNORECASE)
        for name, english, korean in rows("memlayer.consolidation.rules", "signs.tsv")
    }


def has(name: str, text: str) -> bool:
    """True if the text shows the sign of that name."""
    return bool(_signs()[name].search(text))
