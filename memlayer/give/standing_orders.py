"""Standing orders: verbatim after a compaction, as rules at a session's start."""

import re
from collections.abc import Iterator
from functools import lru_cache

from memlayer.kinds import Author, Category, Kind
from memlayer.model import GLOBAL, PROVEN, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import HEADER, flatten
from memlayer.text.word_lists import rows

# An order: rules given as notes are forgotten after a compaction, an imperative one is obeyed (claude-code#95745).
LEAD = "The user gave these standing orders. They still hold after the compaction. Follow every one:"
MAX_CHARS = 4_000
_ORDERS_LOOKED_AT = 300


def standing_orders(store: Store, project_id: str, max_chars: int = MAX_CHARS) -> tuple[str, frozenset[str]]:
    """Return (the block, the ids of the memories in it). Raises StoreError.

    The block is "" without any order.

    What a person asked for in this project, then in every project. Pinned ones first, then the newest. An order that
    does not fit whole is left out: half an order is another one.
    """
    lines = [HEADER, LEAD]
    left = max_chars - sum(len(line) + 1 for line in lines)
    kept: set[str] = set()
    texts: set[str] = set()
    for memory in _orders(store, project_id):
        text = flatten(memory.text)
        line = "- %s [mem:%s]" % (text, memory.citation)
        if text.casefold() in texts or len(line) + 1 > left:
            continue
        texts.add(text.casefold())
        kept.add(memory.id)
        lines.append(line)
        left -= len(line) + 1
    return ("\n".join(lines) if kept else "", frozenset(kept))


def orders_in_force(store: Store, project_id: str) -> list[Memory]:
    """Return the orders for a project and for every project.

    Pinned ones first, then the proven, then the newest; of two with the same words the first. Raises StoreError.
    """
    orders = sorted(
        _orders(store, project_id), key=lambda memory: (not memory.pinned, memory.level < PROVEN, -memory.at_ms)
    )
    distinct = {flatten(memory.text).casefold(): memory for memory in reversed(orders)}
    return [memory for memory in orders if distinct[flatten(memory.text).casefold()] is memory]


def _orders(store: Store, project_id: str) -> Iterator[Memory]:
    for scope in dict.fromkeys((project_id, GLOBAL)):
        wishes = MemoryQuery(
            project_id=scope, category=Category.CORE, kind=Kind.PREFERENCE, is_current=True, limit=_ORDERS_LOOKED_AT
        )
        said = (row for row in store.memories(wishes) if row.by is Author.PERSON)
        orders = (row for row in said if is_order(row.known_kind, row.text))
        yield from sorted(orders, key=lambda memory: (not memory.pinned, -memory.at_ms))


def is_order(kind: Kind, text: str) -> bool:
    """True for a statement that asks for a way of working.

    An opinion ("I like Postgres") and an observation ("the build is always slow") ask for nothing. In doubt a
    preference is an order: a missing one does more harm. kind: of the statement.
    """
    return kind == Kind.PREFERENCE and (_shows("bids", text) or not (_shows("thinks", text) or _shows("acts", text)))


def _shows(sign: str, text: str) -> bool:
    return bool(_signs()[sign].search(text))


@lru_cache(maxsize=1)
def _signs() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile("|".join(filter(None, (english, korean))), re.IGNORECASE)
        for name, english, korean in rows("memlayer.give", "orders.tsv")
    }
