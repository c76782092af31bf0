"""Word lists: tables of words that stand as `words.tsv` beside the modules that use them."""

from __future__ import annotations

from functools import cache
from importlib import resources


def words(text: str) -> tuple[str, ...]:
    """Split a list written as text; a tuple of its words in their order."""
    return tuple(text.split())


@cache
def word_list(package: str, name: str) -> tuple[str, ...]:
    """Return a list of the package's `words.tsv`, in the table's order. Raises KeyError for a name it lacks."""
    return _tables(package)[name]


@cache
def word_set(package: str, name: str) -> frozenset[str]:
    """Return the same list as a set."""
    return frozenset(word_list(package, name))


@cache
def _tables(package: str) -> dict[str, tuple[str, ...]]:
    """All lists of a package, by name; rows of one name are joined."""
    table = resources.files(package).joinpath("words.tsv").read_text(encoding="utf-8")
    found: dict[str, tuple[str, ...]] = {}
    for line in table.splitlines():
        if not line.startswith("#"):
            name, _, listed = line.partition("\t")
            found[name] = found.get(name, ()) + words(listed)
    return found
