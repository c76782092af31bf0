"""Puts a new core memory among the others of its project: it merges with one, replaces some, or stands beside them.

Time decides, not arrival: an older statement that comes in late (an import, a transcript) never replaces a newer one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from memlayer.consolidation.conflict.conflict import MERGE, SUPERSEDE, judge
from memlayer.consolidation.conflict.subject_name import compare_names
from memlayer.consolidation.draft import Draft
from memlayer.consolidation.lineage import earlier_wording
from memlayer.consolidation.neighbours import Neighbours
from memlayer.model import Memory
from memlayer.text.terms import index_terms


@dataclass(frozen=True)
class Conflicts:
    """Decides what a new statement does to what is known."""

    neighbours: Neighbours

    def place(self, draft: Draft, new: Memory) -> Memory:
        """Write into the draft what follows from `new`; returns the memory that now says it, which may be superseded.

        A pinned memory keeps its words: only an edit of it changes them. Memories of several subjects are never
        superseded at once: `new` names none of them clearly.
        """
        replaced: list[Memory] = []
        replacing: list[Memory] = []
        for known, verdict in self._verdicts(draft, new):
            if verdict == MERGE:
                return _merge(draft, known, new)
            if verdict == SUPERSEDE and new.at_ms < known.at_ms:
                replacing.append(known)
            elif verdict == SUPERSEDE and not known.pinned:
                replaced.append(known)
        if not new.pinned and replacing and _are_one_subject(replacing):
            by = min(replacing, key=lambda one: one.at_ms)
            new = replace(new, superseded_by=by.id, superseded_ms=by.at_ms)
        if not _are_one_subject(replaced):
            replaced = []
        draft.put(new, *(replace(one, superseded_by=new.id, superseded_ms=new.at_ms) for one in replaced))
        return new

    def pinned_against(self, draft: Draft, memory: Memory) -> list[Memory]:
        """The pinned memories that say otherwise and stay, since only an edit changes them."""
        found = self._verdicts(draft, memory)
        return [known for known, verdict in found if verdict == SUPERSEDE and known.pinned]

    def _verdicts(self, draft: Draft, new: Memory) -> Iterator[tuple[Memory, str]]:
        for known, relevance in self.neighbours.near(new, draft):
            if not _in_one_breath(known, new):
                older, newer = (new, known) if new.at_ms < known.at_ms else (known, new)
                yield known, judge(older.text, newer.text, relevance).verdict


def _are_one_subject(memories: Sequence[Memory]) -> bool:
    return not any(compare_names(one.text, other.text).reason for one, other in combinations(memories, 2))


def _in_one_breath(known: Memory, new: Memory) -> bool:
    """True for two statements of one turn, such as a cause and its fix: they belong together, neither replaces the
    other, however alike they are."""
    return bool(set(known.source_ids) & set(new.source_ids)) and known.text != new.text


def _merge(draft: Draft, known: Memory, new: Memory) -> Memory:
    """One memory with the sources of both. The newer wording stands, unless it says less or the older one is pinned;
    the other one is kept in its history."""
    joined = replace(
        known,
        source_ids=tuple(dict.fromkeys((*known.source_ids, *new.source_ids))),
        importance=max(known.importance, new.importance),
        pinned=known.pinned or new.pinned,
    )
    if known.pinned or new.at_ms < known.at_ms or _says_less(new.text, known.text):
        if new.text != known.text:
            draft.put(earlier_wording(replace(new, id=known.id, key=known.key), new.text, max(new.at_ms, known.at_ms)))
        joined = replace(joined, at_ms=max(known.at_ms, new.at_ms))
    else:
        if new.text != known.text:
            draft.put(earlier_wording(known, known.text, new.at_ms))
        joined = replace(
            joined,
            text=new.text,
            at_ms=new.at_ms,
            session_id=new.session_id,
            prompt_id=new.prompt_id,
        )
    draft.put(joined)
    return joined


def _says_less(text: str, than: str) -> bool:
    return set(index_terms(text).split()) < set(index_terms(than).split())
