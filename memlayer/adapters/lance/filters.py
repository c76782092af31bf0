"""SQL filters for LanceDB: untrusted values are quoted here, nowhere else."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.errors import StoreError
from memlayer.model import Scope
from memlayer.ports import MemoryQuery

_EXTRA_COLUMNS = ("category", "role", "memory_id", "event_id", "prompt_id")
NOTHING = "false"
ORDERS = {  # columns, and whether they ascend
    "newest": [("at_ms", False), ("id", False)],
    "importance": [("importance", False), ("at_ms", False), ("id", False)],
}


def quoted(text: str) -> str:
    """Quote a SQL string; doubled quotes are the only escape."""
    safe = text.encode("utf-8", "replace").decode("utf-8")
    return "'" + safe.replace("'", "''") + "'"


def equals(column: str, value: str) -> str:
    return f"{column} = {quoted(value)}"


def differs(column: str, value: str) -> str:
    return f"{column} != {quoted(value)}"


def one_of(column: str, values: Sequence[str]) -> str:
    """Return column IN (...); without values it matches nothing."""
    if not values:
        return NOTHING
    if len(values) == 1:
        return equals(column, values[0])
    return f"{column} IN ({', '.join(quoted(value) for value in values)})"


def any_in(column: str, values: Sequence[str]) -> str:
    """Match a list column that holds at least one of the values."""
    if not values:
        return NOTHING
    return f"array_has_any({column}, [{', '.join(quoted(value) for value in values)}])"


def all_of(*parts: str) -> str:
    """Join parts by AND; "" when all are empty."""
    return " AND ".join(part for part in parts if part)


def of_query(query: MemoryQuery) -> str:
    """Return the filter of a memory query; "" for all."""
    is_superseded = (
        "" if query.is_current is None else "superseded_by = ''" if query.is_current else "superseded_by != ''"
    )
    return all_of(
        *(
            one_of(column, values)
            for column, values in (
                ("id", query.ids),
                ("key", query.keys),
                ("citation", query.citations),
                ("superseded_by", query.superseded_by),
            )
            if values is not None
        ),
        *(
            equals(column, value)
            for column, value in (
                ("project_id", query.project_id),
                ("session_id", query.session_id),
                ("category", query.category),
                ("kind", query.kind),
            )
            if value
        ),
        f"at_ms < {int(query.before_ms)}" if query.before_ms else "",
        any_in("source_ids", query.source_ids) if query.source_ids is not None else "",
        is_superseded,
        differs("settled", query.not_settled) if query.not_settled else "",
    )


def of_scope(scope: Scope) -> str:
    """Return the filter of a scope over chunks; "" for everywhere.

    Raises StoreError for an unknown `extra`.
    """
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
