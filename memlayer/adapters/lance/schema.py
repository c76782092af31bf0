"""Arrow schemas of the tables, conversion of their rows, and SQL filters."""

from collections.abc import Sequence
from itertools import repeat
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from memlayer.errors import StoreError
from memlayer.kinds import Category
from memlayer.model import Chunk, Event, Memory, Scope, Usage
from memlayer.ports import MemoryQuery

EVENTS = "events"
MEMORIES = "memories"
CHUNKS = "chunks"
USAGES = "usages"
TABLES = (EVENTS, MEMORIES, CHUNKS, USAGES)

VECTOR = "vector"
_BLANKS = repeat("")
NO_DAYS = "category != '%s'" % Category.DAILY  # see model.Scope
_EXTRA_COLUMNS = ("category", "role", "memory_id", "event_id", "prompt_id")
NOTHING = "false"
ORDERS = {  # columns, and whether they ascend
    "newest": [("at_ms", False), ("id", False)],
    "importance": [("importance", False), ("at_ms", False), ("id", False)],
}
SCHEMA_VERSION = 6
QUARTER_MS = 900_000  # every zone of the world begins its day with one

Record = TypeVar("Record", Memory, Chunk)
Value = TypeVar("Value", Event, Memory, Usage)


_TYPES = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), tuple[str, ...]: pa.list_(pa.string())}
# The fields of model.py, in their order, but the vector: a change there is a new SCHEMA_VERSION with a migration.
_FIELDS = {
    table: [
        pa.field(field.name, _TYPES.get(field.type, pa.string()), nullable=False)
        for field in msgspec.structs.fields(model)
        if field.name != VECTOR
    ]
    for table, model in ((EVENTS, Event), (MEMORIES, Memory), (CHUNKS, Chunk), (USAGES, Usage))
}
COLUMNS = {table: [field.name for field in columns] for table, columns in _FIELDS.items()}
CHUNK_CATEGORY = COLUMNS[CHUNKS].index("category")


def vector_field(dimensions: int) -> Any:
    """Return the nullable vector column: float32, unit length."""
    return pa.field(VECTOR, pa.list_(pa.float32(), max(1, dimensions)), nullable=True)


def schema_of(table: str, dimensions: int) -> Any:
    """The Arrow schema of a table. dimensions: of the vectors of chunks."""
    return pa.schema([*_FIELDS[table], *([vector_field(dimensions)] if table == CHUNKS else ())])


def rows_to_arrow(items: Sequence[Event | Memory | Chunk | Usage], schema: Any) -> Any:
    """Convert model values to Arrow. Raises UnicodeError for lone surrogates."""
    columns = [pa.array([_plain(getattr(item, field.name)) for item in items], field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _plain(value: Any) -> Any:
    # A lone surrogate cannot be stored as UTF-8. Losing that one character beats losing the turn.
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode("utf-8")
    return value


def vectors_to_arrow(ids: Sequence[str], vectors: Sequence[Sequence[float]], model: str, dimensions: int) -> Any:
    """Build (id, model, vector) columns to update existing chunks."""
    field = vector_field(dimensions)
    named = {field.name: field for field in _FIELDS[CHUNKS]}
    schema = pa.schema([named["id"], named["model"], field])
    return pa.table([pa.array(ids, pa.string()), [model] * len(ids), pa.array(vectors, field.type)], schema=schema)


def rows_from(table: Any, kind: type[Value]) -> list[Value]:
    """Convert rows of a table but chunks, in their order."""
    return msgspec.convert(table.select(kind.__struct_fields__).to_pylist(), list[kind])  # type: ignore[valid-type]


def chunks_from(table: Any) -> list[Chunk]:
    """Convert rows of chunks, in order, without vectors, perhaps without terms."""
    names = table.column_names
    columns = [table.column(name).to_pylist() if name in names else _BLANKS for name in COLUMNS[CHUNKS]]
    columns[CHUNK_CATEGORY] = list(map(Category, columns[CHUNK_CATEGORY]))
    return [Chunk(*values) for values in zip(*columns, strict=False)]


def last_of_each(items: Sequence[Record]) -> list[Record]:
    """Return each id's last item: a merge bears no two."""
    return list({item.id: item for item in items}.values())


# -- filters: untrusted values are quoted here, nowhere else


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
    """Match lists that share a value with these."""
    if not values:
        return NOTHING
    return f"array_has_any({column}, [{', '.join(quoted(value) for value in values)}])"


def all_of(*parts: str) -> str:
    """Join parts by AND; "" when all are empty."""
    return " AND ".join(part for part in parts if part)


def matching(**columns: str | Sequence[str] | None) -> str:
    """Match rows by the value, or any value, of each column.

    "" and None restrict nothing. An empty sequence matches nothing.
    """
    given = {column: value for column, value in columns.items() if value is not None and value != ""}
    return all_of(
        *(equals(name, value) if isinstance(value, str) else one_of(name, value) for name, value in given.items())
    )


def since(at_ms: int) -> str:
    """Match rows from a time on (Unix, ms); "" for 0."""
    return f"at_ms >= {int(at_ms)}" if at_ms else ""


def quarters(rows: Any) -> list[tuple[int, str, str, int]]:
    """Count rows by quarter of an hour, session and kind."""
    starts = pc.multiply(pc.divide(rows.column("at_ms"), QUARTER_MS), QUARTER_MS)
    named = pa.table({"at_ms": starts, "session_id": rows.column("session_id"), "kind": rows.column("kind")})
    counted = (
        named.group_by(named.column_names).aggregate([([], "count_all")]).select([*named.column_names, "count_all"])
    )
    return sorted(zip(*(column.to_pylist() for column in counted.columns), strict=True))


def before(at_ms: int) -> str:
    """Match rows from before a time (Unix, ms); "" for 0."""
    return f"at_ms < {int(at_ms)}" if at_ms else ""


def of_query(query: MemoryQuery) -> str:
    """Return the filter of a memory query; "" for all."""
    fields = ("project_id", "session_id", "category", "kind", "superseded_by")
    has_ended = {None: "", True: "ended_because = ''", False: "ended_because != ''"}[query.is_current]
    return all_of(
        matching(
            id=query.ids, key=query.keys, citation=query.citations, **{name: getattr(query, name) for name in fields}
        ),
        before(query.before_ms),
        any_in("source_ids", query.source_ids) if query.source_ids is not None else "",
        has_ended,
        f"rules != {int(query.unread_by)}" if query.unread_by else "",
    )


def of_scope(scope: Scope) -> str:
    """Return a scope's filter over chunks; "": everywhere. Raises StoreError."""
    for column in scope.extra.keys() - _EXTRA_COLUMNS:
        raise StoreError(f"a search cannot be limited by {column!r}; use one of {', '.join(_EXTRA_COLUMNS)}")
    return all_of(
        matching(project_id=scope.project_ids, session_id=scope.session_id),
        differs("session_id", scope.excluded_session_id) if scope.excluded_session_id else "",
        *(equals(column, value) for column, value in scope.extra.items()),
        "" if "category" in scope.extra else NO_DAYS,
    )
