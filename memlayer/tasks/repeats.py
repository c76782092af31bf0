"""The turns that say again a statement of an earlier session."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.kinds import Category, Kind
from memlayer.model import Memory, turn_memory_id
from memlayer.ports import Store


def said_again(store: Store, memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Return statement's id -> turns of later sessions that said it.

    One a session. Raises StoreError.
    """
    rows = [row for row in memories if row.category == Category.CORE and row.known_kind is not Kind.TASK]
    rows = [row for row in rows if len(row.source_ids) > 1]
    ids = sorted({source for row in rows for source in row.source_ids})
    events = {event.id: event for event in store.events(ids=ids, limit=len(ids))} if ids else {}
    out = {}
    for row in rows:
        sources = sorted(
            (events[source] for source in row.source_ids if source in events), key=lambda event: event.at_ms
        )
        turns: dict[str, str] = {}
        for event in sources:
            if event.session_id and event.prompt_id:
                turns.setdefault(event.session_id, turn_memory_id(event.session_id, event.prompt_id))
        out[row.id] = list(turns.values())[1:]
    return out
