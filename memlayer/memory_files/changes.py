"""A person's changes of a memory file since it was written."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container, Sequence
from typing import NamedTuple

from memlayer.kinds import Kind
from memlayer.memory_files.markdown import FileEntry, Item, digest, normalized, unescaped, without_stamp

_HEADS = (*(box + slash + "[mem:" for box in ("", "[ ] ", "[x] ", "[X] ") for slash in ("", "\\")), "<!-- memlayer")
SMALL = 3  # deletions at once that are accepted however few memories there are
CUT_OFF = "the file was cut off: its last line is missing"
NO_STATE = "the file does not say any more what was written in it"
TOO_MANY = "more than half of the memories were gone at once"
NEWER = "the copy that was saved is older than these lines"


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
