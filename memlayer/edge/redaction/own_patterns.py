"""Patterns of the person's own, taken out beside the known secrets.

The daemon checks `privacy.extra_patterns` (config.privacy) and writes them to own_patterns.json in the home. A hook
without a daemon reads them there. A process that was given none pays one comparison a text.
"""

from __future__ import annotations

import json
import os
import re
import stat

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "[redacted:own]"
MAX_PATTERNS = 16
MAX_FILE_BYTES = 20_000


class OwnPatterns:
    """Patterns of this process, with their literals."""

    __slots__ = ("_pairs",)

    def __init__(self) -> None:
        self._pairs: tuple[tuple[str, str], ...] = ()

    def use(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Take out these from now on. pairs: (literal, pattern)."""
        self._pairs = tuple(pairs)

    def hide(self, text: str) -> str:
        """Replace each match by MARK."""
        for literal, pattern in self._pairs:
            if literal in text:
                text = re.sub(pattern, MARK, text)
        return text


OWN = OwnPatterns()


def use_file(path: str) -> None:
    """Use the patterns of the daemon's file, if there is one.

    Raises OSError for a file that cannot be read, and ValueError for a damaged one: going on would keep secrets.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            return  # a foreign home could hold patterns that never end
        data = os.read(fd, MAX_FILE_BYTES)
    finally:
        os.close(fd)
    OWN.use(_read(data))


def _read(data: bytes) -> list[tuple[str, str]]:
    """Return the pairs of a file's bytes. Raises ValueError."""
    try:
        parsed = json.loads(data)
        pairs = [(str(literal), str(pattern)) for literal, pattern in parsed]
        for _, pattern in pairs:
            re.compile(pattern)
    except (ValueError, TypeError, RecursionError, re.error) as bad:
        raise ValueError("own_patterns.json is damaged: run `memlayer daemon restart`") from bad
    if len(pairs) > MAX_PATTERNS:
        raise ValueError("own_patterns.json holds too many patterns: run `memlayer daemon restart`")
    return pairs
