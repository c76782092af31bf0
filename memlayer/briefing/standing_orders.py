"""Standing orders of the user, verbatim, for a compacted context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memlayer.consolidation.rules.signs import PREFERENCE
from memlayer.model import GLOBAL, Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import HEADER, flatten
from memlayer.text.terms import index_terms
from memlayer.turns.remembered import BY_MODEL

# An order: rules given as notes are forgotten after a compaction, an imperative one is obeyed (claude-code#95745).
LEAD = "The user gave these standing orders. They still hold after the compaction. Follow every one:"
MAX_CHARS = 4_000
SHARE = 0.8  # of a statement's terms, in the event that it comes from
_LOOKED_AT = 300


def standing_orders(store: Store, project_id: str, max_chars: int = MAX_CHARS) -> tuple[str, frozenset[str]]:
    """Return (the block, the ids of the memories in it). Raises StoreError.

    The block is "" without any order.

    What a person asked for in this project, then in every project; pinned ones first, then the newest. An order that
    does not fit whole is left out: half an order is another one.
    """
    lines = [HEADER, LEAD]
    left = max_chars - sum(len(line) + 1 for line in lines)
    kept: set[str] = set()
    said: set[str] = set()
    for memory in _orders(store, project_id):
        text = flatten(memory.text)
        line = "- %s [mem:%s]" % (text, memory.citation)
        if text.casefold() in said or len(line) + 1 > left:
            continue
        said.add(text.casefold())
        kept.add(memory.id)
        lines.append(line)
        left -= len(line) + 1
    return ("\n".join(lines) if kept else "", frozenset(kept))


def _orders(store: Store, project_id: str) -> Iterator[Memory]:
    for scope in dict.fromkeys((project_id, GLOBAL)):
        found = store.memories(
            MemoryQuery(project_id=scope, category="core", kind=PREFERENCE, is_current=True, limit=_LOOKED_AT)
        )
        ids = sorted({source for memory in found for source in memory.source_ids})
        events = {event.id: event for event in store.events(ids=ids, limit=len(ids))} if ids else {}
        orders = [
            memory
            for memory in found
            if memory.pinned or not _is_models([events[key] for key in memory.source_ids if key in events], memory.text)
        ]
        yield from sorted(orders, key=lambda memory: (not memory.pinned, -memory.at_ms))


def _is_models(sources: Sequence[Event], text: str) -> bool:
    """True for a statement that a model made, and no person repeated.

    An order comes from the person. A text that a person edited stands in no source, and counts as the person's.
    """
    terms = frozenset(index_terms(text).split())
    holders = [event for event in sources if len(terms & set(index_terms(event.text).split())) >= SHARE * len(terms)]
    return bool(holders) and all(event.kind == "assistant" or event.detail == BY_MODEL for event in holders)
