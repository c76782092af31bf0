"""Code fences in a memory file: where a fenced block ends, and which fence is closed nowhere; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

# A backtick behind the first ones makes it a code span, with which a sentence may begin.
FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_ALONE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[^\s`~]*[ \t]*$")


class Fences:
    """The fenced blocks of a file. is_past: true for a line that no block goes past: a fence may be saved before it is
    closed, and must not take what stands below it along."""

    def __init__(self, lines: Sequence[str], is_past: Callable[[str], bool]) -> None:
        self._lines, self._is_past = lines, is_past
        # For each sign a line before which no fence of at least so many signs closes: each is looked for once.
        self._none: dict[str, tuple[int, int]] = {}

    def end(self, at: int) -> int:
        """The line after the block that begins at line `at`; 0 when none does, or it has no end."""
        opened = FENCE.match(self._lines[at])
        if opened is None:
            return 0
        sign, length = opened.group(1)[0], len(opened.group(1))
        until, least = self._none.get(sign, (0, 0))
        if at < until and length >= least:
            return 0
        below = at + 1
        while below < len(self._lines) and not self._is_past(self._lines[below]):
            line = self._lines[below].strip()
            below += 1
            if len(line) >= length and not line.strip(sign):
                return below
        self._none[sign] = (below, length)
        return 0

    def is_alone(self, line: str) -> bool:
        """True for a fence that says nothing itself, but for a language's name."""
        return _ALONE.match(line) is not None
