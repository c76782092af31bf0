"""A moment of a session at which something is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memlayer.model import citation_of
from memlayer.text import context_block
from memlayer.text.context_block import Budget, Entry

CHANGED_FILE = "changed file"
MAX_LINE_CHARS = 240


@dataclass(frozen=True)
class MomentLine:
    """A line of a moment.

    memory_id: of the note or turn that it comes from. reason: for the record, without text of memories.
    """

    memory_id: str
    at_ms: int
    text: str
    reason: str


@dataclass(frozen=True)
class Moment:
    """A moment with its lines; its marks stay in the session."""

    kind: str
    lines: tuple[MomentLine, ...]
    marks: tuple[str, ...]

    @property
    def block(self) -> str:
        """The block for the model."""
        return block_of(self.lines)


def block_of(lines: Sequence[MomentLine]) -> str:
    """Return the block of these lines, "" for none."""
    entries = [Entry(citation_of(row.memory_id), context_block.day_of(row.at_ms), row.text) for row in lines]
    room = Budget(len(entries), MAX_LINE_CHARS, len(entries) * (MAX_LINE_CHARS + 40) + 200)
    return context_block.block(entries, room, context_block.SHORT_EXPLANATION)
