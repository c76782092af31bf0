"""Cached vectors of what is not there any more: a vector tells something of its text."""

from __future__ import annotations

from memlayer.indexing.ingest import VectorCache
from memlayer.ports import Store
from memlayer.turns.turn import unlabelled


def drop_unused(store: Store, cache: VectorCache) -> None:
    """Drop the vectors of all texts that the search index does not hold: of what is gone from it now, and of what went
    from it earlier (a prompt before its answer came, an earlier wording), whose words nothing tells any more."""
    cache.keep_only(lambda consume: store.scan_texts(lambda text: consume(unlabelled(text))))
