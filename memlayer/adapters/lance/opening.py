"""Open the store's folder: create, migrate, refuse newer schemas, mend torn tables."""

import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import lancedb
import pyarrow as pa
from lancedb import Session
from lancedb.db import AsyncConnection
from lancedb.table import AsyncTable

from memlayer.adapters.lance.failures import FAILURES, failing, first_line, plain_reason, remedy, trouble_of
from memlayer.adapters.lance.indexes import create_missing_indexes, recreate_broken_indexes
from memlayer.adapters.lance.salvage import (
    amend_damage,
    aside_copies,
    is_whole,
    lost_versions,
    memory_of,
    note_damage,
    salvage,
    set_aside,
    text_of,
)
from memlayer.adapters.lance.schema import (
    CHUNKS,
    COLUMNS,
    EVENTS,
    MEMORIES,
    SCHEMA_VERSION,
    TABLES,
    VECTOR,
    chunks_from,
    rows_from,
    rows_to_arrow,
    schema_of,
    vector_field,
)
from memlayer.adapters.lance.table import LanceTable, LoopThread, fsync_path
from memlayer.edge.counting import counted
from memlayer.errors import StoreError
from memlayer.kinds import Category, Ended
from memlayer.model import Chunk, Memory, replace
from memlayer.records import schema5, small_files

PINNED = 1.0  # the importance of pinned memories in the index, see keep.indexer
# LanceDB's own caches. Its defaults are 6 GB and 1 GB.
INDEX_CACHE_BYTES = 32 * 2**20
METADATA_CACHE_BYTES = 16 * 2**20
SCHEMA_FILE = "schema.json"
Tables = dict[str, LanceTable]
log = logging.getLogger(__name__)
# (version, function): brings the tables of the version before to this one. Each must bear being run twice, since a
# crash can come between the change and the note of it in schema.json.
MIGRATIONS: list[tuple[int, Callable[[Tables], None]]] = [(6, lambda tables: say_authors_and_ends(tables))]
MIGRATED_AT_ONCE = 20_000  # rows
_ADDED = {"by": "''", "ended_because": "''", "ended_ms": "CAST(0 AS BIGINT)", "rules": "CAST(0 AS BIGINT)"}


class SetBack(NamedTuple):
    """Damage that set a table back. ids: of older rows; None: all."""

    is_so: bool = False
    ids: frozenset[str] | None = None


@dataclass(frozen=True)
class Reconciled:
    """Rows to write, number restored, citations of memories in doubt."""

    rows: tuple[Memory, ...] = ()
    brought_back: int = 0
    in_doubt: tuple[str, ...] = ()


def put_right(folder: Path, memories: LanceTable, chunks: LanceTable | None, set_back: Collection[str] | None) -> None:
    """Write the rows that `reconcile` finds, and note the memories in doubt.

    chunks: None where they are damaged as well. Raises StoreError.
    """
    rows = rows_from(memories, Memory)
    if chunks is None:
        reconciled = unknown(rows, set_back)
    else:
        reconciled = reconcile(rows, chunks_from(chunks.select(COLUMNS[CHUNKS])), set_back)
    memories.upsert(rows_to_arrow(reconciled.rows, schema_of(MEMORIES, 0)))
    if reconciled.brought_back or reconciled.in_doubt:
        says = counted(reconciled.brought_back, "memory", "are as the search index has it")
        if reconciled.in_doubt:
            says += f", {len(reconciled.in_doubt)} may lack the last change made to them"
        amend_damage(folder, MEMORIES, says, reconciled.brought_back, reconciled.in_doubt)


def reconcile(memories: Sequence[Memory], chunks: Iterable[Chunk], set_back: Collection[str] | None) -> Reconciled:
    """Return the rows that the index knows better.

    set_back: ids of the rows of an older version. None: the table as a whole is older. The index holds the current
    memories, with text and pin. A memory that it lacks was superseded. Its successor is known where just one memory
    came back that could have replaced it.
    """
    kept = (chunk for chunk in chunks if chunk.category != Category.DAILY)
    ordered = sorted(kept, key=lambda chunk: (chunk.memory_id, chunk.start))
    indexed = {key: list(group) for key, group in groupby(ordered, key=lambda chunk: chunk.memory_id)}
    known = {memory.id for memory in memories}
    lost = [memory_of(pieces) for key, pieces in indexed.items() if key not in known]
    changed: list[Memory] = []
    in_doubt: list[str] = []
    for row in memories:
        if row.category == Category.DAILY or not row.holds or (set_back is not None and row.id not in set_back):
            continue
        if row.id in indexed:
            newest = _as_indexed(row, indexed[row.id])
            changed += [newest] if newest != row else []
        elif row.category != Category.CONVERSATION and (set_back is not None or lost):
            changed.append(_replaced(row, lost))
            in_doubt.append(row.citation)
    return Reconciled((*lost, *changed), len(lost) + len(changed), tuple(in_doubt))


def unknown(memories: Iterable[Memory], set_back: Collection[str] | None) -> Reconciled:
    """Reconcile without an index: rows of older versions are in doubt."""
    ids = set_back or ()
    older = [memory for memory in memories if memory.id in ids and memory.category != Category.CONVERSATION]
    return Reconciled(in_doubt=tuple(memory.citation for memory in older))


def _as_indexed(row: Memory, pieces: Sequence[Chunk]) -> Memory:
    """Return the row as it was when the index was written."""
    pinned = pieces[0].importance >= PINNED if row.importance < PINNED else row.pinned
    indexed = replace(row, pinned=pinned)
    if row.category == Category.CONVERSATION:  # its text in the index is that of its events
        return indexed
    text = text_of(pieces)
    if text.split() != row.text.split():
        indexed = replace(indexed, text=text, at_ms=pieces[0].at_ms, session_id=pieces[0].session_id)
    return indexed


def _replaced(row: Memory, lost: Sequence[Memory]) -> Memory:
    """Return the row replaced by the only newer restored memory, else lost."""
    newer = [memory for memory in lost if memory.project_id == row.project_id and memory.category == row.category]
    newer = [memory for memory in newer if memory.at_ms >= row.at_ms]
    if len(newer) == 1:
        return row.ended(Ended.REPLACED, newer[0].at_ms, newer[0].id)
    return row.ended(Ended.LOST, row.at_ms)


def open_connection(folder: Path, loop: LoopThread) -> AsyncConnection:
    """Create the folder if need be (0700) and connect. Raises StoreError."""
    with failing("the store folder cannot be used", "check its permissions"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        fsync_path(folder.parent)
        session = Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
        return loop.run(lancedb.connect_async(str(folder), session=session))


def reconnect(folder: Path, tables: Tables, loop: LoopThread) -> AsyncConnection:
    """Return a new connection behind the same tables.

    LanceDB's caches hold dropped files open. They go with the old connection, which the caller closes. Raises
    StoreError.
    """
    connection = open_connection(folder, loop)
    for table in tables.values():
        with table.gate.removing(), table.translated("open it anew"):
            table.inner = loop.run(connection.open_table(table.name))
    return connection


def reopen(folder: Path, tables: Tables, dimensions: int, loop: LoopThread) -> AsyncConnection:
    """Open the store again behind the same tables, as after a restart.

    Unreadable data is noted, the readable rest goes on. Returns the new connection. The caller closes the old one.
    Raises StoreError.
    """
    connection = open_connection(folder, loop)
    for name, opened in open_tables(connection, folder, dimensions, loop).items():
        with tables[name].gate.removing():
            tables[name].reopen(opened)
    return connection


def open_tables(connection: AsyncConnection, folder: Path, dimensions: int, loop: LoopThread) -> Tables:
    """Open all tables, with their indexes, at SCHEMA_VERSION. Raises StoreError.

    Damage to a table of record is noted (salvage.damage_of), and the readable rows go on. The chunks are derived and
    come back empty.
    """
    version = read_schema_version(folder)
    set_back: dict[str, SetBack] = {}
    tables = {}
    for name in TABLES:
        with failing(f"table {name} cannot be opened", remedy(name)):
            tables[name], set_back[name] = _open_table(
                connection, folder, name, dimensions, loop, was_there=version > 0
            )
    fit_dimensions(tables[CHUNKS], dimensions)
    for number, migrate in MIGRATIONS:
        if 0 < version < number:
            migrate(tables)
            write_schema_version(folder, number)
    for table in tables.values():
        complete_table(table)
    if set_back[MEMORIES].is_so:
        chunks = None if set_back[CHUNKS].is_so else tables[CHUNKS]
        put_right(folder, tables[MEMORIES], chunks, set_back[MEMORIES].ids)
    if version != SCHEMA_VERSION:
        write_schema_version(folder, SCHEMA_VERSION)
    return tables


def read_schema_version(folder: Path) -> int:
    """Read the schema version; 0: never completed. Raises StoreError."""
    path = folder / SCHEMA_FILE
    try:
        version = small_files.load(str(path), dict[str, int])["version"]
    except FileNotFoundError:
        return 0
    except (OSError, ValueError, KeyError) as error:
        reason = trouble_of(error) or f"{first_line(error)}; restore it from a backup"
        raise StoreError(f"{SCHEMA_FILE} cannot be read: {reason}") from error
    if version < schema5.VERSION:
        raise StoreError(f"{SCHEMA_FILE} names no version that is known; restore it from a backup")
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"the store was written by a newer memlayer (schema {version}, this one knows {SCHEMA_VERSION}); "
            "update the plugin"
        )
    return version


def write_schema_version(folder: Path, version: int) -> None:
    """Write the schema version durably, all or nothing. Raises StoreError."""
    with failing(f"{SCHEMA_FILE} cannot be written"):
        small_files.write(str(folder / SCHEMA_FILE), {"version": version})


def create_table(connection: AsyncConnection, folder: Path, name: str, dimensions: int, loop: LoopThread) -> LanceTable:
    """Create an empty table in place of any there. Raises StoreError."""

    async def create() -> AsyncTable:
        return await connection.create_table(name, schema=schema_of(name, dimensions))

    path = _table_folder(folder, name)
    with failing(f"table {name} cannot be created", "check space and permissions"):
        if path.exists():
            shutil.rmtree(path)
        return LanceTable(name, loop.run(create()), loop, path)


def complete_table(table: LanceTable) -> None:
    """Declare the key, create missing indexes, and make broken ones anew."""
    _declare_key(table)
    create_missing_indexes(table)
    recreate_broken_indexes(table)


def _table_folder(folder: Path, name: str) -> Path:
    return folder / f"{name}.lance"


def _open_table(
    connection: AsyncConnection, folder: Path, name: str, dimensions: int, loop: LoopThread, *, was_there: bool
) -> tuple[LanceTable, SetBack]:
    """Open a table and its set-back. was_there: it was once complete."""
    path = _table_folder(folder, name)
    data = path / "data"
    has_rows = was_there or (data.is_dir() and any(data.iterdir()) and bool(_versions(path)))
    failure = "its versions are gone"
    if _versions(path):
        try:
            return _open_newest_whole(connection, folder, name, loop)
        except StoreError as error:
            failure = str(error)
    elif not path.exists():
        failure = "its folder is gone"
    if name == CHUNKS or not (has_rows or aside_copies(folder, name)):
        # Derived, or left by a creation that a crash cut off.
        if was_there:
            note_damage(folder, name, failure, is_minor=True)
        return create_table(connection, folder, name, dimensions, loop), SetBack(True)
    return _salvaged(connection, folder, name, loop, failure)


def _salvaged(
    connection: AsyncConnection, folder: Path, name: str, loop: LoopThread, failure: str
) -> tuple[LanceTable, SetBack]:
    """Set a damaged table aside; copy its readable rows to another."""
    path = _table_folder(folder, name)
    if path.exists():
        set_aside(folder, path)
    saved, lost, older = salvage(folder, name, loop, lambda at: loop.run(lancedb.connect_async(str(at))))
    says = counted(saved, "row", "are saved") + (f", {len(older)} of them from an older version" if older else "")
    says += f", {lost} cannot be read" if lost else ""
    note_damage(folder, name, f"{says}: {failure}", brought_back=len(older))
    with failing(f"table {name} cannot be opened", remedy(name)):
        table = LanceTable(name, loop.run(connection.open_table(name)), loop, path)
    return table, SetBack(True, frozenset(older))


def _versions(path: Path) -> list[Path]:
    """List manifests, newest first: names count down from 2^64. Raises OSError."""
    folder = path / "_versions"
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".manifest")]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _open_newest_whole(
    connection: AsyncConnection, folder: Path, name: str, loop: LoopThread
) -> tuple[LanceTable, SetBack]:
    """Open the newest readable version. Return it and its set-back.

    After a power failure the version written last may be torn. It was never acknowledged (a write returns only once
    it is flushed), so going back by one version loses nothing that the spool does not still hold. More than one step
    back would: that is damage. Raises StoreError then.
    """
    path = _table_folder(folder, name)
    manifests = _versions(path)
    lost = lost_versions(path, manifests[0])

    async def open_and_probe() -> AsyncTable:
        table = await connection.open_table(name)
        await table.query().select(["id"]).to_arrow()
        return table

    failure = "its newest version is torn"
    if is_whole(manifests[0]):
        try:
            table = LanceTable(name, loop.run(open_and_probe()), loop, path)
        except FAILURES as error:
            if trouble_of(error):
                raise
            log.warning("table %s does not open: %s", name, first_line(error))
            failure = plain_reason(error)
        else:
            if lost:
                note_damage(folder, name, f"its {lost} newest versions are gone", is_minor=lost == 1 or name == CHUNKS)
            return table, SetBack(lost > 0)
    if len(manifests) < 2 or not is_whole(manifests[1]):
        raise StoreError(failure)
    aside = manifests[0].with_name(manifests[0].name + ".torn")
    os.replace(manifests[0], aside)
    try:
        table = LanceTable(name, loop.run(open_and_probe()), loop, path)
    except FAILURES as error:
        os.replace(aside, manifests[0])
        if trouble_of(error):
            raise
        raise StoreError(failure) from error
    note_damage(folder, name, f"{failure}: the version before it is used", is_minor=True)
    return table, SetBack(True)


def say_authors_and_ends(tables: Tables) -> None:
    """Give memories of schema 5 authors and ends; twice is once."""
    table, models = tables[MEMORIES], _remembered_by_models(tables[EVENTS])

    async def add() -> None:
        there = (await table.inner.schema()).names
        added = {name: value for name, value in _ADDED.items() if name not in there}
        if added:
            await table.inner.add_columns(added)

    async def drop() -> None:
        gone = [name for name in schema5.GONE if name in (await table.inner.schema()).names]
        if gone:
            await table.inner.drop_columns(gone)

    table.write("add its newer columns", add())
    schema = table.loop.run(table.inner.schema())
    rows = table.select(schema.names).to_pylist()
    fresh = [
        {**row, **schema5.upgraded(row, is_models=not models.isdisjoint(row["source_ids"]))}
        for row in rows
        if schema5.GONE[0] in row
    ]
    for start in range(0, len(fresh), MIGRATED_AT_ONCE):
        table.upsert(pa.Table.from_pylist(fresh[start : start + MIGRATED_AT_ONCE], schema=schema))
    table.write("drop its older columns", drop())


def _remembered_by_models(events: LanceTable) -> set[str]:
    """Return the ids of events by which a model asked to remember."""
    rows = events.select(["id"], "kind = 'remember' AND detail = 'model'")
    return set(rows.column("id").to_pylist())


def _declare_key(table: LanceTable) -> None:
    """Declare id as the key, or two merges would leave duplicates."""

    async def declare() -> None:
        metadata = (await table.inner.schema()).field("id").metadata or {}
        if not any(b"primary-key" in name for name in metadata):
            await table.inner.set_unenforced_primary_key(["id"])

    table.write("declare its key", declare())


def stored_dimensions(table: LanceTable) -> int:
    """Return the length of the table's vectors."""
    with table.translated("read its schema"):
        size: int = table.loop.run(table.inner.schema()).field(VECTOR).type.list_size
        return size


def fit_dimensions(table: LanceTable, dimensions: int) -> None:
    """Give the vector column the model's length; drop other vectors only."""

    async def fit() -> None:
        schema = await table.inner.schema()
        names = schema.names
        if VECTOR in names:
            if dimensions == 0 or schema.field(VECTOR).type.list_size == dimensions:
                return
            await table.inner.drop_columns([VECTOR])
        await table.inner.update({"model": ""})
        await table.inner.add_columns(pa.schema([vector_field(dimensions)]))

    table.write("change the length of its vectors", fit())
