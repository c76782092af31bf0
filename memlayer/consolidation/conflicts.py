"""Find older statements that a new one repeats, replaces or contradicts.

Time decides, not arrival: an older statement that comes in late (an import, a transcript) never replaces a newer one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.conflict.another_value import content
from memlayer.consolidation.conflict.compare import Verdict, judge
from memlayer.consolidation.lineage import earlier_wording
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import Category, Ended
from memlayer.model import Memory, Scope, replace
from memlayer.ports import Store, memories_by_id
from memlayer.text.terms import index_terms
from memlayer.text.value_slots import slots
from memlayer.turns.evidence import joined as joined_evidence
from memlayer.turns.turn_memory import is_searched

NEAREST = 12  # statements that share most words


@dataclass
class Draft:
    """Changes to core memories, seen by later statements at once; idempotent."""

    store: Store
    indexer: Indexer
    memories: dict[str, Memory] = field(default_factory=dict)  # their future state

    def put(self, *memories: Memory) -> None:
        """Insert or replace by id."""
        self.memories.update((memory.id, memory) for memory in memories)

    def get(self, ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids as they will be."""
        wanted = list(dict.fromkeys(ids))
        stored = memories_by_id(self.store, (id_ for id_ in wanted if id_ not in self.memories))
        return [row for row in (self.memories.get(key) or stored.get(key) for key in wanted) if row is not None]

    def commit(self) -> None:
        """Write the batch into store and search index. Raises StoreError.

        Ended memories leave the index. In this order: after a crash between the two, the maker of this draft
        makes it again.
        """
        self.store.put_memories(list(self.memories.values()))
        self.index()
        self.memories.clear()

    def index(self, texts: Mapping[str, str] | None = None) -> None:
        """Write the batch into the search index alone. texts: see Indexer.index."""
        searched = [memory for memory in self.memories.values() if is_searched(memory)]
        gone = [row.id for row in self.memories.values() if row.category != Category.DAILY and not is_searched(row)]
        if searched:
            self.indexer.index(searched, texts=texts)
        if gone:
            self.store.drop_chunks(gone)


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
        draft.put(new, *(row.ended(Ended.REPLACED, new.at_ms, new.id) for row in replaced))
        return new

    def place_again(self, draft: Draft, taken_back: Memory) -> None:
        """Have a statement hold again, in its successor's place."""
        instead = draft.get(filter(None, [taken_back.superseded_by]))
        draft.put(*(row.ended(Ended.REPLACED, taken_back.at_ms, taken_back.id) for row in instead if row.holds))
        self.place(draft, taken_back.again())

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
        """The draft's and the project's current core memories by shared words."""
        scope = Scope((new.project_id,), extra={"category": Category.CORE})
        hits = self.store.search_text(sorted(set(index_terms(new.text).split())), scope, NEAREST)
        pending = [
            row.id
            for row in draft.memories.values()
            if row.category == Category.CORE and row.project_id == new.project_id
        ]
        near = draft.get([*(hit.chunk.memory_id for hit in hits), *pending])
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
            draft.put(earlier_wording(known, known.text, new.at_ms))
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
