"""Filters of the store in memory: queries, scopes, selections."""

from __future__ import annotations

from dataclasses import replace

from memlayer.model import Chunk, Event, Memory, Scope
from memlayer.ports import MemoryQuery, Selection


def lean(chunk: Chunk) -> Chunk:
    """Return the chunk as a hit carries it."""
    return replace(chunk, vector=None)


def matches(memory: Memory, query: MemoryQuery) -> bool:
    """True if the memory matches all filters of the query."""
    return (
        (query.ids is None or memory.id in query.ids)
        and (query.keys is None or memory.key in query.keys)
        and (query.citations is None or memory.citation in query.citations)
        and query.project_id in ("", memory.project_id)
        and query.session_id in ("", memory.session_id)
        and query.category in ("", memory.category)
        and (not query.before_ms or memory.at_ms < query.before_ms)
        and (query.superseded_by is None or memory.superseded_by in query.superseded_by)
        and (query.source_ids is None or not set(query.source_ids).isdisjoint(memory.source_ids))
        and query.kind in ("", memory.kind)
        and (query.is_current is None or (memory.superseded_by == "") == query.is_current)
        and (not query.not_settled or memory.settled != query.not_settled)
    )


def in_scope(chunk: Chunk, scope: Scope) -> bool:
    """True if a search in the scope looks at the chunk."""
    return (
        (scope.project_ids is None or chunk.project_id in scope.project_ids)
        and scope.session_id in ("", chunk.session_id)
        and (not scope.excluded_session_id or chunk.session_id != scope.excluded_session_id)
        and all(getattr(chunk, column) == value for column, value in scope.extra.items())
    )


def selected(memory_id: str, row: Event | Memory | Chunk, selection: Selection) -> bool:
    """True if a selection names the row, which belongs to that memory."""
    return (
        (not selection.memory_ids or memory_id in selection.memory_ids)
        and selection.session_id in ("", row.session_id)
        and selection.project_id in ("", row.project_id)
        and (not selection.before_ms or row.at_ms < selection.before_ms)
    )
