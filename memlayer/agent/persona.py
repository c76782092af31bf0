"""The persona of a talk: a text before its system prompt.

A switch, not a memory: nothing is learnt into these files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

MAX_CHARS = 20_000
_DAY_S = 86_400


@dataclass(frozen=True)
class Persona:
    """Two texts, and when the second replaces the first.

    file, other_file: paths of the user's own, never of a repository. chance: 0 to 1. window_minute: minute of the local
    day at which a daily window begins, -1 for none. window_s: its length in seconds, beyond midnight too.
    """

    file: Path
    other_file: Path
    chance: float = 0.1
    window_minute: int = -1
    window_s: int = 15 * 60

    def draw(self, now: datetime, draw: Callable[[], float]) -> str:
        """Return the persona of a talk that begins now; "" for none.

        now: local time. draw: a number from 0 up to 1. The window goes before chance. Drawn once, at the talk's start,
        so that the character stays. Where the other file is missing, the usual one holds.
        """
        is_other = self.in_window(now) or draw() < self.chance
        return (read_persona(self.other_file) if is_other else "") or read_persona(self.file)

    def in_window(self, now: datetime) -> bool:
        """True from the window's minute on, for its length."""
        if self.window_minute < 0:
            return False
        second = now.hour * 3600 + now.minute * 60 + now.second
        return (second - self.window_minute * 60) % _DAY_S < self.window_s


def read_persona(path: Path) -> str:
    """Return a file's text, cut; "" where it cannot be read."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(MAX_CHARS).strip()
    except OSError:
        return ""
