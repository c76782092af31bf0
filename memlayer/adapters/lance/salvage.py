"""Salvage of a damaged table: copy readable rows, set files aside."""

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from memlayer.adapters.lance.failures import FAILURES, failing, trouble_of
from memlayer.adapters.lance.schema import schema_of
from memlayer.adapters.lance.table import LanceTable, LoopThread, fsync_path
from memlayer.kinds import Category
from memlayer.model import FROM_INDEX, Chunk, Memory, citation_of, memory_key, replace
from memlayer.ports import Damage
from memlayer.records import small_files

ASIDE = "damaged"
NOTES = "damage.json"
MAGIC = b"LANC"  # the last bytes of every LanceDB file
ROWS_AT_ONCE = 2048
_NEW = ".salvage"

Connect = Callable[[Path], Any]  # a folder of tables -> a LanceDB connection
Take = Callable[[Sequence[int]], Any]  # offsets -> Arrow rows


def damage_of(folder: Path) -> list[Damage]:
    """Read the notes of damage not repaired since."""
    aside = str(folder / ASIDE) if (folder / ASIDE).exists() else ""
    try:
        return [replace(note, aside=aside) for note in small_files.load(str(folder / NOTES), list[Damage])]
    except FileNotFoundError:
        return []
    except (OSError, ValueError):
        return [Damage(0, "?", f"{NOTES} itself cannot be read", False, aside)]


def note_damage(folder: Path, table: str, says: str, *, is_minor: bool = False, brought_back: int = 0) -> None:
    """Add a note of damage, durably. Raises StoreError."""
    at_ms = time.time_ns() // 1_000_000
    _write_notes(folder, [*damage_of(folder), Damage(at_ms, table, says, is_minor, brought_back=brought_back)])


def amend_damage(folder: Path, table: str, says: str, brought_back: int, in_doubt: Sequence[str]) -> None:
    """Amend the last note on a table. Raises StoreError."""
    of_table = [note for note in damage_of(folder) if note.table == table]
    *others, last = of_table or [Damage(time.time_ns() // 1_000_000, table, "it was made anew", False)]
    kept = [note for note in damage_of(folder) if note.table != table]
    amended = replace(
        last, says=f"{last.says}; {says}", is_minor=False, brought_back=last.brought_back + brought_back,
        in_doubt=(*last.in_doubt, *in_doubt),
    )  # fmt: skip
    _write_notes(folder, [*kept, *others, amended])


def _write_notes(folder: Path, notes: Sequence[Damage]) -> None:
    with failing(f"{NOTES} cannot be written"):
        small_files.write(str(folder / NOTES), notes)


def clear_damage(folder: Path) -> None:
    """Remove the notes, not the files set aside. Raises StoreError."""
    with failing(f"{NOTES} cannot be removed"):
        (folder / NOTES).unlink(missing_ok=True)
        fsync_path(folder)


def drop_aside(folder: Path) -> None:
    """Remove the files set aside. Raises StoreError."""
    with failing(f"{folder / ASIDE} cannot be removed"):
        if (folder / ASIDE).exists():
            shutil.rmtree(folder / ASIDE)


def is_whole(manifest: Path) -> bool:
    """False for a manifest that was cut short: LanceDB panics over it."""
    try:
        with manifest.open("rb") as file:
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.read() == MAGIC
    except OSError as bad:
        if trouble_of(bad):
            raise
        return False


def lost_versions(path: Path, newest: Path) -> int:
    """Count the versions that LanceDB's hint knows beyond the newest manifest."""
    try:
        hint = json.loads((path / "_versions" / "latest_version_hint.json").read_bytes())["version"]
        return max(0, int(hint) - (2**64 - 1 - int(newest.stem)))
    except (OSError, ValueError, KeyError, TypeError):
        return 0


def set_aside(folder: Path, path: Path) -> None:
    """Move a table's folder aside, unchanged. Raises StoreError."""
    home = folder / ASIDE / str(time.time_ns() // 1_000_000)
    with failing(f"{path.name} cannot be set aside"):
        home.mkdir(mode=0o700, parents=True)
        os.rename(path, home / path.name)
        for changed in (home, home.parent, folder):
            fsync_path(changed)


def aside_copies(folder: Path, name: str) -> list[Path]:
    """List the set-aside folders of a table, newest first."""
    return sorted((path.parent for path in (folder / ASIDE).glob(f"*/{name}.lance")), reverse=True)


def salvage(folder: Path, name: str, loop: LoopThread, connect: Connect) -> tuple[int, int, set[str]]:
    """Build the table anew from all copies set aside.

    Returns (rows saved, rows known to be lost, ids of rows of an older version). It appears in the store whole or not
    at all. A crash on the way leaves the copies, and it is done again. Raises StoreError.
    """
    new = folder / _NEW
    with failing(f"table {name} cannot be salvaged", "is there space?"):
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        connection = connect(new)
        inner = loop.run(connection.create_table(name, schema=schema_of(name, 0)))
        table = LanceTable(name, inner, loop, new / f"{name}.lance")
        seen: set[str] = set()
        older: set[str] = set()
        lost = 0
        for copy in aside_copies(folder, name):
            lost = max(lost, _copy(copy, loop, connect, table, seen, older))
        connection.close()
        os.rename(new / f"{name}.lance", folder / f"{name}.lance")
        fsync_path(folder)
        new.rmdir()
    return len(seen), lost, older


def _copy(copy: Path, loop: LoopThread, connect: Connect, into: LanceTable, seen: set[str], older: set[str]) -> int:
    """Copy a damaged copy's readable rows. Return the number lost.

    Newest version first. Adds the ids of copied rows to `seen`, and to `older` those that the newest version does not
    vouch for.
    """
    is_first = not seen
    versions = copy / f"{into.name}.lance" / "_versions"
    connection = connect(copy)
    missing = 0
    is_newest = True
    for manifest in sorted(versions.glob("*.manifest")):
        if not is_whole(manifest):
            os.rename(manifest, manifest.with_name(manifest.name + ".torn"))
            continue
        try:
            table = loop.run(connection.open_table(into.name))
            if not is_newest:
                loop.run(table.checkout(2**64 - 1 - int(manifest.stem)))
            total = loop.run(table.count_rows())
        except FAILURES as bad:
            if trouble_of(bad):
                raise
            continue
        take = _take_from(table, loop, into)
        before = set(seen)
        readable = 0
        for rows in readable_rows(take, 0, total):
            ids = rows.column("id").to_pylist()
            readable += len(ids)
            into.add(rows.take(pa.array([index for index, row_id in enumerate(ids) if row_id not in seen], pa.int64())))
            seen.update(ids)
        if not (is_newest and is_first):
            older |= seen - before
        missing = total - readable if is_newest else max(0, missing - (len(seen) - len(before)))
        is_newest = False
        if not missing:
            break  # older versions hold nothing more, but rows forgotten since
    connection.close()
    return missing


def _take_from(table: Any, loop: LoopThread, like: LanceTable) -> Take:
    names = loop.run(like.inner.schema()).names

    async def read(offsets: Sequence[int]) -> Any:
        return await table.take_offsets(list(offsets)).to_arrow()

    return lambda offsets: loop.run(read(offsets)).select(names)


def readable_rows(take: Take, start: int, end: int) -> Iterator[Any]:
    """Yield the readable rows between two offsets; unreadable: by halves."""
    for at in range(start, end, ROWS_AT_ONCE):
        yield from _halves(take, at, min(end, at + ROWS_AT_ONCE))


def _halves(take: Take, start: int, end: int) -> Iterator[Any]:
    try:
        rows = take(range(start, end))
    except FAILURES as bad:
        if trouble_of(bad):
            raise
        if end - start > 1:
            middle = (start + end) // 2
            yield from _halves(take, start, middle)
            yield from _halves(take, middle, end)
        return
    yield rows


def memory_of(pieces: Sequence[Chunk]) -> Memory:
    """Rebuild a lost memory from its chunks, as far as possible."""
    first = pieces[0]
    return Memory(
        id=first.memory_id,
        key=memory_key(first.category, first.memory_id, first.at_ms),
        citation=citation_of(first.memory_id),
        category=first.category,
        kind=first.role,
        text=text_of(pieces),
        importance=first.importance,
        project_id=first.project_id,
        session_id=first.session_id,
        prompt_id=first.prompt_id,
        source_ids=(first.event_id,) if first.event_id else (),
        at_ms=first.at_ms,
        pinned=first.category != Category.CONVERSATION and first.importance >= 1.0,
        rules=FROM_INDEX,
    )


def text_of(pieces: Sequence[Chunk]) -> str:
    """Join the text of a memory's chunks, which overlap."""
    text, end = "", 0
    for piece in pieces:
        text += piece.text[max(0, end - piece.start) :]
        end = max(end, piece.end)
    return text
