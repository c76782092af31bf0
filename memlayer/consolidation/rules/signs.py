"""The signs of statements, by the names of the tables' rows."""

import re
from functools import lru_cache

from memlayer.text.word_lists import rows

_TABLES = ("signs.tsv", "standing.tsv", "quoted.tsv")


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(filter(None, (english, korean))), re.IGNORECASE)
        for table in _TABLES
        for name, english, korean in rows("memlayer.consolidation.rules", table)
    }


def find(name: str, text: str) -> re.Match[str] | None:
    """Return where the text first shows the sign of that name."""
    return _signs()[name].search(text)


def has(name: str, text: str) -> bool:
    """True if the text shows the sign of that name."""
    return find(name, text) is not None
