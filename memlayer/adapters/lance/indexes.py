"""Indexes of each table, their upkeep, and statistics."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pyarrow.compute as pc
from lancedb.index import FTS, Bitmap, BTree, IvfRq

from memlayer.adapters.lance.failures import FAILURES
from memlayer.adapters.lance.schema import CHUNKS, EVENTS, MEMORIES, SCHEMA_VERSION, USAGES, VECTOR, differs
from memlayer.adapters.lance.table import LanceTable, match_query
from memlayer.kinds import Category
from memlayer.ports import StoreStats
from memlayer.wire.upkeep import TableState

TERMS = "terms"

# Terms arrive split, folded and stemmed (text.terms), separated by blanks: the tokenizer must change nothing more.
FULL_TEXT = FTS(
    base_tokenizer="whitespace",
    max_token_length=None,
    lower_case=False,
    stem=False,
    remove_stop_words=False,
    ascii_folding=False,
    with_position=False,
)

INDEXES: Mapping[str, Mapping[str, BTree | Bitmap | FTS]] = {
    EVENTS: {"id": BTree(), "session_id": BTree(), "prompt_id": BTree(), "project_id": Bitmap()},
    MEMORIES: {"id": BTree(), "session_id": BTree(), "citation": BTree(), "project_id": Bitmap()},
    CHUNKS: {
        "id": BTree(),
        "memory_id": BTree(),
        "session_id": BTree(),
        "project_id": Bitmap(),
        "model": Bitmap(),
        TERMS: FULL_TEXT,
    },
    USAGES: {"id": BTree(), "memory_id": BTree(), "session_id": BTree()},
}

# Beyond these a query visibly slows down: each fragment costs it about 0.1 ms, each row that the full-text index
# does not know yet about 4 microseconds, and each version makes the next write slower.
MAX_FRAGMENTS = 32
MAX_VERSIONS = 64
MAX_UNINDEXED_ROWS = 512

# Searches that memory does not serve (all projects at once, or a project too large for it) scan all vectors: 1 to 2 ms
# per thousand. From here on an approximate index pays. Its candidates are scored exactly again.
MIN_ROWS_FOR_VECTOR_INDEX = 100_000
VECTOR_INDEX = IvfRq(distance_type="dot")

# LanceDB warns about a zero age, and warnings cannot be silenced for one thread alone.
EVERY_OLD_VERSION = timedelta(milliseconds=1)


def index_name(column: str) -> str:
    return f"{column}_idx"


async def _columns_indexed(table: LanceTable) -> set[str]:
    return {name for config in await table.inner.list_indices() for name in config.columns}


async def _create(table: LanceTable, columns: Iterable[str]) -> None:
    for column in columns:
        config = VECTOR_INDEX if column == VECTOR else INDEXES[table.name][column]
        await table.inner.create_index(column, config=config, name=index_name(column), replace=True)


def create_missing_indexes(table: LanceTable) -> None:
    """Create missing indexes. Cheap on new tables, resumes after a crash.

    Without the full-text index LanceDB would search the `terms` column all the same, but split and stem it its own way.
    """

    async def create() -> None:
        there = await _columns_indexed(table)
        await _create(table, [column for column in INDEXES[table.name] if column not in there])

    table.write("create its indexes", create())


def recreate_broken_indexes(table: LanceTable) -> list[str]:
    """Query each index; recreate and return the columns of those that fail."""

    async def broken() -> list[str]:
        failing = []
        for column in INDEXES[table.name]:
            try:
                if column == TERMS:
                    query = table.inner.query().nearest_to_text(match_query("x", column)).select(["id", "_score"])
                    await query.limit(1).to_arrow()
                else:
                    await table.inner.query().where(f"{column} = 'x'").select(["id"]).limit(1).to_arrow()
            except FAILURES:
                failing.append(column)
        return failing

    with table.gate.reading():
        columns = table.loop.run(broken())
    if columns:
        table.write("rebuild its broken indexes", _create(table, columns))
    return columns


def recreate_indexes(table: LanceTable) -> None:
    """Build all indexes anew: an index keeps values of deleted rows."""

    async def recreate() -> None:
        await _create(table, [*INDEXES[table.name], *({VECTOR} & await _columns_indexed(table))])

    table.write("rebuild its indexes", recreate())


def create_vector_index_if_due(table: LanceTable) -> None:
    """Index the vectors of a large chunks table; others are searched exactly."""

    async def create() -> None:
        is_large = await table.inner.count_rows("model != ''") >= MIN_ROWS_FOR_VECTOR_INDEX
        if is_large and VECTOR not in await _columns_indexed(table):
            await _create(table, [VECTOR])

    table.write("index its vectors", create())


async def _figures(table: LanceTable) -> dict[str, Any]:
    return cast(dict[str, Any], await table.inner.stats())  # a class in the stubs only


def is_upkeep_due(table: LanceTable) -> bool:
    """True if compaction would pay."""

    async def due() -> bool:
        if (await _figures(table))["fragment_stats"]["num_fragments"] > MAX_FRAGMENTS:
            return True
        if table.name != CHUNKS:
            return False
        statistics = await table.inner.index_stats(index_name(TERMS))
        return statistics is not None and statistics.num_unindexed_rows > MAX_UNINDEXED_ROWS

    if table.versions_on_disk() > MAX_VERSIONS:
        return True
    with table.gate.reading(), table.translated("read its statistics"):
        return table.loop.run(due())


def compact(table: LanceTable) -> None:
    """Merge fragments, update the indexes, drop old versions, while readers go on."""
    table.write("compact", table.inner.optimize())
    if table.name == CHUNKS:
        create_vector_index_if_due(table)
    drop_old_versions(table)


def drop_old_versions(table: LanceTable) -> None:
    """Delete all files unused by the newest version; readers wait meanwhile."""
    with table.gate.removing():
        _clean_up(table)


def erase_old_versions(table: LanceTable) -> None:
    """Delete all versions but the newest, with files, whatever the clock.

    LanceDB goes by a version's age: after the clock is set back, an old version looks young and keeps its files.
    """
    drop_old_versions(table)
    with table.gate.removing():
        if table.remove_old_manifests():
            _clean_up(table)


def _clean_up(table: LanceTable) -> None:
    dropping = table.inner.optimize(cleanup_older_than=EVERY_OLD_VERSION, delete_unverified=True)
    table.write("drop old versions", dropping)


def table_state(table: LanceTable) -> TableState:
    """Count rows, fragments, versions and unindexed rows (of the worst index)."""

    async def state() -> TableState:
        unindexed = 0
        names = []
        for config in await table.inner.list_indices():
            names.append(config.name)
            statistics = await table.inner.index_stats(config.name)
            if statistics is not None:
                unindexed = max(unindexed, statistics.num_unindexed_rows)
        figures = await _figures(table)
        fragments = figures["fragment_stats"]["num_fragments"]
        return TableState(figures["num_rows"], fragments, table.versions_on_disk(), unindexed, sorted(names))

    with table.gate.reading(), table.translated("read its statistics"):
        return table.loop.run(state())


def stats_of(tables: Mapping[str, LanceTable], folder: Path) -> StoreStats:
    """Count the rows, reading a few short columns, no texts."""
    scopes = tables[EVENTS].select(["project_id"])
    kept = tables[MEMORIES].select(["category", "kind", "project_id", "ended_because", "rules"])
    holds = pc.equal(kept.column("ended_because"), "")
    core = kept.filter(pc.and_(pc.equal(kept.column("category"), Category.CORE), holds))
    turns = kept.filter(pc.equal(kept.column("category"), Category.CONVERSATION))
    return StoreStats(
        events=scopes.num_rows,
        memories=kept.num_rows,
        chunks=tables[CHUNKS].count(),
        projects=pc.count_distinct(scopes.column("project_id")).as_py(),
        embedded=tables[CHUNKS].count(differs("model", "")),
        disk_bytes=_disk_bytes(folder),
        schema_version=SCHEMA_VERSION,
        tables={name: table_state(table) for name, table in tables.items()},
        by_category=_counts(kept.column("category")),
        by_project=_counts(kept.column("project_id")),
        core_by_kind=_counts(core.column("kind")),
        turns_by_rules=_counts(turns.column("rules")),
        used_ever=_counts(tables[USAGES].select(["how"]).column("how")),
        ended_count=kept.num_rows - (pc.sum(holds).as_py() or 0),
    )


def _counts(column: Any) -> dict[str, int]:
    """Count each value of a column."""
    return {str(entry["values"]): entry["counts"] for entry in pc.value_counts(column).to_pylist()}


def _disk_bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except FileNotFoundError:  # upkeep drops files meanwhile
            continue
    return total
