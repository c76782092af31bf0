"""Operations on uses: memories cited, memories only shown, and their share."""

from __future__ import annotations

import time
from collections.abc import Iterable

from memlayer.daemon.ops.requests import Fields, Progress, Table, memory_fields, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.edge.ipc import ops
from memlayer.indexing.usages import MANY, share_since
from memlayer.model import CITED, SHOWN, Usage
from memlayer.ports import MemoryQuery, UsageQuery

DAY_MS = 86_400_000
DEFAULT_DAYS = 30
UNUSED_AFTER = 3  # sessions that were shown a memory, and did not cite it


def citations(state: State, arguments: ops.Citations, progress: Progress) -> Fields:
    """Return memories by their citations.

    Newest first, most cited first, or shown and never cited.
    """
    store, folder, order = services_of(state).store, arguments.project_dir, arguments.order
    days = arguments.days or (DEFAULT_DAYS if order else 0)
    since_ms = int(time.time() * 1000) - days * DAY_MS if days else 0
    project_id = project_of(state, folder)
    if folder and not project_id:
        return {"memories": []}
    uses = store.usages(UsageQuery(project_id=project_id, since_ms=since_ms, limit=MANY))
    cited = _by_memory(use for use in uses if use.how == CITED)
    shown = _by_memory(use for use in uses if use.how == SHOWN)
    chosen = _chosen(order, cited, shown)[: arguments.limit]
    memories = {found.id: found for found in store.memories(MemoryQuery(ids=chosen, limit=len(chosen) + 1))}
    return {
        "memories": [
            {
                **memory_fields(state, memories[memory_id]),
                "cited": len(cited.get(memory_id, ())),
                "cited_sessions": _sessions(cited.get(memory_id, [])),
                "shown_sessions": _sessions(shown.get(memory_id, [])),
                "last_cited_ms": max((use.at_ms for use in cited.get(memory_id, ())), default=0),
            }
            for memory_id in chosen
            if memory_id in memories
        ]
    }


def usage_share(state: State, arguments: ops.UsageShare, progress: Progress) -> Fields:
    """Return how many notes were shown, cited and opened lately.

    Of the last days, a memory once a session.
    """
    since_ms = int(time.time() * 1000) - arguments.days * DAY_MS
    return {"window_days": arguments.days, **share_since(services_of(state).store, since_ms)._asdict()}


def _chosen(order: str, cited: dict[str, list[Usage]], shown: dict[str, list[Usage]]) -> list[str]:
    """The ids of memories in an order."""
    if order == "unused":
        never = [memory_id for memory_id in shown if memory_id not in cited]
        often = [memory_id for memory_id in never if _sessions(shown[memory_id]) >= UNUSED_AFTER]
        return sorted(often, key=lambda memory_id: -_sessions(shown[memory_id]))
    if order == "popular":
        return sorted(cited, key=lambda memory_id: -len(cited[memory_id]))
    return list(cited)  # the newest use first, as they come


def _by_memory(uses: Iterable[Usage]) -> dict[str, list[Usage]]:
    found: dict[str, list[Usage]] = {}
    for use in uses:
        found.setdefault(use.memory_id, []).append(use)
    return found


def _sessions(uses: list[Usage]) -> int:
    return len({use.session_id for use in uses})


OPERATIONS: Table = {ops.Citations: citations, ops.UsageShare: usage_share}
