"""The one way of memories into the store: check, compare, write, tell.

Whoever makes a memory hands it in here: rules, a model that reads sessions, a session's own model, a person, tasks,
colleagues, files, other machines, an import.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memlayer.edge.capture.spool import event_id
from memlayer.errors import UserError
from memlayer.keep.indexer import Indexer
from memlayer.kinds import KINDS, Category, Ended
from memlayer.model import Memory, citation_of, replace
from memlayer.ports import DeletionPlan, MemoryQuery, Removed, Store, memories_by_id
from memlayer.records.tombstones import Tombstones
from memlayer.text.context_block import day_of

MAX_VERSIONS = 1000
MAX_TURNS = 10_000
Links = Callable[[Sequence[Memory]], object]  # takes in the things that memories are about


def head(store: Store, memory: Memory) -> Memory:
    """The memory that holds in place of this one, or itself."""
    return head_of(memory, lambda memory_id: next(iter(store.memories(MemoryQuery(ids=[memory_id]))), None))


def refuse_ended(store: Store, memory: Memory) -> None:
    """Raise UserError, with the cure, for a memory that holds no more."""
    if memory.holds:
        return
    newest = head(store, memory)
    by = f" by {newest.citation}, which `memlayer edit {newest.citation}` changes" if newest.holds else ""
    raise UserError(
        f"{memory.key} holds no more: {memory.ended_because} on {day_of(memory.ended_ms)}{by}. "
        f"`memlayer edit --restore {memory.key}` brings it back"
    )


def head_of(memory: Memory, by_id: Callable[[str], Memory | None]) -> Memory:
    """Follow superseded_by to its end, by a lookup of memories at hand."""
    seen = {memory.id}
    while memory.superseded_by and memory.superseded_by not in seen:
        newer = by_id(memory.superseded_by)
        if newer is None:
            break
        memory = newer
        seen.add(memory.id)
    return memory


def before(store: Store, memory: Memory) -> list[Memory]:
    """Return the memories that this one replaced, directly or not, newest first."""
    by_id: dict[str, Memory] = {}
    wanted = [memory.id]
    while wanted and len(by_id) < MAX_VERSIONS:
        older = store.memories(MemoryQuery(superseded_by=wanted, limit=MAX_VERSIONS))
        older = [row for row in older if row.id not in by_id]
        by_id.update((row.id, row) for row in older)
        wanted = [row.id for row in older]
    return sorted(by_id.values(), key=lambda row: (row.ended_ms, row.at_ms), reverse=True)


def own_turn(store: Store, memory: Memory) -> Memory | None:
    """The turn that a memory was drawn from, the newest of several.

    Itself for a turn. A memory remembered by hand has the last turn before it in its session, if it names one.
    """
    if memory.category == Category.CONVERSATION:
        return memory
    turns = (
        store.memories(MemoryQuery(source_ids=memory.source_ids, category=Category.CONVERSATION))
        if memory.source_ids
        else []
    )
    of_prompt = [row for row in turns if (row.session_id, row.prompt_id) == (memory.session_id, memory.prompt_id)]
    if not turns and memory.session_id:
        turns = store.memories(
            MemoryQuery(session_id=memory.session_id, category=Category.CONVERSATION, limit=MAX_TURNS)
        )
        turns = [row for row in turns if row.at_ms <= memory.at_ms] or turns[-1:]
    return max(of_prompt or turns, key=lambda row: row.at_ms, default=None)


def turns_around(store: Store, turn: Memory, each_side: int) -> list[Memory]:
    """A turn with its neighbours in its session, oldest first."""
    if not turn.session_id:
        return []
    turns = store.memories(MemoryQuery(session_id=turn.session_id, category=Category.CONVERSATION, limit=MAX_TURNS))[
        ::-1
    ]
    place = next((at for at, row in enumerate(turns) if row.id == turn.id), None)
    return turns[max(0, place - each_side) : place + each_side + 1] if place is not None else []


def earlier_wording(memory: Memory, text: str, until_ms: int) -> Memory:
    """The row that keeps an earlier wording of `memory`.

    until_ms: when that ended. The same wording that ended at the same moment is the same row.
    """
    key = event_id(memory.id, text, "wording", str(until_ms))
    return replace(
        memory, id=key, key="%s_%s" % (memory.key, key[:4]), citation=citation_of(key), text=text, pinned=False
    ).ended(Ended.REWORDED, until_ms, memory.id)


def is_wording_of(older: Memory, newer: Memory) -> bool:
    """True for an earlier wording of `newer`, no memory of its own."""
    return older.ended_because is Ended.REWORDED and older.superseded_by == newer.id


def folded_under(store: Store, ids: Sequence[str]) -> list[Memory]:
    """Return statements that ending notes had said, too, in force again."""
    rows = store.memories(MemoryQuery(superseded_by=ids, limit=MAX_VERSIONS)) if ids else []
    return [row.again() for row in rows if row.ended_because is Ended.FOLDED]


@dataclass(frozen=True)
class Change:
    """The change of a batch, for all that is derived from memories.

    project_ids: whose memories are others now; lasting: those with others than turns. turns: that rules have read.
    rules: a person's new ones in them.
    """

    project_ids: frozenset[str] = frozenset()
    lasting: frozenset[str] = frozenset()
    turns: tuple[Memory, ...] = ()
    rules: tuple[Memory, ...] = ()

    def joined(self, later: "Change") -> "Change":
        return Change(
            self.project_ids | later.project_ids, self.lasting | later.lasting, self.turns + later.turns,
            self.rules + later.rules,
        )  # fmt: skip


NO_CHANGE = Change()


@dataclass
class Draft:
    """Memories of a batch as they will be, for its later ones."""

    store: Store
    memories: dict[str, Memory] = field(default_factory=dict)

    def put(self, *memories: Memory) -> None:
        """Insert or replace by id."""
        self.memories.update((memory.id, memory) for memory in memories)

    def get(self, ids: Iterable[str]) -> list[Memory]:
        """The memories of these ids as they will be."""
        wanted = list(dict.fromkeys(ids))
        stored = memories_by_id(self.store, (id_ for id_ in wanted if id_ not in self.memories))
        return [row for row in (self.memories.get(key) or stored.get(key) for key in wanted) if row is not None]

    def replace(self, older: Iterable[Memory], new: Memory, at_ms: int = 0) -> None:
        """End memories that another one replaces, now or at its time."""
        self.put(*(row.ended(Ended.REPLACED, at_ms or new.at_ms, new.id) for row in older if row.id != new.id))

    def reword(self, memory: Memory, new: Memory, until_ms: int) -> None:
        """Give a memory other words; the old ones stay in its history."""
        self.put(earlier_wording(memory, memory.text, until_ms), new)

    def retire(self, memory: Memory, because: Ended, at_ms: int) -> None:
        """End a memory; statements that it had said, too, hold again."""
        self.put(memory.ended(because, at_ms), *folded_under(self.store, [memory.id]))


class Keep:
    """The keeper of all memories, for the writer. Idempotent."""

    def __init__(
        self, store: Store, indexer: Indexer, tombstones: Tombstones, links: Links = lambda memories: None
    ) -> None:
        self.store = store
        self.indexer = indexer
        self.tombstones = tombstones
        self.lock = indexer.lock
        self._links = links
        self._change = NO_CHANGE
        self._telling = threading.Lock()

    @contextmanager
    def draft(self, texts: Mapping[str, str] | None = None) -> Iterator[Draft]:
        """Enclose a batch of changes, written at its end; see write."""
        with self.lock:
            draft = Draft(self.store)
            yield draft
            self.write(draft.memories.values(), texts=texts)

    def write(
        self, memories: Iterable[Memory], *, texts: Mapping[str, str] | None = None, embed: bool = True
    ) -> list[Memory]:
        """Write memories that are not stored like this; return those.

        A new one that was forgotten, or is older than retention keeps, is left out. Chunks come before their memories,
        and those of an ended one go before it ends: a stored memory is in the index as well, and after a crash between
        the two its maker makes it again. texts, embed: see Indexer.index. A turn with a text may have more of it than
        its memory holds. Raises StoreError.
        """
        with self.lock:
            rows = {row.id: row for row in memories}
            stored = memories_by_id(self.store, rows)
            rows = {id_: row for id_, row in rows.items() if id_ in stored or not self.is_forgotten(row)}
            changed = [row for id_, row in rows.items() if row != stored.get(id_)]
            whole = texts or {}
            indexed = [row for id_, row in rows.items() if id_ in whole or _differs_in_index(row, stored.get(id_))]
            if indexed:
                self._links(indexed)
                self.indexer.index(indexed, texts=texts, embed=embed)
            if changed:
                self.store.put_memories(changed)
                self.tell(_change_of(changed))
            return changed

    def renew(self, made: Iterable[Memory], before: Iterable[Memory], because: Ended, at_ms: int) -> list[Memory]:
        """Write a source's memories of now; end those it says no more.

        before: its memories so far. Pin and level stay. So does an end for another reason than `because`, as long as
        the words are the same. Return the memories that changed. Raises StoreError.
        """
        known = {row.id: row for row in before}
        now = {row.id: _carried_over(row, known.get(row.id), because) for row in made}
        gone = [row.ended(because, at_ms) for id_, row in known.items() if id_ not in now and row.holds]
        return self.write([*now.values(), *gone])

    def erase_lent(self, memories: Sequence[Memory]) -> None:
        """Erase memories without tombstones: their file or author may return."""
        if memories:
            self.erase(DeletionPlan(memory_ids=tuple(row.id for row in memories)))
            self.tell(_change_of(memories))

    def erase(self, plan: DeletionPlan) -> Removed:
        """Erase rows, with the vectors that they alone had. Raises StoreError."""
        with self.lock:
            removed = self.store.forget(plan)
            self.indexer.drop_unused()
            return removed

    def tell(self, change: Change) -> None:
        """Add a change to the one that take_change() returns."""
        with self._telling:
            self._change = self._change.joined(change)

    def take_change(self) -> Change:
        """Return all that changed since this was last asked."""
        with self._telling:
            change, self._change = self._change, NO_CHANGE
        return change

    def is_forgotten(self, memory: Memory) -> bool:
        """Return whether a new memory was forgotten, or its words were.

        One that rests on no event is somebody's word of now: only its id counts. A turn, and one of a whole session, is
        made of the events that are left, under the same id.
        """
        if memory.category is Category.CONVERSATION or KINDS[memory.known_kind].of_session:
            return False
        if memory.source_ids and memory.ended_because is not Ended.REWORDED:
            return self.tombstones.covers_memory(memory)
        return memory.id in self.tombstones


def _change_of(memories: Sequence[Memory]) -> Change:
    lasting = (row.project_id for row in memories if row.category is not Category.CONVERSATION)
    return Change(frozenset(row.project_id for row in memories), frozenset(lasting))


def _differs_in_index(new: Memory, stored: Memory | None) -> bool:
    """Return whether the index would hold another thing than now."""
    return stored is None or replace(new, level=0, rules=0) != replace(stored, level=0, rules=0)


def _carried_over(new: Memory, known: Memory | None, because: Ended) -> Memory:
    if known is None:
        return new
    new = replace(new, pinned=known.pinned, level=known.level)
    is_others_end = not known.holds and known.ended_because is not because and known.text == new.text
    return new.ended(known.ended_because, known.ended_ms, known.superseded_by) if is_others_end else new
