"""SQLite files of other programs, open to read named tables alone."""

import errno
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from urllib.parse import quote

import msgspec

from memlayer.transcripts.others.talk import Json

BUSY_S = 5.0
_HEAD = b"SQLite format 3\0"
_SCHEMA = "sqlite_master"
_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)


class Database:
    """A connection that sees no other table and changes nothing."""

    def __init__(self, connection: sqlite3.Connection, tables: Collection[str]) -> None:
        self._connection = connection
        named = {_SCHEMA, *tables}

        def judge(action: int, first: str | None, *_: str | None) -> int:
            is_read = action == sqlite3.SQLITE_READ and first in named
            return sqlite3.SQLITE_OK if is_read or action in _ALLOWED else sqlite3.SQLITE_DENY

        connection.set_authorizer(judge)

    def columns(self, table: str) -> frozenset[str]:
        """Return the names in a table's definition; none without it."""
        rows = self._connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,))
        sql = next((str(row[0] or "") for row in rows), "")
        inside = sql.partition("(")[2]
        return frozenset(word.strip('`"[] \n\t') for piece in inside.split(",") for word in piece.split()[:1])

    def rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """Yield the rows of a query."""
        yield from self._connection.execute(query, values)


@contextmanager
def opened(path: str, tables: Collection[str]) -> Iterator[Database]:
    """Open a database. Raises OSError for anything else."""
    with open(path, "rb") as file:
        if file.read(len(_HEAD)) != _HEAD:
            raise OSError(errno.EINVAL, "no database", path)
    try:
        uri = "file:%s?mode=ro" % quote(path)
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_S)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            yield Database(connection, tables)
    except sqlite3.Error as bad:
        raise OSError(errno.EINVAL, "the database cannot be read: %s" % bad, path) from bad


def json_of(value: object) -> Json:
    """Return an object from a column, {} for anything else."""
    try:
        decoded = msgspec.json.decode(value) if isinstance(value, (str, bytes)) else None
    except (msgspec.DecodeError, UnicodeEncodeError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
