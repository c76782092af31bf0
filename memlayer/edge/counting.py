"""Numbers with their nouns and verbs."""

from __future__ import annotations

IRREGULAR = {"are": "is", "were": "was", "have": "has", "match": "matches"}
UNITS = ("B", "kB", "MB", "GB", "TB")


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


def size(count: object) -> str:
    """Return a number of bytes with its unit: `2.5 MB`."""
    if not isinstance(count, (int, float)):
        return ""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {UNITS[unit]}" if amount >= 10 or not unit else f"{amount:.1f} {UNITS[unit]}"
