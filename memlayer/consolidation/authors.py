"""A model's wording beside the person's own."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.model import Memory
from memlayer.turns.evidence import Evidence, from_json


def without_echoes(orders: Sequence[Memory]) -> list[Memory]:
    """Leave out a model's wording of an order beside it.

    Both rest on the same words of one turn. The person's own wording stays.
    """
    own = [(row.session_id, span) for row in orders if row.is_persons for span in from_json(row.evidence)]
    return [row for row in orders if row.is_persons or not _repeats(row, own)]


def _repeats(row: Memory, own: Sequence[tuple[str, Evidence]]) -> bool:
    spans = from_json(row.evidence)
    return any(session == row.session_id and words.overlaps(span) for session, words in own for span in spans)
