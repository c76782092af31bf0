"""Every op the daemon answers, from all groups of them."""

from __future__ import annotations

from memlayer.daemon.ops import deletion, files, given_notes, health, memories, queries, search, transfer
from memlayer.daemon.ops.queries import Operation

OPERATIONS: dict[str, Operation] = {
    **queries.OPERATIONS,
    **files.OPERATIONS,
    **given_notes.OPERATIONS,
    **health.OPERATIONS,
    **memories.OPERATIONS,
    **search.OPERATIONS,
    **deletion.OPERATIONS,
    **transfer.OPERATIONS,
}
