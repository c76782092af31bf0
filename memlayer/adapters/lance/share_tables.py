"""A share in an object store, by LanceDB alone.

A table a machine, written by that machine alone. A row an object of its log.
"""

import asyncio
import secrets
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any

import lancedb
import pyarrow as pa
from lancedb.table import AsyncTable

from memlayer.adapters.lance.failures import FAILURES
from memlayer.adapters.lance.indexes import EVERY_OLD_VERSION
from memlayer.adapters.lance.table import LoopThread, batches
from memlayer.errors import ShareError

SCHEMA = pa.schema([pa.field("name", pa.string(), nullable=False), pa.field("data", pa.large_binary(), nullable=False)])
PREFIX, PROBE = "machine_", "probe_"
WRITERS = 6  # at once, on a table of their own, to see whether a commit can overwrite another
ROUNDS = 3
LIMIT_S = 120.0
UNCONDITIONAL = (
    "this store has no conditional writes: of writers at once one overwrites another. Take a store that has them, or a "
    "folder or git"
)
PAGE = 1000
MOST_NAMES = 1_000_000
AT_ONCE = 4  # objects of a machine, the rest of longer ones cut


class ShareTables:
    """The engine of one address."""

    def __init__(
        self,
        address: str,
        options: Mapping[str, str],
        *,
        is_machine: Callable[[str], object],
        is_object: Callable[[str], object],
        told: Callable[[str], str],
        max_bytes: int,
    ) -> None:
        """Keep an address and its options of LanceDB's object store.

        max_bytes: of an object. told: LanceDB's words -> an error's.
        """
        self._address, self._options = address, dict(options)
        self._is_machine, self._is_object, self._told = is_machine, is_object, told
        self._max_bytes = max_bytes
        self._loop = LoopThread()
        self._connection: Any = None
        self._tables: dict[str, AsyncTable] = {}
        self._machines: set[str] = set()

    def check(self) -> None:
        self.refresh()
        if not self._machines and self.loses_commits():
            raise ShareError(self._told(UNCONDITIONAL))

    def refresh(self) -> None:
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

        found = [name.removeprefix(PREFIX) for name in self._run(names()) if name.startswith(PREFIX)]
        self._machines = set(filter(self._is_machine, found))

    def machines(self) -> list[str]:
        return sorted(self._machines)

    def names(self, machine: str) -> list[str]:
        async def read() -> list[str]:
            if (table := await self._table(machine)) is None:
                return []
            rows = await table.query().select(["name"]).limit(MOST_NAMES).to_arrow()
            return list(rows["name"].to_pylist())

        return list(filter(self._is_object, self._run(read())))

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        async def read() -> dict[str, bytes]:
            table, out = await self._table(machine), dict[str, bytes]()
            for batch in batches(names) if table is not None else ():
                found = table.query().where(_one_of(batch)).to_batches(max_batch_length=AT_ONCE)  # type: ignore[union-attr]
                async for rows in await found:
                    data = (one[: self._max_bytes] for one in rows["data"].to_pylist())
                    out.update(zip(rows["name"].to_pylist(), data, strict=True))
            return out

        return dict(self._run(read()))

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        """Add objects in one commit; remove others' bytes in a second."""

        async def change() -> None:
            self._machines.add(machine)
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
        self._tables.pop(machine, None)
        self._machines.discard(machine)
        self._run(self._connection.drop_table(PREFIX + machine, ignore_missing=True))

    def purge(self) -> bool:
        return True  # old versions go with each change

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
        if machine not in self._machines:
            return None
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
            raise ShareError(self._told("timed out")) from bad
        except FAILURES as bad:
            raise ShareError(self._told(str(bad))) from bad


def _one_of(names: Sequence[str]) -> str:
    return "name IN (%s)" % ", ".join("'%s'" % name.replace("'", "''") for name in names)
