"""Every op the daemon answers, from all groups of them."""

from __future__ import annotations

from memlayer.daemon import operations
from memlayer.daemon.operations import Operation

OPERATIONS: dict[str, Operation] = {
    **operations.OPERATIONS,
}
