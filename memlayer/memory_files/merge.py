"""Changes between a memory file and the revision before the edit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from memlayer.kinds import Kind
from memlayer.memory_files.markdown import Item, digest, normalized, unescaped

_HEADS = (*(box + slash + "[mem:" for box in ("", "[ ] ", "[x] ", "[X] ") for slash in ("", "\\")), "<!-- memlayer")
SMALL = 3  # deletions at once that are accepted however few memories there are


class FileEntry(NamedTuple):
    """A memory as one revision held it. digest: see markdown.digest."""

    memory_id: str
    citation: str
    digest: str
    pinned: bool = False


class FileChanges(NamedTuple):
    """The changes of a file since a revision.

    edited: (memory, new text). deleted: memories whose bullet is gone. added: (kind, text) without a citation. strays:
    bullets whose citation the revision lacks. pinned: (memory, its new state). refused: number of deletions not
    accepted. why: the reason for that, or "".
    """

    edited: tuple[tuple[FileEntry, str], ...] = ()
    deleted: tuple[FileEntry, ...] = ()
    added: tuple[tuple[str, str], ...] = ()
    strays: tuple[Item, ...] = ()
    pinned: tuple[tuple[FileEntry, bool], ...] = ()
    refused: int = 0
    why: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.edited or self.deleted or self.added or self.strays or self.pinned)


def compare(known: Sequence[FileEntry], items: Sequence[Item], *, is_whole: bool, is_known: bool) -> FileChanges:
    """Return the changes from a revision to the file's present items.

    known: the entries of the revision. is_known: the edit began from this very revision, not merely from the present
    memories. Without it, and in a file that was cut off, nothing counts as deleted.
    """
    left = dict.fromkeys(known)
    exact = _grouped(known, lambda entry: (entry.citation, entry.digest))
    cited = _grouped(known, lambda entry: entry.citation)
    worded = _grouped(known, lambda entry: entry.digest)
    present_digests: set[str] = set()
    pinned: list[tuple[FileEntry, bool]] = []
    others = []
    for item in _unescaped_items(known, items):  # unchanged bullets
        text_digest = digest(item.text)
        entry = _taken(left, exact.get((item.citation, text_digest)))
        if entry is None:
            others.append((item, text_digest))
            continue
        present_digests.add(text_digest)
        if entry.pinned != item.pinned:
            pinned.append((entry, item.pinned))
    edited: list[tuple[FileEntry, str]] = []
    emptied, unmatched = [], []
    for item, text_digest in others:  # bullets with another text
        entry = _taken(left, cited.get(item.citation))
        if entry is None:
            unmatched.append((item, text_digest))
        elif not item.text:
            emptied.append(entry)
        elif not (item.is_last and not is_whole):  # a bullet that was cut off is no edit
            edited.append((entry, item.text))
    added: list[tuple[str, str]] = []
    strays = []
    for item, text_digest in unmatched:
        if _taken(left, worded.get(text_digest)) is not None:  # the same words without their citation, or with another
            present_digests.add(text_digest)
        elif not item.text or text_digest in present_digests or (item.is_last and not is_whole and _is_stump(item)):
            continue
        elif item.citation and item.citation not in cited:
            strays.append(item)
        else:
            present_digests.add(text_digest)
            added.append((item.kind or Kind.NOTE, item.text))
    deleted = (*left, *emptied)
    why = _refusal(len(deleted), len(known), is_whole, is_known)
    return FileChanges(
        tuple(edited), () if why else deleted, tuple(added), tuple(strays), tuple(pinned),
        len(deleted) if why else 0, why,
    )  # fmt: skip


def _refusal(deleted: int, known: int, is_whole: bool, is_known: bool) -> str:
    """Return why deletions are not accepted, "" if they are."""
    if deleted and not is_whole:
        return "the file was cut off: its last line is missing"
    if deleted and not is_known:
        return "the file does not say which revision it was made from"
    return "more than half of the memories were gone at once" if deleted > SMALL and 2 * deleted > known else ""


def _grouped(known: Sequence[FileEntry], key: Callable[[FileEntry], Hashable]) -> dict[Hashable, deque[FileEntry]]:
    out: dict[Hashable, deque[FileEntry]] = {}
    for entry in known:
        out.setdefault(key(entry), deque()).append(entry)
    return out


def _taken(left: dict[FileEntry, None], group: deque[FileEntry] | None) -> FileEntry | None:
    """Take the first of the group that is still left."""
    while group:
        entry = group.popleft()
        if entry in left:
            del left[entry]
            return entry
    return None


def present(known: Sequence[FileEntry], items: Sequence[Item]) -> list[FileEntry]:
    """Return the entries of a revision that the file holds unchanged."""
    there = {(item.citation, digest(item.text)) for item in _unescaped_items(known, items)}
    return [entry for entry in known if (entry.citation, entry.digest) in there]


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
