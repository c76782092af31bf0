"""Apply a user's changes of memory files to the store."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from memlayer.consolidation import lineage
from memlayer.consolidation.consolidator import Consolidator
from memlayer.consolidation.statement import statement_of
from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.spool import event_id
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import KINDS, Category, Kind
from memlayer.memory_files.markdown import Item, digest, normalized, parted, to_nfc, with_headline
from memlayer.memory_files.merge import FileChanges, FileEntry
from memlayer.memory_files.pages import FileRecord, current, day_of, local_day, noon_ms, told
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records.tombstones import Tombstones
from memlayer.turns.headline import fitting
from memlayer.turns.remembered import says_something
from memlayer.turns.salience import new_memory
from memlayer.turns.turn import MAX_MEMORY_CHARS

log = logging.getLogger(__name__)
HALF_A_DAY_MS = 43_200_000


def _now_ms() -> int:
    return int(time.time() * 1000)


@dataclass(frozen=True)
class EditCounts:
    """Memories that a user's changes added, edited (or pinned) and retired."""

    added: int = 0
    edited: int = 0
    removed: int = 0

    def __add__(self, other: EditCounts) -> EditCounts:
        return EditCounts(self.added + other.added, self.edited + other.edited, self.removed + other.removed)


@dataclass
class Edits:
    """Changes applied to the store, by the daemon's writer."""

    store: Store
    indexer: Indexer
    consolidator: Consolidator
    tombstones: Tombstones
    now_ms: Callable[[], int] = _now_ms

    def take(
        self, project_id: str, name: str, changes: FileChanges, record: FileRecord, base: str, *, in_tree: bool = False
    ) -> EditCounts:
        """Apply the changes of one file.

        Idempotent, for a known text is not added again. Raises StoreError. base: name of the revision that was changed,
        "" when unknown: an earlier wording is then an old copy, no change. in_tree: of a file in the work tree, which
        anybody may have changed: its new lines are notes, and it changes and ends no wish or decision.
        """
        if in_tree:
            changes = self._of_anybody(changes)
        known = {digest(told(memory)) for memory in current(self.store, project_id, name)}
        page = _Page(self, project_id, name, known, bool(base), in_tree)
        edited = sum(page.edit(entry, text) for entry, text in changes.edited)
        edited += sum(page.pin(entry, pinned) for entry, pinned in changes.pinned)
        removed = 0
        for entry in changes.deleted:
            if page.retire(entry):
                record.removed[entry.memory_id] = base
                removed += 1
        added = sum(page.add(kind, text) for kind, text in changes.added)
        added += sum(page.stray(item, record) for item in changes.strays)
        return EditCounts(added, edited, removed)

    def _of_anybody(self, changes: FileChanges) -> FileChanges:
        """Return the changes that need not be the person's."""
        ids = [entry.memory_id for entry in (*(entry for entry, _ in changes.edited), *changes.deleted)]
        rows = self.store.memories(MemoryQuery(ids=ids, limit=len(ids))) if ids else []
        bound = {row.id for row in rows if KINDS[row.known_kind].binds}
        edited = tuple((entry, text) for entry, text in changes.edited if entry.memory_id not in bound)
        deleted = tuple(entry for entry in changes.deleted if entry.memory_id not in bound)
        return changes._replace(edited=edited, deleted=deleted, pinned=())

    def undo_deletions(self, present: Sequence[FileEntry], record: FileRecord, base: str) -> int:
        """Restore entries deleted from this revision and back in the file."""
        count = 0
        for entry in present:
            if base and record.removed.get(entry.memory_id) == base:
                del record.removed[entry.memory_id]
                memory = self.by_id(entry.memory_id)
                if memory is not None and _is_retired(memory):
                    self.consolidator.restore(memory)
                    count += 1
        return count

    def by_id(self, memory_id: str) -> Memory | None:
        """Return the memory of an id, None when it is forgotten."""
        memories = self.store.memories(MemoryQuery(ids=[memory_id]))
        return memories[0] if memories else None


@dataclass
class _Page:
    """One file's changes.

    known: digests. has_base: its revision is known. in_tree: see Edits.take.
    """

    edits: Edits
    project_id: str
    name: str
    known: set[str]
    has_base: bool
    in_tree: bool

    def edit(self, entry: FileEntry, text: str) -> int:
        memory = self.edits.by_id(entry.memory_id)
        if memory is None:
            log.info("a change to a forgotten memory was dropped")
            return 0
        body, *headed = parted(text)
        headline, subject = fitting(*map(clean, headed))
        first, *rest = _texts(body) or [""]
        new = digest(with_headline(first, headline, subject))
        if not first or digest(told(memory)) == new:
            return 0
        before = lineage.before(self.edits.store, memory) if not self.has_base else ()
        if any(digest(told(version)) == new for version in before):
            return 0
        if memory.superseded_by:  # replaced meanwhile. The user's words are the newest
            return self.add(memory.kind, text)
        same_text = digest(memory.text) == digest(first)
        self.edits.consolidator.edit(memory, memory.text if same_text else first, headline, subject)
        self.known.add(new)
        for part in rest:
            self._add(memory.kind, part)
        return 1

    def pin(self, entry: FileEntry, pinned: bool) -> int:
        memory = self.edits.by_id(entry.memory_id)
        if memory is None or memory.superseded_by or memory.pinned == pinned:
            return 0
        self.edits.consolidator.pin(memory, pinned)
        return 1

    def retire(self, entry: FileEntry) -> bool:
        memory = self.edits.by_id(entry.memory_id)
        if memory is None or memory.superseded_by:
            return False
        self.edits.consolidator.retire(memory)
        return True

    def add(self, kind: str, text: str) -> int:
        body, *headed = parted(text)
        return sum(self._add(kind, part, *fitting(*map(clean, headed))) for part in _texts(body))

    def stray(self, item: Item, record: FileRecord) -> int:
        """Add a bullet whose citation the revision lacks (pasted, restored, old)."""
        cited = self.edits.store.memories(MemoryQuery(citations=[item.citation], project_id=self.project_id))
        same = [memory for memory in cited if digest(told(memory)) == digest(item.text)]
        if same:
            back = [memory for memory in same if _is_retired(memory)]
            if back and all(memory.superseded_by for memory in same):
                self.edits.consolidator.restore(back[0])
                return 1
            return 0
        text = parted(item.text)[0]
        texts = {text, to_nfc(text)}
        was_forgotten = any(self.edits.tombstones.forgot_statement(self.project_id, text) for text in texts)
        if was_forgotten or record.knows(item.citation, digest(item.text)):
            return 0  # an editor had it open. Without its citation it would be added
        if not cited and self._is_aged_out(item):
            return 0  # an old copy of the file was put back
        now = [memory for memory in cited if not memory.superseded_by]
        if len(now) == 1 and not self.in_tree:
            return self.edit(FileEntry(now[0].id, now[0].citation, digest(told(now[0]))), item.text)
        return self.add(item.kind or Kind.NOTE, item.text)

    def _is_aged_out(self, item: Item) -> bool:
        """True if retention deleted the memories of a bullet's day."""
        day = day_of(self.name) or item.stamp
        try:
            begun_ms = noon_ms(day) - HALF_A_DAY_MS
        except (ValueError, TypeError, OverflowError):  # no day, or an impossible one
            return False
        kinds = (Category.DAILY, Category.CORE) if day_of(self.name) else (Category.CORE,)
        return not item.pinned and any(self.edits.tombstones.deleted_by_age_ms(begun_ms, kind) for kind in kinds)

    def _add(self, kind: str, text: str, headline: str = "", subject: str = "") -> int:
        key = digest(with_headline(text, headline, subject))
        if key in self.known:
            return 0
        self.known.add(key)
        if day_of(self.name):
            self._add_note(text)
        else:
            kind = Kind.NOTE if self.in_tree else kind
            new = statement_of(self.project_id, text, kind, at_ms=self.edits.now_ms())
            files = (".memlayer/" + self.name,) if self.in_tree else ()
            self.edits.consolidator.add_statement(replace(new, files=files, headline=headline, subject=subject))
        return 1

    def _add_note(self, text: str) -> None:
        """Add a user's own, searchable line in a day's file."""
        day, now_ms = day_of(self.name), self.edits.now_ms()
        at_ms = now_ms if local_day(now_ms) == day else noon_ms(day)
        memory_id = event_id(self.project_id, day, Kind.NOTE, text)
        memory = new_memory(memory_id, Category.CUSTOM, Kind.NOTE, text, at_ms, project_id=self.project_id)
        with self.edits.indexer.lock:
            self.edits.store.put_memories([memory])
            self.edits.indexer.index([memory])


def _is_retired(memory: Memory) -> bool:
    """True for a memory that holds no more and has no successor."""
    return memory.superseded_by == memory.id


def _texts(text: str) -> list[str]:
    """Clean and cut a user's text to memories' length; maybe []."""
    text = to_nfc(normalized(clean(text)))
    if not says_something(text):
        return []
    out = []
    while len(text) > MAX_MEMORY_CHARS:
        cut = max(text.rfind("\n", 0, MAX_MEMORY_CHARS), text.rfind(" ", 0, MAX_MEMORY_CHARS))
        cut = cut if cut > MAX_MEMORY_CHARS // 2 else MAX_MEMORY_CHARS
        out.append(normalized(text[:cut]))
        text = normalized(text[cut:])
    return [*out, text] if text else out
