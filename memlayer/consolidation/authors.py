"""The author of a memory: the person, or a model.

What the person said, edited, restored or pinned is the person's, and only the person replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.consolidation.extractor import is_noted, is_rule_made
from memlayer.model import Event, Memory
from memlayer.ports import Store, events_by_id
from memlayer.text.terms import index_terms
from memlayer.turns.evidence import Evidence, from_json
from memlayer.turns.remembered import BY_MODEL

SHARE = 0.8  # of a statement's terms, in the event that it comes from


def events_of(store: Store, memories: Sequence[Memory]) -> dict[str, list[Event]]:
    """Return memory id -> the events that it comes from. Raises StoreError."""
    events = events_by_id(store, (source for memory in memories for source in memory.source_ids))
    return {memory.id: [events[key] for key in memory.source_ids if key in events] for memory in memories}


def by_models(store: Store, memories: Sequence[Memory]) -> frozenset[str]:
    """Return the ids of memories that a model made. Raises StoreError."""
    sources = events_of(store, memories)
    return frozenset(memory.id for memory in memories if is_models(memory, sources[memory.id]))


def is_models(memory: Memory, sources: Sequence[Event]) -> bool:
    """True for a statement that a model made, and no person repeated."""
    is_untouched = bool(memory.session_id) or any(
        event.detail == BY_MODEL and event.at_ms == memory.at_ms for event in sources
    )
    if memory.pinned or not is_untouched:
        return False
    if is_noted(memory) and is_rule_made(memory):
        return True
    terms = frozenset(index_terms(memory.text).split())
    holders = [event for event in sources if len(terms & set(index_terms(event.text).split())) >= SHARE * len(terms)]
    return bool(holders) and all(event.kind == "assistant" or event.detail == BY_MODEL for event in holders)


def without_echoes(orders: Sequence[Memory]) -> list[Memory]:
    """Leave out a model's wording of an order beside it.

    Both rest on the same words of one turn. The person's own wording stays.
    """
    own = [(row.session_id, span) for row in orders if not is_noted(row) for span in from_json(row.evidence)]
    return [row for row in orders if row.pinned or not is_noted(row) or not _repeats(row, own)]


def _repeats(row: Memory, own: Sequence[tuple[str, Evidence]]) -> bool:
    spans = from_json(row.evidence)
    return any(session == row.session_id and words.overlaps(span) for session, words in own for span in spans)
