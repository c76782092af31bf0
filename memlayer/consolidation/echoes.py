"""A model's wording of an order that the person's own words hold."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.consolidation.extractor import is_noted
from memlayer.model import Memory
from memlayer.turns.evidence import Evidence, from_json


def without_echoes(orders: Sequence[Memory]) -> list[Memory]:
    """Leave out a model's wording of an order beside it.

    Both rest on the same words of one turn. The person's own wording stays.
    """
    own = [(row.session_id, span) for row in orders if not is_noted(row) for span in spans_of(row)]
    return [row for row in orders if row.pinned or not is_noted(row) or not _repeats(row, own)]


def _repeats(row: Memory, own: Sequence[tuple[str, Evidence]]) -> bool:
    return any(session == row.session_id and words.overlaps(span) for session, words in own for span in spans_of(row))


def spans_of(memory: Memory) -> tuple[Evidence, ...]:
    """Return the words of turns that a memory rests on."""
    return tuple(from_json(memory.evidence))
