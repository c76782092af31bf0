"""The signs that the rules of extraction look for, read from extraction_signs.tsv."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

# A thing that has a name: code, a path, a flag, a quoted string, a proper noun within the sentence.
NAMES = re.compile(
    r"`[^`]+`|\b[a-z]+[A-Z]\w*|\b\w+[_/]\w+|\w\.(?:go|py|md|json|ya?ml|toml|sh|ts|js|rs|java|sql)\b|(?<!\w)--\w+"
    r"|\b[A-Z]{2,}\w*|\b[A-Za-z]+-[a-z]+\b|\"[^\"]+\"|\b[A-Z][a-z]+[A-Z]\w*|(?<!^)(?<![.] )\b[A-Z][a-z]{2,}"
    r"|(?<![A-Za-z])[A-Za-z]{2,}(?=[은는이가을를로와과도의에])"
)


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    table = resources.files("memlayer.consolidation.rules").joinpath("extraction_signs.tsv").read_text(encoding="utf-8")
    signs = {}
    for line in table.splitlines():
        if line and not line.startswith("#"):
            name, english, korean = line.split("\t")
            signs[name] = re.compile("|".join(part for part in (english, korean) if part), re.IGNORECASE)
    return signs


def has(name: str, text: str) -> bool:
    """True if the text shows the sign of that name."""
    return bool(_signs()[name].search(text))


def match(name: str, text: str) -> re.Match[str] | None:
    """Where the text shows the sign, or None."""
    return _signs()[name].search(text)
