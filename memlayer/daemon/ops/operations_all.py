"""Every op the daemon answers, from all groups of them."""

from __future__ import annotations

from memlayer.daemon.ops import (
    operations,
    operations_files,
    operations_given,
    operations_health,
    operations_letting_go,
    operations_memories,
    operations_search,
    operations_transfer,
)
from memlayer.daemon.ops.operations import Operation

OPERATIONS: dict[str, Operation] = {
    **operations.OPERATIONS,
    **operations_files.OPERATIONS,
    **operations_given.OPERATIONS,
    **operations_health.OPERATIONS,
    **operations_memories.OPERATIONS,
    **operations_search.OPERATIONS,
    **operations_letting_go.OPERATIONS,
    **operations_transfer.OPERATIONS,
}
