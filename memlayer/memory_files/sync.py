"""Memory files that a person can read and edit: written when memories change, read back when the person changes them.

A project has `MEMORY.md`, its core memories, and `memory/2026-11-19.md`, what happened on that day. docs/memory.md says
what counts as a change.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memlayer.memory_files.edits import Edits, TakenBack
from memlayer.memory_files.folders import FileRules, Place, Problems, place_at, place_of
from memlayer.memory_files.markdown import digest, parse
from memlayer.memory_files.merge import Entry, compare, present
from memlayer.memory_files.pages import (
    CORE_PAGE,
    DAILY_FOLDER,
    EVERYTHING,
    Page,
    current,
    day_of,
    local_day,
)
from memlayer.memory_files.pages import pages as pages_of
from memlayer.memory_files.revisions import Book, FileRecord
from memlayer.memory_files.safe_folder import AnchoredFolder, NoPlainFile, digest_of, open_folder, remove_empty
from memlayer.ports import Store
from memlayer.records.projects import Projects

log = logging.getLogger(__name__)
SETTLE_S = 10.0  # a file without its last line may still be being written, so long after it was touched
ROUNDS = 3
MOST_ADDED = 500
UNFINISHED = "not read yet: its last line is missing, somebody may be writing it"
PASTED_IN = "left alone and not read: more than %d new entries; for documents there is files.extra_paths" % MOST_ADDED
PAGES_AT_ONCE = 40  # each is two writes with their fsyncs, and turns wait meanwhile


@dataclass
class MemoryFiles:
    """The memory files of a home's projects. The daemon's writer calls it, but for `changed` and `notices`."""

    home: str
    store: Store
    projects: Projects
    edits: Edits
    rules: FileRules = field(default_factory=FileRules)
    _books: dict[str, Book] = field(default_factory=dict)
    _places: dict[str, Place] = field(default_factory=dict)  # as of the last sync
    _problems: Problems = field(default_factory=Problems)
    _behind: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def sync(self, project_id: str, *, recent: bool = False, force: bool = False) -> TakenBack:
        """Take a person's changes back, then write what memories say now; of many pages the rest with the next call.

        recent: only pages that the newest memories are on, or a person has changed. force: all at once, and also when
        the files or the project are switched off, if there are any: what is forgotten must not stay in them; what could
        not be written is left_alone(). Raises StoreError or OSError; doing it again is then all that it takes.
        """
        place = place_of(self.home, self.projects, project_id, self.rules)
        self._problems.begin(project_id)
        self._places.pop(project_id, None)
        if place is not None and self.rules.enabled:
            self._places[project_id] = place
        book = self._book(project_id)
        if force and book.files and place is None:
            place = self._place_of_what_is_off(project_id, book)
        if place is None or not (self.rules.enabled or (force and book.files)):
            return TakenBack()
        taken = TakenBack()
        if book.place and book.place != place.path:
            taken += self._move_out(project_id, book, place_at(self.home, book.place))
        for _ in range(ROUNDS):  # somebody may save while this writes
            found, changed = self._take_back(project_id, book, place)
            taken += found
            wanted = self._pages(project_id, book, changed if recent else None)
            if self._write(project_id, book, place, wanted, EVERYTHING if force else PAGES_AT_ONCE):
                break
        if force:
            self._prune(book)
        if taken != TakenBack():
            log.info("memory files: %d added, %d edited, %d deleted", taken.added, taken.edited, taken.removed)
        return taken

    def is_behind(self, project_id: str) -> bool:
        """True if the last sync has left pages for the next one."""
        return project_id in self._behind

    def changed(self, project_id: str) -> bool:
        """True if somebody seems to have changed the files: looks at modification times only, and not at days past."""
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
        """Where the project's files are or would be; "" where there are none."""
        place = place_of(self.home, self.projects, project_id, self.rules)
        return place.path if place is not None and self.rules.enabled else ""

    def names(self, project_id: str) -> list[str]:
        """The project's files as they were last written or read."""
        return sorted(self._book(project_id).files)

    def notices(self) -> list[str]:
        """What a person should know, one line each: the file and what is the matter with it."""
        out = []
        for project_id in self.projects.scopes():
            book = self._book(project_id)
            says = {name: record.notice for name, record in list(book.files.items()) if record.notice}
            says.update(self._problems.of(project_id))
            out += ["%s: %s" % (os.path.join(book.place, name), says[name]) for name in sorted(says)]
        return out

    def left_alone(self, project_id: str) -> list[str]:
        """The files that the last sync has neither read nor written, and why, one line each."""
        place, says = self._book(project_id).place, self._problems.of(project_id)
        return ["%s: %s" % (os.path.join(place, name), says[name]) for name in sorted(says)]

    def _place_of_what_is_off(self, project_id: str, book: Book) -> Place | None:
        """Where the files of a project that is switched off still are; None where nobody can tell whose they are."""
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

    def _take_back(self, project_id: str, book: Book, place: Place) -> tuple[TakenBack, list[str]]:
        """Bring what a person has changed into the store; (how much that was, the files concerned)."""
        self._problems.begin(project_id)
        taken, changed = TakenBack(), []
        for below in ((), (DAILY_FOLDER,)):
            with self._opened(project_id, place, below) as folder:
                if folder is not None:
                    folder.sweep()
                for file in folder.names() if folder is not None else ():
                    name = "/".join((*below, file))
                    if folder is not None and (name == CORE_PAGE or day_of(name)):
                        found = self._take_file(project_id, book, folder, name, file)
                        if found is not None:
                            taken += found
                            changed.append(name)
        return taken, changed

    def _take_file(self, project_id: str, book: Book, folder: AnchoredFolder, name: str, file: str) -> TakenBack | None:
        """None when there was nothing new to read, or nothing that can be."""
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
        known = record.held(parsed.revision)
        base = parsed.revision if known is not None else ""
        if known is None:
            memories = current(self.store, project_id, name)
            known = [Entry(one.id, one.citation, digest(one.text), one.pinned) for one in memories]
        changes = compare(known, parsed.items, is_whole=parsed.is_whole or not is_ours, is_known=bool(base))
        if len(changes.added) + len(changes.strays) > MOST_ADDED:
            self._problems.note(project_id, name, PASTED_IN, seen=stamp)
            return None
        taken = self.edits.take(project_id, name, changes, record, base)
        back = self.edits.bring_back(present(known, parsed.items), record, base)
        record.notice = ""
        if changes.refused and is_ours:
            told = (time.strftime("%Y-%m-%d"), changes.refused, changes.why)
            record.notice = "%s: %d deletions were not followed: %s" % told
            log.warning("memory file %s: %s", name, record.notice)
        record.read, record.stamp = digest_of(raw), stamp
        book.save(name)
        return taken + TakenBack(added=back)

    def _pages(self, project_id: str, book: Book, changed: Sequence[str] | None) -> list[Page]:
        """What is to be written, the most needed first. changed: what a person has, and all but that and the newest can
        wait; None: everything."""
        name = self.projects.name(project_id)
        found = pages_of(self.store, project_id, name, recent=changed is not None)
        if changed is None or any(one not in found for one in changed):
            found = pages_of(self.store, project_id, name)
            for one in book.files if changed is None else changed:
                found.setdefault(one, Page(one, b"", "", ()))
        return sorted(found.values(), key=lambda one: (one.name == CORE_PAGE, one.name), reverse=True)

    def _write(self, project_id: str, book: Book, place: Place, wanted: Sequence[Page], most: int) -> bool:
        """Bring files up to date, at most so many; False when one of them changed under our hands and is left alone."""
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
                found = ""
            else:
                found = record.read if stamp == record.stamp else folder.digest(file)
            if found and found != record.read:
                return False
            if not page.data:
                book.drop(page.name)
                return folder is None or folder.remove(file, found)
            if folder is None or found == digest_of(page.data):
                return True
            record.issue(page.revision, page.entries)
            record.read, record.stamp = digest_of(page.data), None
            book.save(page.name)
            is_done = folder.replace(file, page.data, found)
            record.stamp = folder.stamp(file) if is_done else None
            return is_done
        except NoPlainFile as bad:
            self._problems.note(project_id, page.name, "not written: %s" % bad.strerror)
            return True

    def _prune(self, book: Book) -> None:
        """What is forgotten leaves the book, too; an editor that still has it is told by the tombstones."""
        ids = sorted({span.memory_id for record in book.files.values() for span in record.spans})
        there = {one.id for one in self.store.memories(ids=ids, limit=len(ids))} if ids else set()
        for name, record in book.files.items():
            if any(span.memory_id not in there for span in record.spans):
                record.forget(set(ids) - there)
                book.save(name)

    def _move_out(self, project_id: str, book: Book, old: Place) -> TakenBack:
        """The files are to stand elsewhere: read the old ones a last time, and remove what is ours."""
        taken, _ = self._take_back(project_id, book, old)
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
        self, project_id: str, place: Place, below: tuple[str, ...], *, make: bool = False
    ) -> Iterator[AnchoredFolder | None]:
        """A folder of the project's files; None where there is none, or where a link stands in its way."""
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
