"""Statements drawn again of events, beside the rest of a damage."""

from collections.abc import Mapping, Sequence

from memlayer.consolidation.conflicts import Conflicts
from memlayer.consolidation.extractor import RULES
from memlayer.keep.keep import Draft
from memlayer.kinds import Author, Category, Ended, Kind
from memlayer.model import FROM_INDEX, Memory, replace
from memlayer.ports import MemoryQuery, Store

EVERYTHING = 10_000_000


class Redraw:
    """The memories that came back from the search index, and their authors.

    The index holds all in force. Statements that it lacks stay ended. Only wishes that may
    be somebody else's are in no index.
    """

    def __init__(self, store: Store, conflicts: Conflicts) -> None:
        self._conflicts = conflicts
        rows = [row for row in store.memories(MemoryQuery(limit=EVERYTHING)) if row.rules == FROM_INDEX]
        unread = MemoryQuery(category=Category.CONVERSATION, unread_by=RULES, limit=EVERYTHING)
        self.unread = {row.id for row in store.memories(unread) if row.rules == 0}
        self.turns = {row.id for row in rows if row.category == Category.CONVERSATION}
        self._left = {row.id: row for row in rows if row.id not in self.turns}
        self._rows = dict(self._left)
        self._by_text = {(row.project_id, row.text): row.id for row in self._rows.values()}

    def __bool__(self) -> bool:
        return bool(self.turns or self._rows)

    def draw(self, draft: Draft, new: Memory, *, is_known: bool = True) -> None:
        """Put a statement into the draft as it was before the damage.

        is_known: False where it stood in no index before either.
        """
        same = self._rows.get(new.id) or self._rows.get(self._by_text.get((new.project_id, new.text), ""))
        if same is not None:
            self._rows[same.id] = row = _joined(same, new)
            self._left.pop(same.id, None)
            draft.put(row)
        elif is_known and not draft.get([new.id]):
            trial = Draft(draft.store, dict(draft.memories))
            placed = self._conflicts.place(trial, new)
            if placed.id != new.id:
                draft.put(*(replace(row, source_ids=placed.source_ids) for row in draft.get([placed.id])))
            elif new.by is Author.UNCLEAR:
                draft.memories.update(trial.memories)
            else:
                draft.put(placed.ended(Ended.LOST, new.at_ms) if placed.holds else placed)

    def rest(self) -> list[Memory]:
        """Return the rows without events. A wish among them is asked about."""
        return [replace(row, rules=0, by=Author.UNCLEAR if _is_rule(row) else row.by) for row in self._left.values()]


def is_without_author(row: Memory) -> bool:
    """True for a wish of the index whose words no event holds."""
    return row.by is Author.UNCLEAR and row.rules == 0 and row.holds and _is_rule(row)


def _is_rule(row: Memory) -> bool:
    """True for a wish that is no rule without its author."""
    return row.known_kind is Kind.PREFERENCE and row.category == Category.CORE and not row.pinned


def _joined(row: Memory, new: Memory) -> Memory:
    """Return an index's memory with its statement's author and sources."""
    row = replace(row, source_ids=tuple(dict.fromkeys((*row.source_ids, *new.source_ids))))
    if row.rules != FROM_INDEX:  # a newer statement was its wording
        return row
    if row.text != new.text:  # edited since, or merged: a model's words stay a model's
        return replace(row, rules=0, by=Author.PERSON if new.by is Author.UNCLEAR else new.by)
    # Unclear words are in no index: these were kept by the person.
    by = Author.PERSON if new.by is Author.UNCLEAR else new.by
    return replace(row, rules=new.rules if by is new.by else 0, by=by, evidence=new.evidence)


def dropped(rows: Sequence[Memory], decisions: Mapping[str, int]) -> list[Memory]:
    """Return drawn rows that a person had let go.

    decisions: id -> when.
    """
    return [
        row.ended(Ended.LET_GO, decisions[row.id])
        for row in rows
        if (row.holds or row.ended_because is Ended.LOST) and row.rules == RULES and row.at_ms <= decisions[row.id]
    ]
