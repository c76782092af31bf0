"""Settings of redaction: own patterns, refused where they could be slow.

A pattern is searched in every prompt, answer and tool call, also by a hook that the host waits for. So it must begin
with a literal, which is looked for first, end each repeat, and have few ways to match: the number of paths through the
parsed pattern bounds the work at each place where the literal stands.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping
from re import _constants as sre  # type: ignore[attr-defined]  # the parsed form; the public module has none
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from pydantic import field_validator

from memlayer.config.groups import Group, setting
from memlayer.edge.home import paths
from memlayer.edge.redaction.own_patterns import MARK, MAX_PATTERNS

MAX_CHARS = 200  # of a pattern
MAX_WIDTH = 512  # of a match
MAX_PATHS = 128
MIN_LITERAL = 3
_SINGLE = frozenset((sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN, sre.AT))


class PrivacySettings(Group):
    """Redaction beyond the secrets and private spans that memlayer knows.

    No variable is heeded here, and no project may set it: a repository could make its own words vanish.
    """

    extra_patterns: tuple[str, ...] = setting(
        (),
        "Further patterns to take out, such as `ACME-[0-9A-F]{16}`: each begins with three fixed characters or "
        "more, and gives every repeat an end (docs/privacy.md).",
    )

    @field_validator("extra_patterns")
    @classmethod
    def _are_quick(cls, patterns: tuple[str, ...]) -> tuple[str, ...]:
        if len(patterns) > MAX_PATTERNS:
            raise ValueError(f"At most {MAX_PATTERNS} patterns are possible")
        for pattern in patterns:
            literal_of(pattern)
        return patterns

    @classmethod
    def valid_part(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the valid patterns: a mistake lets no other one through."""
        listed = values.get("extra_patterns")
        patterns = [pattern for pattern in listed if isinstance(pattern, str)] if isinstance(listed, list) else []
        return {"extra_patterns": [pattern for pattern in patterns if is_valid(pattern)][:MAX_PATTERNS]}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The patterns for edge.redaction.own_patterns: (literal, pattern)."""
        return [(literal_of(pattern), pattern) for pattern in self.extra_patterns]


def is_valid(pattern: str) -> bool:
    """True for a pattern that literal_of takes."""
    try:
        return bool(literal_of(pattern))
    except ValueError:
        return False


def literal_of(pattern: str) -> str:
    """Return the fixed characters that a pattern begins with.

    Raises ValueError for a pattern that is malformed or could be slow. It is not repeated: it may be a secret itself.
    """
    if len(pattern) > MAX_CHARS:
        raise ValueError(f"A pattern is longer than {MAX_CHARS} characters")
    try:
        parsed = _parser.parse(pattern)
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as bad:
        raise ValueError(f"A pattern is malformed: {bad.__class__.__name__}") from bad
    if parsed.state.flags & ~re.UNICODE:
        raise ValueError("A pattern has flags such as (?i), which are not possible")
    if _paths(parsed) > MAX_PATHS or parsed.getwidth()[1] > MAX_WIDTH:
        raise ValueError(
            "A pattern could be slow: give each repeat an end, such as {8,64}, and use few of them; "
            f"a match has at most {MAX_WIDTH} characters"
        )
    literal = _start(parsed)
    if len(literal) < MIN_LITERAL:
        raise ValueError(f"A pattern must begin with at least {MIN_LITERAL} fixed characters, such as ACME-")
    if re.search(pattern, MARK):
        raise ValueError(f"A pattern must not match {MARK}, which takes its place")
    return literal


def _start(parsed: Iterable[Any]) -> str:
    """The literal characters at the start, behind boundaries."""
    literal = ""
    for kind, value in parsed:
        if kind is sre.AT and not literal:
            continue
        if kind is not sre.LITERAL:
            break
        literal += chr(value)
    return literal


def _paths(parsed: Iterable[Any]) -> int:
    """Count the ways through a pattern, MAX_PATHS and one for endless ones."""
    ways = 1
    for kind, value in parsed:
        if kind in _SINGLE:
            continue
        if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            ways *= _repeats(*value)
        elif kind is sre.SUBPATTERN and not value[1] and not value[2]:  # no flags of its own
            ways *= _paths(value[3])
        elif kind is sre.BRANCH:
            ways *= sum(_paths(branch) for branch in value[1])
        else:  # looking around, back references, conditions
            return MAX_PATHS + 1
        if ways > MAX_PATHS:
            break
    return ways


def _repeats(least: int, most: int, body: Iterable[Any]) -> int:
    """Count the ways through a repeat: those of each number of rounds."""
    each = _paths(body)
    if most > MAX_WIDTH or each > MAX_PATHS:
        return MAX_PATHS + 1
    if each == 1:
        return most - least + 1
    return sum(each ** min(rounds, MAX_PATHS) for rounds in range(least, most + 1))


def write_own_patterns(home: str, settings: PrivacySettings) -> None:
    """Write the patterns, if any, for hooks without a daemon. Raises OSError."""
    path = paths.own_patterns(home)
    if settings.extra_patterns:
        paths.write_whole(path, json.dumps(settings.pairs).encode())
    elif os.path.lexists(path):
        os.unlink(path)
