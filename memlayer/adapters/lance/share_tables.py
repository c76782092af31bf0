"""Tables of a share in an object store, by LanceDB alone.

A table a machine, written by that machine alone. A row an object of its log.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Collection, Coroutine, Mapping, Sequence
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.table import AsyncTable

from memlayer.adapters.lance.failures import FAILURES
from memlayer.adapters.lance.indexes import EVERY_OLD_VERSION
from memlayer.adapters.lance.table import LoopThread, batches
from memlayer.errors import StoreError

SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("data", pa.large_binary(), nullable=False)])
PREFIX, PROBE = "machine_", "probe_"
WRITERS = 6  # at once, on a table of their own, to see whether a commit can overwrite another
ROUNDS = 3
LIMIT_S = 120.0
PAGE = 1000


class ShareTables:
    """The tables of one address. All errors are StoreError, with LanceDB's words."""

    def __init__(self, address: str, options: Mapping[str, str]) -> None:
        """options: of LanceDB's object store, such as endpoint and region."""
        self._address, self._options = address, dict(options)
        self._loop = LoopThread()
        self._connection: Any = None
        self._tables: dict[str, AsyncTable] = {}

    def refresh(self) -> list[str]:
        """Connect anew; return the machines' names."""
        self._tables.clear()

        async def names() -> list[str]:
            self._connection = await lancedb.connect_async(self._address, storage_options=self._options)
            out: list[str] = []
            while True:
                # list_tables, its successor, needs a package that memlayer never loads (embedding/lazy_import.py).
                page = await self._connection.table_names(start_after=out[-1] if out else None, limit=PAGE)
                out += page
                if len(page) < PAGE:
                    return out

        return [name.removeprefix(PREFIX) for name in self._run(names()) if name.startswith(PREFIX)]

    def names(self, machine: str) -> list[str]:
        """Return the names of a machine's objects."""

        async def read() -> list[str]:
            table = await self._table(machine)
            return [] if table is None else (await table.query().select(["name"]).to_arrow())["name"].to_pylist()

        return list(self._run(read()))

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return objects by name; those that are gone are left out."""

        async def read() -> dict[str, bytes]:
            table, out = await self._table(machine), dict[str, bytes]()
            for batch in batches(names) if table is not None else ():
                rows = await table.query().where(_one_of(batch)).to_arrow()  # type: ignore[union-attr]
                out.update(zip(rows["name"].to_pylist(), rows["data"].to_pylist(), strict=True))
            return out

        return dict(self._run(read()))

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        """Add objects in one commit; remove others' bytes in a second."""

        async def change() -> None:
            table = await self._table(machine)
            rows = pa.table({"name": list(add), "data": list(add.values())}, schema=SCHEMA)
            if table is None:
                table = await self._connection.create_table(PREFIX + machine, rows)
                self._tables[machine] = table
            elif add:
                await table.add(rows)
            if remove:
                for batch in batches(remove):
                    await table.delete(_one_of(batch))
                await table.optimize(cleanup_older_than=EVERY_OLD_VERSION, delete_unverified=True)

        self._run(change())

    def drop(self, machine: str) -> None:
        """Remove a machine's table."""
        self._tables.pop(machine, None)
        self._run(self._connection.drop_table(PREFIX + machine, ignore_missing=True))

    def loses_commits(self) -> bool:
        """Return whether of writers at once one overwrites another's commit.

        So it is where the store ignores the condition of a write. On a table of its own, which goes again.
        """

        async def probe() -> bool:
            name = PROBE + secrets.token_hex(6)
            table = await self._connection.create_table(name, pa.table({"name": [""], "data": [b""]}, schema=SCHEMA))
            try:
                for round_ in range(ROUNDS):
                    rows = [
                        pa.table({"name": ["%d %d" % (round_, at)], "data": [b""]}, schema=SCHEMA)
                        for at in range(WRITERS)
                    ]
                    tables = [await self._connection.open_table(name) for _ in rows]
                    await asyncio.gather(*(table.add(row) for table, row in zip(tables, rows, strict=True)))
                fresh = await self._connection.open_table(name)
                return bool(await fresh.count_rows() != 1 + ROUNDS * WRITERS)
            finally:
                table.close()
                await self._connection.drop_table(name, ignore_missing=True)

        return bool(self._run(probe()))

    async def _table(self, machine: str) -> AsyncTable | None:
        if machine not in self._tables:
            try:
                self._tables[machine] = await self._connection.open_table(PREFIX + machine)
            except ValueError as bad:
                if "was not found" not in str(bad):
                    raise
                return None
        return self._tables[machine]

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self._loop.run(asyncio.wait_for(work, LIMIT_S))
        except TimeoutError as bad:
            raise StoreError("timed out") from bad
        except FAILURES as bad:
            raise StoreError(" ".join(str(bad).split())) from bad


def _one_of(names: Sequence[str]) -> str:
    return "name IN (%s)" % ", ".join("'%s'" % name.replace("'", "''") for name in names)
