"""Find older statements that a new one repeats, replaces or contradicts.

Time decides, not arrival: an older statement that comes in late (an import, a transcript) never replaces a newer one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memlayer.consolidation.conflict.another_value import content
from memlayer.consolidation.conflict.compare import Verdict, judge
from memlayer.consolidation.conflict.reversal import reverses
from memlayer.keep.keep import Draft, earlier_wording
from memlayer.kinds import BINDING, Category, Ended
from memlayer.model import Memory, Scope, replace
from memlayer.ports import MemoryQuery, Store
from memlayer.text.terms import index_terms
from memlayer.text.value_slots import slots
from memlayer.turns.evidence import joined as joined_evidence

NEAREST = 12  # statements that share most words
MOST_CURRENT = 5000  # lasting memories of a project that are looked at where the index does not tell


@dataclass(frozen=True)
class Conflicts:
    """Placement of a new statement among the known ones."""

    store: Store

    def place(self, draft: Draft, new: Memory) -> Memory:
        """Write the changes that follow from `new` into the draft.

        Returns the memory that holds the statement, which may have ended. A pinned memory keeps its words: only an edit
        of it changes them. Memories of several subjects are never replaced at once: `new` names none of them clearly.
        Only the person replaces their own words: another's contradiction stands beside them, for the review.
        """
        replaced: list[Memory] = []
        replacing: list[Memory] = []
        for known, verdict in self._verdicts(draft, new):
            if verdict == Verdict.MERGE:
                return _merge(draft, known, new)
            if verdict == Verdict.SUPERSEDE:
                older, newer, ended = (new, known, replacing) if new.at_ms < known.at_ms else (known, new, replaced)
                if not older.pinned and (newer.is_persons or not older.is_persons):
                    ended.append(known)
        if replacing and _are_one_subject(replacing):
            by = min(replacing, key=lambda row: row.at_ms)
            new = new.ended(Ended.REPLACED, by.at_ms, by.id)
        if not _are_one_subject(replaced):
            replaced = []
        draft.put(new)
        draft.replace(replaced, new)
        return new

    def place_again(self, draft: Draft, taken_back: Memory) -> None:
        """Have a statement hold again, in its successor's place."""
        instead = draft.get(filter(None, [taken_back.superseded_by]))
        draft.replace((row for row in instead if row.holds), taken_back)
        self.place(draft, taken_back.again())

    def take_back(self, draft: Draft, new: Memory) -> None:
        """Put `new` in the place of the decision that it drops.

        Or of the wish. Only the person's are looked at, and without one nothing is kept. The store is asked, not its
        index: that may be ahead after a crash.
        """
        asked = MemoryQuery(project_id=new.project_id, category=Category.CORE, limit=MOST_CURRENT)
        rows = draft.get([*(row.id for row in self.store.memories(asked)), *draft.memories])
        ended = [
            row
            for row in rows
            if row.kind in BINDING and row.is_persons and row.holds and not row.pinned
            and row.at_ms < new.at_ms and row.project_id == new.project_id and reverses(row.text, new.text)
        ]  # fmt: skip
        if ended and _are_one_subject(ended):
            draft.put(replace(new, kind=ended[0].kind))
            draft.replace(ended, new)

    def pinned_against(self, draft: Draft, memory: Memory) -> list[Memory]:
        """Pinned memories that contradict `memory` and stay: only an edit changes them."""
        verdicts = self._verdicts(draft, memory)
        return [known for known, verdict in verdicts if verdict == Verdict.SUPERSEDE and known.pinned]

    def _verdicts(self, draft: Draft, new: Memory) -> Iterator[tuple[Memory, Verdict]]:
        for known in self._near(draft, new):
            if not _in_one_breath(known, new):
                older, newer = (new, known) if new.at_ms < known.at_ms else (known, new)
                yield known, judge(older.text, newer.text)

    def _near(self, draft: Draft, new: Memory) -> list[Memory]:
        """The draft's and the project's current core memories by shared words.

        All of the project where the index has `new` already: a crash came before the store, and the memories that it
        ends may have left the index.
        """
        scope = Scope((new.project_id,), extra={"category": Category.CORE})
        hits = self.store.search_text(sorted(set(index_terms(new.text).split())), scope, NEAREST)
        ids = [hit.chunk.memory_id for hit in hits]
        if new.id in ids:
            query = MemoryQuery(project_id=new.project_id, category=Category.CORE, is_current=True, limit=MOST_CURRENT)
            ids = [row.id for row in self.store.memories(query)]
        pending = [
            row.id
            for row in draft.memories.values()
            if row.category == Category.CORE and row.project_id == new.project_id
        ]
        near = draft.get([*ids, *pending])
        return [row for row in near if row.id != new.id and row.holds and row.project_id == new.project_id]


def _are_one_subject(memories: Sequence[Memory]) -> bool:
    """True for statements that say the same words, with whatever value."""
    return len({content(slots(row.text)) for row in memories}) <= 1


def _in_one_breath(known: Memory, new: Memory) -> bool:
    """True for two statements of one turn: a cause, its fix."""
    return bool(set(known.source_ids) & set(new.source_ids)) and known.text != new.text


def _merge(draft: Draft, known: Memory, new: Memory) -> Memory:
    """Join two memories into one with the sources of both.

    The person's wording stands, else the newer one, unless it says less or the older memory is pinned. The other
    wording is kept in its history.
    """
    is_others = known.is_persons and not new.is_persons
    is_own = new.is_persons and not known.is_persons
    joined = replace(
        known,
        source_ids=tuple(dict.fromkeys((*known.source_ids, *new.source_ids))),
        importance=max(known.importance, new.importance),
        pinned=known.pinned or new.pinned,
        evidence=joined_evidence(known.evidence, new.evidence),
    )
    is_older = known.pinned or new.at_ms < known.at_ms or _says_less(new.text, known.text)
    if is_others or (is_older and not is_own):
        if new.text != known.text:
            draft.put(earlier_wording(replace(new, id=known.id, key=known.key), new.text, max(new.at_ms, known.at_ms)))
        joined = joined if is_others else replace(joined, at_ms=max(known.at_ms, new.at_ms))
    else:
        if new.text != known.text:
            draft.reword(known, joined, new.at_ms)
        joined = replace(
            joined,
            text=new.text,
            at_ms=new.at_ms,
            session_id=new.session_id,
            prompt_id=new.prompt_id,
            by=new.by,
            rules=new.rules,
        )
    draft.put(joined)
    return joined


def _says_less(text: str, than: str) -> bool:
    return set(index_terms(text).split()) < set(index_terms(than).split())
