"""Memory files: written for changed memories, read back after edits.

A project has `MEMORY.md`, its core memories, and `memory/2026-11-19.md`, the entries of that day. docs/memory.md
defines a change.
"""

import contextlib
import logging
import os
import re
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memlayer.edge.counting import counted
from memlayer.kinds import Category, Kind
from memlayer.memory_files.edits import MOST_ADDED, Edits, SavedFile
from memlayer.memory_files.extra_files import ExtraFiles
from memlayer.memory_files.folders import (
    AnchoredFolder,
    FilePlace,
    FileRules,
    NoPlainFile,
    digest_of,
    place_at,
    place_of,
    remove_empty,
)
from memlayer.memory_files.markdown import parse
from memlayer.memory_files.pages import CORE_PAGE, DAILY_FOLDER, EVERYTHING, Book, day_of, local_day, page_of_day
from memlayer.memory_files.pages import pages as pages_of
from memlayer.model import Memory
from memlayer.ports import Store
from memlayer.records.projects import Projects
from memlayer.wire.upkeep import EditCounts

_PIECE = re.compile(r":(\d+)-(\d+)$")
log = logging.getLogger(__name__)
SETTLE_S = 10.0  # for so long a file without its last line may still be in writing
ROUNDS = 3
UNFINISHED = "not read yet: its last line is missing, somebody may be writing it"
NOT_ACCEPTED = "left alone: it came with the folder. `memlayer project accept` takes it in, as notes"
PASTED_IN = (
    "left alone and not read: over %d entries are new here; for documents there is files.extra_paths" % MOST_ADDED
)
PAGES_AT_ONCE = 40  # each costs a write with fsyncs, and turns wait meanwhile


@dataclass
class MemoryFiles:
    """Memory files and extra ones, for the writer alone.

    Others use `changed` and `notices`.
    """

    home: str
    store: Store
    projects: Projects
    edits: Edits
    extra: ExtraFiles
    rules: FileRules = field(default_factory=FileRules)
    _books: dict[str, Book] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sync(self, project_id: str, *, recent: bool = False, force: bool = False) -> EditCounts:
        """Apply edits, then write memories. Idempotent. Raises StoreError or OSError.

        Of many pages the rest is written by the next call. recent: only pages with the newest memories or a user's
        changes. force: all at once, and also files of a project or a home that is switched off, for forgotten memories
        must not stay in them. left_alone() then names those not written.
        """
        book, place = self._book(project_id), self._place(project_id)
        book.place = place if self.rules.enabled else None
        book.skipped = book.skipped if place is not None else {}
        is_forced = force and bool(book.files)
        if place is None and is_forced:
            place = self._place_when_off(book)
        if place is None or not (self.rules.enabled or is_forced):
            return EditCounts()
        taken = EditCounts()
        if book.path and book.path != place.path:
            taken += self._move_out(book, place_at(self.home, book.path))
        for _ in range(ROUNDS):  # a user may save meanwhile
            applied, changed = self._read_back(book, place)
            taken += applied
            wanted = self._pages(book, changed if recent else None)
            if self._write(book, place, wanted, EVERYTHING if force else PAGES_AT_ONCE):
                break
        if taken != EditCounts():
            log.info("memory files: %d added, %d edited, %d deleted", taken.added, taken.edited, taken.removed)
        return taken

    def is_behind(self, project_id: str) -> bool:
        """True if the last sync left pages for the next one."""
        return self._book(project_id).is_behind

    def changed(self, project_id: str) -> bool:
        """True if modification times of today's files suggest an edit."""
        book = self._books.get(project_id)
        if book is None or book.place is None:
            return False
        for name in (CORE_PAGE, page_of_day(local_day(int(time.time() * 1000)))):
            with contextlib.suppress(OSError), book.opened(book.place, name) as (folder, file):
                stamp = folder.stamp(file) if folder is not None else None
                if stamp is not None and stamp != book.stamps.get(name):
                    return True
        return False

    def folder(self, project_id: str) -> str:
        """Return the folder of a project's files; "" if it has none."""
        place = self._place(project_id)
        return place.path if place is not None and self.rules.enabled else ""

    def read(self, project_id: str, name: str) -> bytes:
        """Return the bytes of a project's file, b"" for none."""
        place = self._place(project_id) if self.rules.enabled else None
        if place is not None:
            with contextlib.suppress(OSError), self._book(project_id).opened(place, name) as (folder, file):
                return (folder.read(file) if folder is not None else None) or b""
        return b""

    def paths(self, project_id: str) -> list[str]:
        """Return the paths of a project's files as last written or read."""
        folder, names = self.folder(project_id), sorted(self._book(project_id).files)
        paths = [os.path.join(folder, name) for name in names] if folder else []
        return [path for path in paths if os.path.lexists(path)]

    def notices(self) -> list[str]:
        """Return the user's notices, one line each: a file and its problem."""
        books = map(self._book, self.projects.scopes())
        own = [line for book in books for line in book.lines({**book.notices, **book.skipped})]
        return own + self.extra.notices()

    def lines(self) -> "FileLines":
        """Return a lookup of the lines that hold memories, for one request."""
        return FileLines(self, self.extra)

    def left_alone(self, project_id: str) -> list[str]:
        """Return files that the last sync skipped, with reasons, as lines."""
        book = self._book(project_id)
        return book.lines(book.skipped)

    def accept(self, project_id: str) -> bool:
        """Take in files that came with the work tree."""
        place, book = self._place(project_id), self._book(project_id)
        if place is None or not place.in_tree:
            return False
        book.accepted = place.path
        book.save()
        return True

    def _book(self, project_id: str) -> Book:
        with self._lock:
            if project_id not in self._books:
                self._books[project_id] = Book(self.home, project_id)
            return self._books[project_id]

    def _place(self, project_id: str, *, even_off: bool = False) -> FilePlace | None:
        return place_of(self.home, self.projects, project_id, self.rules, even_off=even_off)

    def _place_when_off(self, book: Book) -> FilePlace | None:
        """Return the place of a switched-off project's files, None if unsure."""
        place = self._place(book.id, even_off=True)
        if place is not None:
            return place_at(self.home, book.path) if book.path else place
        if os.path.lexists(book.path):
            book.skip(CORE_PAGE, "left alone: its folder is not the project's any more")
        return None

    def _read_back(self, book: Book, place: FilePlace) -> tuple[EditCounts, list[str]]:
        """Apply a user's changes; return (their counts, the changed files)."""
        before, book.skipped = book.skipped, {}
        saved: list[SavedFile] = []
        for below in ("", DAILY_FOLDER + "/"):
            with book.opened(place, below) as (folder, _):
                if folder is not None:
                    folder.sweep()
                    names = [below + file for file in folder.names()]
                    names = [name for name in names if name == CORE_PAGE or day_of(name)]
                    read = [self._read(book, folder, name, place, was_skipped=name in before) for name in names]
                    saved += filter(None, read)
        held = Counter(key for one in saved for key in {item.citation for item in one.parsed.items})
        counts = [self._take(book, one, held) for one in saved]
        book.save()
        return sum(counts, EditCounts()), [one.name for one in saved if one.name not in book.skipped]

    def _read(
        self, book: Book, folder: AnchoredFolder, name: str, place: FilePlace, *, was_skipped: bool
    ) -> SavedFile | None:
        """Read one file; None for an unchanged or unreadable one."""
        file = name.rpartition("/")[2]
        is_recorded = name in book.files
        try:
            stamp = folder.stamp(file)
            if place.in_tree and not is_recorded and book.accepted != place.path:
                book.skip(name, NOT_ACCEPTED, stamp, to_log=False)
                return None
            if stamp is None or (stamp == book.stamps.get(name) and not was_skipped):
                return None
            raw = folder.read(file) or b""
        except NoPlainFile as bad:
            book.skip(name, "left alone: %s" % bad.strerror)
            return None
        if digest_of(raw) == book.files.get(name):
            book.stamps[name] = stamp
            return None
        saved = SavedFile(book.id, name, digest_of(raw), parse(raw), is_recorded, place.in_tree)
        if saved.parsed.problem:
            book.skip(name, "left alone and not read: %s" % saved.parsed.problem, stamp)
        elif saved.is_ours and not saved.parsed.is_whole and time.time() - stamp.mtime_ns / 1e9 < SETTLE_S:
            book.skip(name, UNFINISHED, to_log=False)
        else:
            book.stamps[name] = stamp
            return saved
        return None

    def _take(self, book: Book, saved: SavedFile, held: Mapping[str, int]) -> EditCounts:
        """Apply a file's changes. held: citation -> number of files."""
        name, taken = saved.name, self.edits.take(saved, held, book.removed)
        if taken is None:
            book.skip(name, PASTED_IN, book.stamps[name])
            return EditCounts()
        counts, changes = taken
        book.files[name] = saved.digest
        book.notices.pop(name, None)
        if changes.refused and saved.is_ours:
            followed = counted(changes.refused, "deletion", "were not followed")
            book.notices[name] = "%s: %s: %s" % (time.strftime("%Y-%m-%d"), followed, changes.why)
            log.warning("memory file %s: %s", name, book.notices[name])
        return counts

    def _pages(self, book: Book, changed: Iterable[str] | None) -> list[tuple[str, bytes]]:
        """Return the (name, content) of pages to write, the most needed first.

        changed: the files that a user changed. All pages but these and the newest can wait. None: every page.
        """
        title = self.projects.name(book.id)
        pages = pages_of(self.store, book.id, title, book.notices, recent=changed is not None)
        if changed is None or any(name not in pages for name in changed):
            names = book.files if changed is None else changed
            pages = dict.fromkeys(names, b"") | pages_of(self.store, book.id, title, book.notices)
        return sorted(pages.items(), key=lambda page: (page[0] == CORE_PAGE, page[0]), reverse=True)

    def _write(self, book: Book, place: FilePlace, wanted: Sequence[tuple[str, bytes]], most: int) -> bool:
        """Write at most so many files; False if one changed meanwhile."""
        todo = [(name, data) for name, data in wanted if name not in book.skipped and (data or name in book.files)]
        for name in (name for name, data in todo if data):
            book.path = place.path
            book.files.setdefault(name, "")
        book.save()  # before the files: nothing of ours looks as if it had come with the folder
        is_done, written, book.is_behind = True, 0, False
        for name, data in todo:
            book.is_behind = written >= most
            if book.is_behind:
                break
            before = book.files.get(name)
            with book.opened(place, name, make=bool(data)) as (folder, file):
                is_done &= self._write_page(book, folder, name, file, data)
            written += book.files.get(name) != before
        book.save()
        if not all(data for _, data in wanted):
            remove_empty(place.anchor, (*place.parts, DAILY_FOLDER), levels=2)
        return is_done

    def _write_page(self, book: Book, folder: AnchoredFolder | None, name: str, file: str, data: bytes) -> bool:
        try:
            is_there = folder is not None and folder.stamp(file) is not None
            on_disk = book.files.get(name, "") if is_there else ""
            if not data:
                is_done = folder is None or folder.remove(file, on_disk)
                if is_done:
                    book.drop(name)
                return is_done
            if folder is None or on_disk == digest_of(data):
                return True
            if not folder.replace(file, data, on_disk):
                return False
            book.files[name], stamp = digest_of(data), folder.stamp(file)
            if stamp is not None:
                book.stamps[name] = stamp
            return True
        except NoPlainFile as bad:
            book.skip(name, "not written: %s" % bad.strerror)
            return True

    def _move_out(self, book: Book, old: FilePlace) -> EditCounts:
        """Read files of a former place once more, then remove ours."""
        taken, _ = self._read_back(book, old)
        for name in list(book.files):
            with book.opened(old, name) as (folder, file):
                if folder is not None and name not in book.skipped:
                    folder.remove(file, book.files[name])
            book.drop(name)
        remove_empty(old.anchor, (*old.parts, DAILY_FOLDER), levels=2)
        return taken


class Lines(NamedTuple):
    """Lines of a file from 1, inclusive; empty for no file."""

    path: str = ""
    start_line: int = 0
    end_line: int = 0


class FileLines:
    """A lookup for one request, which reads each file once."""

    def __init__(self, files: MemoryFiles, extra: ExtraFiles) -> None:
        self._files = files
        self._extra = extra
        self._pages: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}

    def of(self, memory: Memory) -> Lines:
        """Return the lines that hold a memory now."""
        if memory.known_kind is Kind.PIECE:
            piece = _PIECE.search(memory.place)
            path = self._extra.path_of(memory.session_id)
            return Lines(path, int(piece.group(1)), int(piece.group(2))) if path and piece else Lines()
        if memory.category == Category.CONVERSATION or not memory.holds:
            return Lines()
        name = CORE_PAGE if memory.category == Category.CORE else page_of_day(local_day(memory.at_ms))
        page = memory.project_id, name
        if page not in self._pages:
            self._pages[page] = lines_in(self._files.read(*page))
        lines = self._pages[page].get(memory.citation)
        return Lines(os.path.join(self._files.folder(memory.project_id), name), *lines) if lines else Lines()


def lines_in(raw: bytes) -> dict[str, tuple[int, int]]:
    """Return citation -> first and last line of its first bullet."""
    page = parse(raw)
    cited = [(item.citation, lines) for item, lines in zip(page.items, page.lines, strict=True) if item.citation]
    return dict(reversed(cited))
