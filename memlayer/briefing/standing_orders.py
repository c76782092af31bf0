"""Standing orders of the user, verbatim, for a compacted context."""

from __future__ import annotations

from collections.abc import Iterator

from memlayer.consolidation.rules.signs import PREFERENCE
from memlayer.model import GLOBAL, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import HEADER, flatten
from memlayer.turns.remembered import BY_MODEL

# An order: rules given as notes are forgotten after a compaction, an imperative one is obeyed (claude-code#95745).
LEAD = "The user gave these standing orders. They still hold after the compaction. Follow every one:"
MAX_CHARS = 4_000
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
        by_model = {event.id for event in store.events(ids=ids, limit=len(ids)) if event.detail.startswith(BY_MODEL)}
        # A statement that a model asked to remember is a note: an order comes from the person.
        by_person = [
            one for one in found if one.pinned or not by_model.issuperset(one.source_ids) or not one.source_ids
        ]
        yield from sorted(by_person, key=lambda one: (not one.pinned, -one.at_ms))
