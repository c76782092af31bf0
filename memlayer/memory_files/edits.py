"""Apply a user's changes of memory files to the store."""

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from memlayer.consolidation.consolidator import Consolidator
from memlayer.consolidation.statement import statement_of
from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.spool import event_id
from memlayer.keep import keep
from memlayer.kinds import KINDS, Author, Category, Ended, Kind
from memlayer.memory_files.markdown import (
    FileEntry,
    Item,
    Parsed,
    digest,
    normalized,
    parted,
    to_nfc,
    unescaped,
    with_headline,
    without_stamp,
)
from memlayer.memory_files.pages import EVERYTHING, current, day_of, local_day, noon_ms, told
from memlayer.model import Memory, citation_of, replace, unix_ms
from memlayer.ports import MemoryQuery
from memlayer.turns.remembered import says_something
from memlayer.turns.salience import new_memory
from memlayer.turns.turn import MAX_MEMORY_CHARS
from memlayer.turns.turn_memory import fitting
from memlayer.wire.upkeep import EditCounts

_HEADS = (*(box + slash + "[mem:" for box in ("", "[ ] ", "[x] ", "[X] ") for slash in ("", "\\")), "<!-- memlayer")
SMALL = 3  # deletions at once that are accepted however few memories there are
CUT_OFF = "the file was cut off: its last line is missing"
NO_STATE = "the file does not say any more what was written in it"
TOO_MANY = "more than half of the memories were gone at once"
NEWER = "the copy that was saved is older than these lines"

log = logging.getLogger(__name__)
HALF_A_DAY_MS = 43_200_000
MOST_ADDED = 500
MOST_WRITTEN = 10_000  # memories that a file lists and that hold no more


class FileChanges(NamedTuple):
    """The changes of a file since it was written.

    edited: (memory, its bullet). deleted: memories whose bullet is gone. added: (kind, text) without a citation.
    strays: bullets with the citation of no memory that was written there. kept: unchanged bullets. pinned: (memory, its
    new state). refused: number of deletions not accepted. why: the reason for that.
    """

    edited: Sequence[tuple[FileEntry, Item]] = ()
    deleted: Sequence[FileEntry] = ()
    added: Sequence[tuple[str, str]] = ()
    strays: Sequence[Item] = ()
    kept: Sequence[Item] = ()
    pinned: Sequence[tuple[FileEntry, bool]] = ()
    refused: int = 0
    why: str = ""


def compare(
    known: Sequence[FileEntry],
    items: Sequence[Item],
    *,
    is_whole: bool,
    is_known: bool,
    elsewhere: Container[str] = (),
    now: Sequence[FileEntry] | None = None,
) -> FileChanges:
    """Return the changes from the written entries to the items.

    is_known: the edit began from these very entries, not merely from the present memories. Without it, and in a file
    that was cut off, nothing counts as deleted. elsewhere: citations that other files hold: moved there. now: the
    memories of today. One that has got other words since is not deleted either.
    """
    present = {(entry.citation, entry.digest) for entry in (known if now is None else now)}
    held = {citation for citation, _ in present}
    items = _unescaped_items(known, items)
    digests = [digest(item.text) for item in items]
    found = _matched(known, items, digests)
    citations = {entry.citation for entry in known}
    there = {digests[at] for at, entry in found.items() if entry.digest == digests[at]}
    edited, pinned, added, strays, kept = [], [], [], [], []
    matched = set(found.values())
    left = [entry for entry in known if entry not in matched and entry.citation in held]
    missing = [entry for entry in left if entry.citation not in elsewhere]
    for at, item in enumerate(items):
        entry, is_cut = found.get(at), item.is_last and not is_whole
        if entry is not None and entry.digest == digests[at]:
            kept.append(item._replace(citation=entry.citation))
            if entry.citation == item.citation and entry.pinned != item.pinned:
                pinned.append((entry, item.pinned))
        elif entry is not None and not item.text:
            missing.append(entry)
        elif entry is not None:
            if not is_cut:  # a bullet that was cut off is no edit
                edited.append((entry, item))
        elif not item.text or digests[at] in there or (is_cut and _is_stump(item)):
            continue
        elif item.citation and item.citation not in citations:
            strays.append(item)
        else:
            there.add(digests[at])
            added.append((item.kind or Kind.NOTE, item.text))
    deleted = [entry for entry in missing if (entry.citation, entry.digest) in present]
    is_many = len(deleted) > SMALL and 2 * len(deleted) > len(known)
    why = CUT_OFF if not is_whole else NO_STATE if not is_known else TOO_MANY if is_many else ""
    deleted = [] if why else deleted
    return FileChanges(edited, deleted, added, strays, kept, pinned, len(missing) - len(deleted), why or NEWER)


def _matched(known: Sequence[FileEntry], items: Sequence[Item], digests: list[str]) -> dict[int, FileEntry]:
    """Return number of an item -> its entry.

    By citation and words, else by citation, else by words, else by words behind a day, as a removed citation leaves
    them. Such a digest becomes that of the entry.
    """
    found: dict[int, FileEntry] = {}
    of_items = [
        ((item.citation, words), item.citation, words, digest(without_stamp(item.text)))
        for item, words in zip(items, digests, strict=True)
    ]
    for rank in range(4):
        left: defaultdict[object, deque[FileEntry]] = defaultdict(deque)
        taken = set(found.values())
        for entry in known:
            if entry not in taken:
                left[((entry.citation, entry.digest), entry.citation, entry.digest, entry.digest)[rank]].append(entry)
        for at, signs in enumerate(of_items):
            if at not in found and left.get(signs[rank]):
                found[at] = left[signs[rank]].popleft()
                digests[at] = found[at].digest if rank == 3 else digests[at]
    return found


def _is_stump(item: Item) -> bool:
    """True for a possible rest of a bullet that was cut off."""
    return bool(item.citation) or any(head.startswith(item.text[: len(head)]) for head in _HEADS)


def _unescaped_items(known: Sequence[FileEntry], items: Sequence[Item]) -> list[Item]:
    """Remove an editor's backslashes, but none of memories or code."""
    known_pairs = {(entry.citation, entry.digest) for entry in known}
    return [
        item._replace(text=normalized(unescaped(item.text)))
        if item.is_escaped and (item.citation, digest(item.text)) not in known_pairs
        else item
        for item in items
    ]


class SavedFile(NamedTuple):
    """A file that a person saved.

    is_recorded: memlayer has read or written it here. in_tree: in the work tree, where anybody may have changed it: its
    new lines are notes, and it changes and ends no wish or decision.
    """

    project_id: str
    name: str
    digest: str
    parsed: Parsed
    is_recorded: bool
    in_tree: bool

    @property
    def is_ours(self) -> bool:
        return self.is_recorded or self.parsed.written is not None

    @property
    def may_be_foreign(self) -> bool:
        return self.in_tree or not self.is_recorded


@dataclass
class Edits:
    """Changes applied to the store, by the daemon's writer."""

    consolidator: Consolidator
    now_ms: Callable[[], int] = unix_ms

    def __post_init__(self) -> None:
        self.keep = self.consolidator.keep
        self.store, self.tombstones = self.keep.store, self.keep.tombstones

    def take(
        self, saved: SavedFile, held: Mapping[str, int], removed: dict[str, str]
    ) -> tuple[EditCounts, FileChanges] | None:
        """Apply a file's changes; None for too many new lines.

        Idempotent, for a known text is not added again. Raises StoreError. held: citation -> number of saved files with
        it. removed: see Book.
        """
        rows, parsed = current(self.store, saved.project_id, saved.name), saved.parsed
        now = [FileEntry(row.citation, digest(told(row)), row.pinned) for row in rows]
        known = now if parsed.written is None else parsed.written
        own = {item.citation for item in parsed.items}
        changes = compare(
            known, parsed.items, is_whole=parsed.is_whole or not saved.is_ours, is_known=parsed.written is not None,
            now=now, elsewhere={entry.citation for entry in known if held[entry.citation] > (entry.citation in own)},
        )  # fmt: skip
        page = _Page(self, saved, {entry.digest for entry in now}, removed)
        for row in rows:
            page.rows[row.citation].append(row)
        others = sorted({one.citation for one in (*known, *changes.strays)} - set(page.rows))
        new = len(changes.added) + len(changes.strays)
        if new > MOST_ADDED or len(others) > MOST_WRITTEN:
            return None
        query = MemoryQuery(citations=others, project_id=saved.project_id, limit=EVERYTHING)
        for row in self.store.memories(query) if others else ():
            page.rows[row.citation].append(row)
        if saved.may_be_foreign and new + len(set(others) - set(page.rows)) > MOST_ADDED:
            return None
        changes = page.of_anybody(changes) if saved.in_tree else changes
        edited = sum(page.edit(entry, item) for entry, item in changes.edited)
        edited += sum(page.pin(entry, pinned) for entry, pinned in changes.pinned)
        taken = sum(map(page.retire, changes.deleted))
        added = sum(page.add(kind, text) for kind, text in changes.added)
        added += sum(map(page.stray, changes.strays)) + sum(map(page.keep, changes.kept))
        return EditCounts(added, edited, taken), changes


@dataclass
class _Page:
    """A saved file's changes. known: digests of its memories."""

    edits: Edits
    saved: SavedFile
    known: set[str]
    removed: dict[str, str]
    rows: defaultdict[str, list[Memory]] = field(default_factory=lambda: defaultdict(list))  # by citation

    def of_anybody(self, changes: FileChanges) -> FileChanges:
        """Return the changes that need not be the person's."""
        bound = {key for key, rows in self.rows.items() if any(KINDS[row.known_kind].binds for row in rows)}
        edited = tuple((entry, item) for entry, item in changes.edited if entry.citation not in bound)
        deleted = tuple(entry for entry in changes.deleted if entry.citation not in bound)
        return changes._replace(edited=edited, deleted=deleted, pinned=())

    def edit(self, entry: FileEntry, item: Item) -> int:
        """Give a memory the text of its bullet."""
        rows = self._rows_of(entry)
        return self._reword(rows[0], item.text) if rows else self.keep(item._replace(citation=entry.citation))

    def pin(self, entry: FileEntry, pinned: bool) -> int:
        rows = [row for row in self._rows_of(entry)[:1] if row.holds and row.pinned != pinned]
        for row in rows:
            self.edits.consolidator.pin(row, pinned)
        return len(rows)

    def retire(self, entry: FileEntry) -> int:
        rows = [row for row in self._rows_of(entry)[:1] if row.holds]
        for row in rows:
            self.edits.consolidator.retire(row)
            self.removed[row.id] = self.saved.parsed.base
        return len(rows)

    def add(self, kind: str, text: str) -> int:
        body, *headed = parted(text)
        return sum(self._add(kind, part, *fitting(*map(clean, headed))) for part in _texts(body))

    def keep(self, item: Item) -> int:
        """Take a bullet back whose deletion was undone, or another home's."""
        rows = self.rows.get(item.citation, [])
        base = self.saved.parsed.base
        is_undone = any(row.ended_because is Ended.LET_GO and base and self.removed.get(row.id) == base for row in rows)
        is_foreign = not rows and self.saved.may_be_foreign
        return self.stray(item) if is_undone or is_foreign else 0

    def stray(self, item: Item) -> int:
        """Take a bullet that was not written there: pasted, or moved."""
        words, cited = digest(item.text), self.rows.get(item.citation, [])
        same = [row for row in cited if digest(told(row)) == words]
        back = [row for row in same if row.ended_because is Ended.LET_GO]
        if back and not any(row.holds for row in same):
            self.edits.consolidator.restore(back[0])
            self.removed.pop(back[0].id, None)
            return 1
        if same or self._is_gone(item) or (not self.saved.parsed.base and self._is_earlier(words, cited)):
            return 0
        now = [row for row in cited if row.holds]
        if len(now) == 1 and not self.saved.in_tree:
            return self._reword(now[0], item.text)
        return self.add(item.kind or Kind.NOTE, item.text)

    def _rows_of(self, entry: FileEntry) -> list[Memory]:
        """Return an entry's memories: of its words, then those that hold."""
        rows = self.rows.get(entry.citation, [])
        return sorted(rows, key=lambda row: (digest(told(row)) != entry.digest, not row.holds))

    def _reword(self, memory: Memory, text: str) -> int:
        body, *headed = parted(text)
        headline, subject = fitting(*map(clean, headed))
        first, *rest = _texts(body) or [""]
        new = digest(with_headline(first, headline, subject))
        if not first or digest(told(memory)) == new or (not self.saved.parsed.base and self._is_earlier(new, [memory])):
            return 0
        if not memory.holds:  # replaced meanwhile. The user's words are the newest
            return self.add(memory.kind, text)
        same_text = digest(memory.text) == digest(first)
        self.edits.consolidator.edit(memory, memory.text if same_text else first, headline, subject)
        self.known.add(new)
        for part in rest:
            self._add(memory.kind, part)
        return 1

    def _is_earlier(self, words: str, memories: Sequence[Memory]) -> bool:
        """True for an earlier wording, as an old copy has it."""
        store = self.edits.store
        return any(digest(told(row)) == words for memory in memories for row in keep.before(store, memory))

    def _is_gone(self, item: Item) -> bool:
        """True if a bullet's memory was forgotten, or removed by retention."""
        tombstones, text = self.edits.tombstones, parted(item.text)[0]
        if any(tombstones.forgot_statement(self.saved.project_id, one) for one in (text, to_nfc(text))):
            return True
        return item.citation not in self.rows and (item.citation in self._forgotten or self._is_aged_out(item))

    @cached_property
    def _forgotten(self) -> set[str]:
        return set(map(citation_of, self.edits.tombstones.ids()))

    def _is_aged_out(self, item: Item) -> bool:
        """True if retention deleted the memories of a bullet's day."""
        day = day_of(self.saved.name) or item.stamp
        try:
            begun_ms = noon_ms(day) - HALF_A_DAY_MS
        except (ValueError, TypeError, OverflowError):  # no day, or an impossible one
            return False
        kinds = (Category.DAILY, Category.CORE) if day_of(self.saved.name) else (Category.CORE,)
        return not item.pinned and any(self.edits.tombstones.deleted_by_age_ms(begun_ms, kind) for kind in kinds)

    def _add(self, kind: str, text: str, headline: str = "", subject: str = "") -> int:
        key = digest(with_headline(text, headline, subject))
        if key in self.known:
            return 0
        self.known.add(key)
        if day_of(self.saved.name):
            self._add_note(text)
        else:
            kind = Kind.NOTE if self.saved.in_tree else kind
            by = Author.FILE if self.saved.in_tree else Author.PERSON
            new = statement_of(self.saved.project_id, text, kind, by=by, at_ms=self.edits.now_ms())
            files = (".memlayer/" + self.saved.name,) if self.saved.in_tree else ()
            self.edits.consolidator.add_statement(replace(new, files=files, headline=headline, subject=subject))
        return 1

    def _add_note(self, text: str) -> None:
        """Add a user's own, searchable line in a day's file."""
        day, now_ms = day_of(self.saved.name), self.edits.now_ms()
        at_ms = now_ms if local_day(now_ms) == day else noon_ms(day)
        memory_id = event_id(self.saved.project_id, day, Kind.NOTE, text)
        memory = new_memory(
            memory_id, Category.CUSTOM, Kind.NOTE, text, at_ms, project_id=self.saved.project_id, by=Author.PERSON
        )
        self.edits.keep.write([memory])


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
