"""Tables of words: TSV files beside the modules that use them."""

import pkgutil
from collections.abc import Iterator
from functools import cache


def words(text: str) -> tuple[str, ...]:
    """Split a list written as text into a tuple of its words."""
    return tuple(text.split())


def rows(package: str, name: str) -> Iterator[list[str]]:
    """Yield the cells of each row of a package's TSV file."""
    table = pkgutil.get_data(package, name)  # `importlib.resources` takes a tenth of a verb to import
    for line in (table or b"").decode("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


@cache
def word_list(package: str, name: str) -> tuple[str, ...]:
    """Return a list of the package's `words.tsv`. Raises KeyError."""
    return _lists(package)[name]


@cache
def word_set(package: str, name: str) -> frozenset[str]:
    """Return the same list as a set."""
    return frozenset(word_list(package, name))


@cache
def _lists(package: str) -> dict[str, tuple[str, ...]]:
    """All lists of a package by name, rows of a name joined."""
    by_name: dict[str, tuple[str, ...]] = {}
    for name, listed in rows(package, "words.tsv"):
        by_name[name] = by_name.get(name, ()) + words(listed)
    return by_name
