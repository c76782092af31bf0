"""Names of code in a note: files, symbols, versions and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

MAX_NAMES, MAX_CHARS = 12, 80  # of a note; of a name
# ASCII alone: a Korean particle stands right behind a name ("cart.py를").
_NAME = re.compile(
    r"`([^`\n]{3,80})`"
    r"|(?<![A-Za-z0-9_./@~-])("
    r"\.?(?:[A-Za-z0-9_.@-]+/)+[A-Za-z0-9_.@-]*"  # path
    r"|\.?[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9_])"  # file, attribute
    r"|--[a-z][a-z0-9-]{2,}"
    r"|[a-z]+(?:[A-Z][A-Za-z0-9]*)+|(?:[A-Z]+[a-z0-9]+){2,}[A-Z]*|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+"
    r"|v\d+(?:\.\d+)+|\d+\.\d+\.\d+|(?<=[A-Za-z] )\d+\.\d+(?![\d.%]|\s?[a-z])"
    r")"
)
_WORD = re.compile(r"[A-Za-z]{3}|\d\.\d")
_SIGN = re.compile(r"[A-Za-z0-9][A-Z]|[\d_./:=-]")  # of a name among the words in backticks
# The form of a target's definition: Makefile, justfile and Taskfile; package.json; mise.toml.
_TARGET = re.compile(r"(?:make|just|task|npm|pnpm|yarn|bun|mise|invoke|rake)(?: run| -\S+)* ([A-Za-z0-9_.:-]+)")
_DEFINITION = r'^%s( |:).*|"%s" *:.*|tasks\."?%s"?[].].*'
_SPECIAL = re.compile(r"([][\\.^$*+?(){}|])")


def names_in(text: str, files: Iterable[str] = ()) -> list[str]:
    """Return the names of code in a text, and its files."""
    named = dict.fromkeys([*files, *_named(text)])
    return [name for name in named if len(name) <= MAX_CHARS and not name.startswith(("/", "~", "../"))][:MAX_NAMES]


def _named(text: str) -> Iterator[str]:
    for quoted, bare in _NAME.findall(text):
        name = (quoted or bare).strip().rstrip(".,;:").removesuffix("()")
        if _WORD.search(name) and (bare or _SIGN.search(name) or " " in name):
            yield name


def is_path(name: str) -> bool:
    """True for a name that only a file or folder can bear."""
    return "/" in name and " " not in name


def pattern(name: str) -> str:
    """Return an extended regular expression that finds a name in code."""
    literal = _SPECIAL.sub(r"\\\1", name)
    command = _TARGET.fullmatch(name)
    if command is None:
        return literal
    target = _SPECIAL.sub(r"\\\1", command[1])
    return "|".join((literal, _DEFINITION % (target, target, target)))
