"""Memory files: written for changed memories, read back after edits.

A project has `MEMORY.md`, its core memories, and `memory/2026-11-19.md`, the entries of that day. docs/memory.md
defines a change.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.memory_files.edits import EditCounts, Edits
from memlayer.memory_files.folders import (
    AnchoredFolder,
    FilePlace,
    FileRules,
    NoPlainFile,
    Problems,
    digest_of,
    open_folder,
    place_at,
    place_of,
    remove_empty,
)
from memlayer.memory_files.markdown import parse
from memlayer.memory_files.merge import compare, present
from memlayer.memory_files.pages import (
    CORE_PAGE,
    DAILY_FOLDER,
    EVERYTHING,
    Book,
    FileRecord,
    Page,
    current,
    day_of,
    entry_of,
    local_day,
)
from memlayer.memory_files.pages import pages as pages_of
from memlayer.ports import MemoryQuery, Store
from memlayer.records.projects import Projects

log = logging.getLogger(__name__)
SETTLE_S = 10.0  # for so long a file without its last line may still be in writing
ROUNDS = 3
MOST_ADDED = 500
UNFINISHED = "not read yet: its last line is missing, somebody may be writing it"
NOT_ACCEPTED = "left alone: it came with the folder. `memlayer project accept` takes it in, as notes"
PASTED_IN = "left alone and not read: more than %d new entries; for documents there is files.extra_paths" % MOST_ADDED
PAGES_AT_ONCE = 40  # each costs two writes with fsyncs, and turns wait meanwhile


@dataclass
class MemoryFiles:
    """Memory files, for the writer alone but for `changed` and `notices`."""

    home: str
    store: Store
    projects: Projects
    edits: Edits
    rules: FileRules = field(default_factory=FileRules)
    _books: dict[str, Book] = field(default_factory=dict)
    _places: dict[str, FilePlace] = field(default_factory=dict)  # as of the last sync
    _problems: Problems = field(default_factory=Problems)
    _behind: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sync(self, project_id: str, *, recent: bool = False, force: bool = False) -> EditCounts:
        """Apply edits, then write memories. Idempotent. Raises StoreError or OSError.

        Of many pages the rest is written by the next call. recent: only pages with the newest memories or a user's
        changes. force: all at once, and also files of a project or a home that is switched off, for forgotten memories
        must not stay in them. left_alone() then names those not written.
        """
        place = place_of(self.home, self.projects, project_id, self.rules)
        self._problems.begin(project_id)
        self._places.pop(project_id, None)
        if place is not None and self.rules.enabled:
            self._places[project_id] = place
        book = self._book(project_id)
        if force and book.files and place is None:
            place = self._place_when_off(project_id, book)
        if place is None or not (self.rules.enabled or (force and book.files)):
            return EditCounts()
        taken = EditCounts()
        if book.place and book.place != place.path:
            taken += self._move_out(project_id, book, place_at(self.home, book.place))
        for _ in range(ROUNDS):  # a user may save meanwhile
            applied, changed = self._read_back(project_id, book, place)
            taken += applied
            wanted = self._pages(project_id, book, changed if recent else None)
            if self._write(project_id, book, place, wanted, EVERYTHING if force else PAGES_AT_ONCE):
                break
        if force:
            self._prune(book)
        if taken != EditCounts():
            log.info("memory files: %d added, %d edited, %d deleted", taken.added, taken.edited, taken.removed)
        return taken

    def is_behind(self, project_id: str) -> bool:
        """True if the last sync left pages for the next one."""
        return project_id in self._behind

    def changed(self, project_id: str) -> bool:
        """True if modification times of today's files suggest an edit."""
        place, book = self._places.get(project_id), self._books.get(project_id)
        if place is None or book is None:
            return False
        for name in (CORE_PAGE, "%s/%s.md" % (DAILY_FOLDER, local_day(int(time.time() * 1000)))):
            *below, file = name.split("/")
            try:
                with open_folder(place.anchor, (*place.parts, *below), make=False) as folder:
                    stamp = folder.stamp(file)
            except OSError:
                continue
            record = book.files.get(name)
            known = (record.stamp if record is not None else None, self._problems.seen(project_id, name))
            if stamp is not None and stamp not in known:
                return True
        return False

    def folder(self, project_id: str) -> str:
        """Return the folder of a project's files; "" if it has none."""
        place = place_of(self.home, self.projects, project_id, self.rules)
        return place.path if place is not None and self.rules.enabled else ""

    def names(self, project_id: str) -> list[str]:
        """Return the names of a project's files as last written or read."""
        return sorted(self._book(project_id).files)

    def notices(self) -> list[str]:
        """Return the user's notices, one line each: a file and its problem."""
        out = []
        for project_id in self.projects.scopes():
            book = self._book(project_id)
            problems = {name: record.notice for name, record in list(book.files.items()) if record.notice}
            problems.update(self._problems.of(project_id))
            out += _lines(book, problems)
        return out

    def left_alone(self, project_id: str) -> list[str]:
        """Return files that the last sync skipped, with reasons, as lines."""
        return _lines(self._book(project_id), self._problems.of(project_id))

    def _place_when_off(self, project_id: str, book: Book) -> FilePlace | None:
        """Return the place of a switched-off project's files, None if unsure."""
        place = place_of(self.home, self.projects, project_id, self.rules, even_off=True)
        if place is not None:
            return place_at(self.home, book.place) if book.place else place
        if os.path.lexists(book.place):
            self._problems.note(project_id, CORE_PAGE, "left alone: its folder is not the project's any more")
        return None

    def _book(self, project_id: str) -> Book:
        with self._lock:
            if project_id not in self._books:
                self._books[project_id] = Book(self.home, project_id)
            return self._books[project_id]

    def _read_back(self, project_id: str, book: Book, place: FilePlace) -> tuple[EditCounts, list[str]]:
        """Apply a user's changes; return (their counts, the changed files)."""
        self._problems.begin(project_id)
        taken, changed = EditCounts(), []
        for below in ((), (DAILY_FOLDER,)):
            with self._opened(project_id, place, below) as folder:
                if folder is not None:
                    folder.sweep()
                for file in folder.names() if folder is not None else ():
                    name = "/".join((*below, file))
                    if folder is not None and (name == CORE_PAGE or day_of(name)):
                        applied = self._read_file(project_id, book, folder, name, file, self._tree_of(place))
                        if applied is not None:
                            taken += applied
                            changed.append(name)
        return taken, changed

    def accept(self, project_id: str) -> bool:
        """Take in files that came with the work tree."""
        place = place_of(self.home, self.projects, project_id, self.rules)
        if place is None or not self._tree_of(place):
            return False
        self._book(project_id).accept(place.path)
        return True

    def _tree_of(self, place: FilePlace) -> str:
        """The place of files in a work tree; "" in the home."""
        home = os.path.realpath(self.home)
        return "" if os.path.commonpath([home, os.path.realpath(place.path)]) == home else place.path

    def _read_file(
        self, project_id: str, book: Book, folder: AnchoredFolder, name: str, file: str, tree: str
    ) -> EditCounts | None:
        """Read one file back; None for an unchanged or unreadable one."""
        if tree and name not in book.files and book.accepted != tree:
            self._problems.note(project_id, name, NOT_ACCEPTED, to_log=False)
            return None
        record = book.files.get(name, FileRecord())
        try:
            stamp = folder.stamp(file)
            if stamp is None or stamp == record.stamp:
                return None
            raw = folder.read(file) or b""
        except NoPlainFile as bad:
            self._problems.note(project_id, name, "left alone: %s" % bad.strerror)
            return None
        if digest_of(raw) == record.read:
            record.stamp = stamp
            return None
        parsed = parse(raw)
        if parsed.problem:
            self._problems.note(project_id, name, "left alone and not read: %s" % parsed.problem, seen=stamp)
            return None
        is_ours = bool(record.revision or parsed.revision)
        if is_ours and not parsed.is_whole and time.time() - stamp.mtime_ns / 1e9 < SETTLE_S:
            self._problems.note(project_id, name, UNFINISHED, to_log=False)
            return None
        record = book.record(name)
        known = record.entries_of(parsed.revision)
        base = parsed.revision if known is not None else ""
        if known is None:
            known = [entry_of(memory) for memory in current(self.store, project_id, name)]
        changes = compare(known, parsed.items, is_whole=parsed.is_whole or not is_ours, is_known=bool(base))
        if len(changes.added) + len(changes.strays) > MOST_ADDED:
            self._problems.note(project_id, name, PASTED_IN, seen=stamp)
            return None
        taken = self.edits.take(project_id, name, changes, record, base, in_tree=bool(tree))
        restored = self.edits.undo_deletions(present(known, parsed.items), record, base)
        record.notice = ""
        if changes.refused and is_ours:
            reason = (time.strftime("%Y-%m-%d"), changes.refused, changes.why)
            record.notice = "%s: %d deletions were not followed: %s" % reason
            log.warning("memory file %s: %s", name, record.notice)
        record.read, record.stamp = digest_of(raw), stamp
        book.save(name)
        return taken + EditCounts(added=restored)

    def _pages(self, project_id: str, book: Book, changed: Sequence[str] | None) -> list[Page]:
        """Return the pages to write, the most needed first.

        changed: the files that a user changed. All pages but these and the newest can wait. None: every page.
        """
        name = self.projects.name(project_id)
        pages = pages_of(self.store, project_id, name, recent=changed is not None)
        if changed is None or any(file not in pages for file in changed):
            pages = pages_of(self.store, project_id, name)
            for file in book.files if changed is None else changed:
                pages.setdefault(file, Page(file, b"", "", ()))
        return sorted(pages.values(), key=lambda page: (page.name == CORE_PAGE, page.name), reverse=True)

    def _write(self, project_id: str, book: Book, place: FilePlace, wanted: Sequence[Page], most: int) -> bool:
        """Write at most so many files; False if one changed meanwhile."""
        self._behind.discard(project_id)
        is_done, written = True, 0
        for page in wanted:
            if page.name in self._problems.of(project_id) or not (page.data or page.name in book.files):
                continue
            if written >= most:
                self._behind.add(project_id)
                break
            if page.data and book.place != place.path:
                book.move(place.path)
            *below, file = page.name.split("/")
            with self._opened(project_id, place, tuple(below), make=bool(page.data)) as folder:
                before = book.record(page.name).read
                is_done &= self._write_page(project_id, book, folder, page, file)
                written += page.name not in book.files or book.files[page.name].read != before
        if any(not page.data for page in wanted):
            remove_empty(place.anchor, (*place.parts, DAILY_FOLDER), levels=2)
        return is_done

    def _write_page(self, project_id: str, book: Book, folder: AnchoredFolder | None, page: Page, file: str) -> bool:
        record = book.record(page.name)
        try:
            stamp = folder.stamp(file) if folder is not None else None
            if folder is None or stamp is None:
                on_disk = ""
            else:
                on_disk = record.read if stamp == record.stamp else folder.digest(file)
            if on_disk and on_disk != record.read:
                return False
            if not page.data:
                book.drop(page.name)
                return folder is None or folder.remove(file, on_disk)
            if folder is None or on_disk == digest_of(page.data):
                return True
            record.issue(page.revision, page.entries)
            record.read, record.stamp = digest_of(page.data), None
            book.save(page.name)
            is_done = folder.replace(file, page.data, on_disk)
            record.stamp = folder.stamp(file) if is_done else None
            return is_done
        except NoPlainFile as bad:
            self._problems.note(project_id, page.name, "not written: %s" % bad.strerror)
            return True

    def _prune(self, book: Book) -> None:
        """Drop forgotten memories from the book; tombstones guard against an open editor."""
        ids = sorted({span.memory_id for record in book.files.values() for span in record.spans})
        there = {memory.id for memory in self.store.memories(MemoryQuery(ids=ids, limit=len(ids)))} if ids else set()
        for name, record in book.files.items():
            if any(span.memory_id not in there for span in record.spans):
                record.forget(set(ids) - there)
                book.save(name)

    def _move_out(self, project_id: str, book: Book, old: FilePlace) -> EditCounts:
        """Read files of a former place once more, then remove ours."""
        taken, _ = self._read_back(project_id, book, old)
        for name in list(book.files):
            *below, file = name.split("/")
            with self._opened(project_id, old, tuple(below)) as folder:
                if folder is not None and name not in self._problems.of(project_id):
                    folder.remove(file, book.files[name].read)
            book.drop(name)
        remove_empty(old.anchor, (*old.parts, DAILY_FOLDER), levels=2)
        return taken

    @contextlib.contextmanager
    def _opened(
        self, project_id: str, place: FilePlace, below: tuple[str, ...], *, make: bool = False
    ) -> Iterator[AnchoredFolder | None]:
        """Open a folder of a project's files; None if unavailable."""
        try:
            folder = open_folder(place.anchor, (*place.parts, *below), make=make)
        except FileNotFoundError:
            yield None
            return
        except NoPlainFile as bad:
            self._problems.note(project_id, "/".join(below) or CORE_PAGE, "left alone: %s" % bad.strerror)
            yield None
            return
        with folder:
            yield folder


def _lines(book: Book, problems: Mapping[str, str]) -> list[str]:
    return ["%s: %s" % (os.path.join(book.place, name), problems[name]) for name in sorted(problems)]
