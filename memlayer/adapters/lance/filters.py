"""SQL filters for LanceDB from values nobody vouches for: everything is quoted here, nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.errors import StoreError
from memlayer.model import Scope

_EXTRA_COLUMNS = ("category", "role", "memory_id", "event_id", "prompt_id")
NOTHING = "false"
ORDERS = {  # columns, and whether they ascend
    "newest": [("at_ms", False), ("id", False)],
    "importance": [("importance", False), ("at_ms", False), ("id", False)],
}


def quoted(text: str) -> str:
    """A SQL string literal. The dialect knows no escape but the doubled quote."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    return "'" + safe.replace("'", "''") + "'"


def equals(column: str, value: str) -> str:
    return f"{column} = {quoted(value)}"


def differs(column: str, value: str) -> str:
    return f"{column} != {quoted(value)}"


def one_of(column: str, values: Sequence[str]) -> str:
    """column IN (...); no value at all matches nothing."""
    if not values:
        return NOTHING
    if len(values) == 1:
        return equals(column, values[0])
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def any_in(column: str, values: Sequence[str]) -> str:
    """The list column holds at least one of the values."""
    if not values:
        return NOTHING
    return f"array_has_any({column}, [{', '.join(quoted(value) for value in values)}])"


def all_of(*parts: str) -> str:
    """The parts joined by AND; "" when all are empty."""
    return " AND ".join(part for part in parts if part)


def of_memories(
    ids: Sequence[str] | None,
    keys: Sequence[str] | None,
    citations: Sequence[str] | None,
    project_id: str,
    session_id: str,
    category: str,
    before_ms: int,
    superseded_by: Sequence[str] | None,
    source_ids: Sequence[str] | None,
    kind: str,
    is_current: bool | None,
    not_settled: str,
) -> str:
    """The filter of ports.Store.memories; "" for all."""
    return all_of(
        one_of("id", ids) if ids is not None else "",
        one_of("key", keys) if keys is not None else "",
        one_of("citation", citations) if citations is not None else "",
        equals("project_id", project_id) if project_id else "",
        equals("session_id", session_id) if session_id else "",
        equals("category", category) if category else "",
        f"at_ms < {int(before_ms)}" if before_ms else "",
        one_of("superseded_by", superseded_by) if superseded_by is not None else "",
        any_in("source_ids", source_ids) if source_ids is not None else "",
        equals("kind", kind) if kind else "",
        "" if is_current is None else equals("superseded_by", "") if is_current else "superseded_by != ''",
        differs("settled", not_settled) if not_settled else "",
    )


def of_scope(scope: Scope) -> str:
    """The filter of a scope over the chunks table; "" for everywhere. Raises StoreError for an unknown `extra`."""
    parts = []
    if scope.project_ids is not None:
        parts.append(one_of("project_id", scope.project_ids))
    if scope.session_id:
        parts.append(equals("session_id", scope.session_id))
    if scope.excluded_session_id:
        parts.append(differs("session_id", scope.excluded_session_id))
    for column, value in scope.extra.items():
        if column not in _EXTRA_COLUMNS:
            raise StoreError(f"a search cannot be limited by {column!r}; use one of {', '.join(_EXTRA_COLUMNS)}")
        parts.append(equals(column, value))
    return all_of(*parts)
