"""The pages of a project, and the record of each page's revisions.

An editor may still have an older revision open. The record of a revision is on disk before the file is. One record a
file: a project has one for each day of its life, and a change touches one or two.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from memlayer.edge.home import paths
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import UserError
from memlayer.kinds import Category, Kind
from memlayer.memory_files.folders import Stamp
from memlayer.memory_files.markdown import Line, by_kind, digest, heading_of, normalized, render, with_headline
from memlayer.memory_files.merge import FileEntry
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records import small_files

CORE_PAGE = "MEMORY.md"
DAILY_FOLDER = "memory"
EVERYTHING = 10_000_000
RECENT = 300  # newest memories. Enough for the pages that a few turns can change
_DAY_PAGE = re.compile(DAILY_FOLDER + r"/(\d{4}-\d\d-\d\d)\.md$")

KEPT_REVISIONS = 64
PLACE = "place.json"


@dataclass(frozen=True)
class Page:
    """One file. data: empty without memories."""

    name: str
    data: bytes
    revision: str
    entries: tuple[FileEntry, ...]


def day_of(name: str) -> str:
    """Return the day (2026-11-19) of a page; "" for any other file."""
    match = _DAY_PAGE.match(name)
    if match is None:
        return ""
    try:
        datetime.date.fromisoformat(match.group(1))
    except ValueError:
        return ""
    return match.group(1)


def page_of_day(day: str) -> str:
    """Return the name of a day's page."""
    return "%s/%s.md" % (DAILY_FOLDER, day)


def noon_ms(day: str) -> int:
    """Return the Unix time in ms of a day's local noon."""
    return int(time.mktime((*map(int, day.split("-")), 12, 0, 0, 0, 0, -1)) * 1000)  # type: ignore[arg-type]


def local_day(at_ms: int) -> str:
    """Return the local day of a moment."""
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def current(store: Store, project_id: str, name: str) -> list[Memory]:
    """Return the memories of a page, in its order."""
    if name == CORE_PAGE:
        memories = store.memories(
            MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=EVERYTHING)
        )
        return sorted(memories, key=lambda memory: (not memory.pinned, -memory.at_ms, memory.id))
    return [memory for memory in _daily(store, project_id, EVERYTHING) if local_day(memory.at_ms) == day_of(name)]


def pages(store: Store, project_id: str, project_name: str, *, recent: bool = False) -> dict[str, Page]:
    """Return pages by name. recent: only those with the newest memories."""
    core = current(store, project_id, CORE_PAGE)
    kinds = by_kind(memory.kind or Kind.NOTE for memory in core)
    sections = [(heading_of(kind), [memory for memory in core if (memory.kind or Kind.NOTE) == kind]) for kind in kinds]
    out = {CORE_PAGE: _page(CORE_PAGE, "Memory of " + project_name, sections)}
    limit = RECENT if recent else EVERYTHING
    daily = _daily(store, project_id, limit)
    days: dict[str, list[Memory]] = {}
    for memory in daily:
        days.setdefault(local_day(memory.at_ms), []).append(memory)
    if recent and len(daily) >= limit:
        del days[min(days)]  # it may go on beyond the limit
    for day, memories in days.items():
        out[page_of_day(day)] = _page(page_of_day(day), "%s, %s" % (day, project_name), [("", memories)])
    return out


def _daily(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return daily entries and a user's own notes, oldest first."""
    memories = store.memories(MemoryQuery(project_id=project_id, category=Category.DAILY, is_current=True, limit=limit))
    memories += store.memories(
        MemoryQuery(project_id=project_id, category=Category.CUSTOM, kind=Kind.NOTE, is_current=True, limit=limit)
    )
    memories.sort(key=lambda memory: (memory.at_ms, memory.id), reverse=True)
    return memories[:limit][::-1]


def _page(name: str, title: str, sections: Iterable[tuple[str, list[Memory]]]) -> Page:
    filled = [(heading, [memory for memory in memories if normalized(memory.text)]) for heading, memories in sections]
    is_day = name != CORE_PAGE
    lines = [(heading, [_line(memory, is_day) for memory in memories]) for heading, memories in filled if memories]
    text, revision = render(title, lines) if lines else ("", "")
    entries = tuple(entry_of(memory) for _, memories in filled for memory in memories)
    return Page(name, text.encode("utf-8", "replace"), revision, entries)


def entry_of(memory: Memory) -> FileEntry:
    """Return a memory as a page's present revision holds it."""
    return FileEntry(memory.id, memory.citation, digest(told(memory)), memory.pinned)


def told(memory: Memory) -> str:
    """Return a memory's text with its headline, as its bullet has both."""
    return with_headline(memory.text, memory.headline, memory.subject)


def _line(memory: Memory, is_day: bool) -> Line:
    at = time.localtime(memory.at_ms / 1000)
    return Line(memory.citation, time.strftime("%H:%M" if is_day else "%Y-%m-%d", at), told(memory), memory.pinned)


class Revisions(msgspec.Struct, array_like=True):
    """A memory's first and last revision in a file; 0: present."""

    memory_id: str
    citation: str
    digest: str
    pinned: bool
    first: int
    last: int = 0

    @property
    def entry(self) -> FileEntry:
        return FileEntry(self.memory_id, self.citation, self.digest, self.pinned)


@dataclass
class FileRecord:
    """The record of one file.

    read: digest of the bytes last read or written. stamp: of that moment. names: a revision's name in the file -> its
    number. removed: ids of memories that a user deleted from the file -> name of the revision they were deleted from,
    which an undo brings back. notice: a message for the user, or "".
    """

    read: str = ""
    stamp: Stamp | None = None
    revision: int = 0
    names: dict[str, int] = field(default_factory=dict)
    spans: list[Revisions] = field(default_factory=list)
    removed: dict[str, str] = field(default_factory=dict)
    notice: str = ""

    def entries_of(self, name: str) -> list[FileEntry] | None:
        """Return the entries of a revision; None when it is unknown."""
        number = self.names.get(name)
        if number is None:
            return None
        return [span.entry for span in self.spans if span.first <= number and (not span.last or number <= span.last)]

    def knows(self, citation: str, digest: str) -> bool:
        """True if some revision held a text under that citation."""
        return any((span.citation, span.digest) == (citation, digest) for span in self.spans)

    def issue(self, name: str, entries: Sequence[FileEntry]) -> None:
        """Record the file's next revision."""
        number = self.revision + 1
        staying = set(entries)
        for span in self.spans:
            if not span.last and span.entry not in staying:
                span.last = self.revision
        present = {span.entry for span in self.spans if not span.last}
        self.spans += [Revisions(*entry, first=number) for entry in entries if entry not in present]
        self.revision = number
        self.names.pop(name, None)
        self.names[name] = number
        while len(self.names) > KEPT_REVISIONS:
            del self.names[next(iter(self.names))]
        oldest = min(self.names.values())
        self.spans = [span for span in self.spans if not span.last or span.last >= oldest]
        self.removed = {key: base for key, base in self.removed.items() if base in self.names}

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Drop these memories, even that they were in the file."""
        gone = set(memory_ids)
        self.spans = [span for span in self.spans if span.memory_id not in gone]


class Book:
    """A project's records by file name (`MEMORY.md`, `memory/2026-11-19.md`) and last place."""

    def __init__(self, home: str, project_id: str) -> None:
        """Read the records. Raises UserError for an unsafe id."""
        if not is_path_part(project_id):
            raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
        self._folder = os.path.join(paths.cache(home), "files", project_id)
        self.files: dict[str, FileRecord] = {}
        self.place = ""
        self.accepted = ""  # the folder in the work tree whose files the person takes in
        noted = small_files.read(os.path.join(self._folder, PLACE), dict[str, str]) or {}
        self.place = noted.get("path", "")
        self.accepted = noted.get("accepted", self.place)
        with contextlib.suppress(OSError):
            for name in sorted(os.listdir(self._folder)):
                is_record = name.endswith(".json") and name != PLACE
                record = small_files.read(os.path.join(self._folder, name), FileRecord) if is_record else None
                if record is not None:
                    self.files[name.removesuffix(".json").replace("+", "/") + ".md"] = record

    def record(self, name: str) -> FileRecord:
        """Return the record of a file, made if missing."""
        return self.files.setdefault(name, FileRecord())

    def save(self, name: str) -> None:
        """Write one record. Raises OSError."""
        small_files.write(self._path(name), self.files[name])

    def drop(self, name: str) -> None:
        """Forget a file's record."""
        self.files.pop(name, None)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name))

    def move(self, place: str) -> None:
        """Note the files' new place. Raises OSError."""
        self._note(place, self.accepted)

    def accept(self, place: str) -> None:
        """Note that the person takes in a folder's files. Raises OSError."""
        self._note(self.place, place)

    def _note(self, place: str, accepted: str) -> None:
        self.place, self.accepted = place, accepted
        small_files.write(os.path.join(self._folder, PLACE), {"path": place, "accepted": accepted})

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name.removesuffix(".md").replace("/", "+") + ".json")
