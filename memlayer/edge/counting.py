"""Numbers with their nouns and verbs."""

from __future__ import annotations

IRREGULAR = {"are": "is", "were": "was", "have": "has"}


def counted(count: object, noun: str = "", verb: str = "") -> str:
    """Return `1 memory stays` or `2 memories stay`; 0 for no number.

    verb: as it stands behind several.
    """
    number = int(count) if isinstance(count, (int, float)) else 0
    first, space, rest = verb.partition(" ")
    if number == 1:
        verb = (IRREGULAR.get(first) or (first and first + "s")) + space + rest
    elif noun:
        noun = noun[:-1] + "ies" if noun[-2:-1] not in "aeo" and noun.endswith("y") else noun + "s"
    return " ".join(filter(None, (f"{number:,}", noun, verb)))
