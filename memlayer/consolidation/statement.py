"""Memories made of statements: core memories, daily entries, remembered texts."""

import datetime
from collections.abc import Sequence

from memlayer.consolidation.extractor import RULES
from memlayer.consolidation.rules.dates import with_dates
from memlayer.consolidation.rules.extraction import Statement, kind_of
from memlayer.edge.capture.spool import event_id
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery, Store
from memlayer.text.sentences import USER
from memlayer.turns.evidence import Evidence, from_json
from memlayer.turns.salience import new_memory
from memlayer.turns.turn import MAX_MEMORY_CHARS, cut_whole, with_holes


def without_echoes(orders: Sequence[Memory]) -> list[Memory]:
    """Leave out a model's wording of an order beside it.

    Both rest on the same words of one turn. The person's own wording stays.
    """
    own = [(row.session_id, span) for row in orders if row.is_persons for span in from_json(row.evidence)]
    return [row for row in orders if row.is_persons or not _repeats(row, own)]


def _repeats(row: Memory, own: Sequence[tuple[str, Evidence]]) -> bool:
    spans = from_json(row.evidence)
    return any(session == row.session_id and words.overlaps(span) for session, words in own for span in spans)


def statement_of(
    project_id: str,
    text: str,
    kind: str,
    *,
    by: Author,
    at_ms: int,
    origin: str = "",
    session_id: str = "",
    source_ids: Sequence[str] = (),
    prompt_id: str = "",
    pinned: bool = False,
) -> Memory:
    """A core memory; the same origin (turn and sentence) gives one id."""
    text = cut_whole(text, MAX_MEMORY_CHARS)
    memory_id = event_id(
        project_id, origin or "\0".join((*source_ids, str(at_ms))), Category.CORE, "" if prompt_id else text
    )
    return new_memory(
        memory_id, Category.CORE, kind, text, at_ms, project_id=project_id, session_id=session_id,
        prompt_id=prompt_id, source_ids=tuple(source_ids), by=by, pinned=pinned,
    )  # fmt: skip


def found_in(turn: Memory, statement: Statement) -> Memory:
    """The core memory that a statement found in a turn makes."""
    by = Author.UNCLEAR if statement.is_unclear else Author.PERSON if statement.speaker == USER else Author.MODEL
    made = statement_of(
        turn.project_id, statement.text, statement.kind, by=by, origin=turn.id + "\0" + statement.source,
        session_id=turn.session_id, source_ids=turn.source_ids, at_ms=turn.at_ms, prompt_id=turn.prompt_id,
    )  # fmt: skip
    return replace(made, evidence=statement.evidence, rules=RULES)


def unclear_wishes(store: Store, project_id: str, limit: int, *, is_current: bool | None = True) -> list[Memory]:
    """Return the wishes of a project's prompts that may be somebody else's."""
    asked = MemoryQuery(
        project_id=project_id, category=Category.CORE, kind=Kind.PREFERENCE, is_current=is_current, limit=limit
    )
    return [row for row in store.memories(asked) if row.by is Author.UNCLEAR]


def daily_of(turn: Memory, text: str) -> Memory | None:
    """The daily entry of a turn; None for an empty text."""
    if not text.strip():
        return None
    return new_memory(
        event_id(turn.session_id, turn.prompt_id, Category.DAILY), Category.DAILY, Kind.ENTRY,
        cut_whole(text, MAX_MEMORY_CHARS), turn.at_ms, project_id=turn.project_id, session_id=turn.session_id,
        prompt_id=turn.prompt_id, source_ids=turn.source_ids,
    )  # fmt: skip


def as_said(text: str, at_ms: int) -> tuple[str, Kind]:
    """(text, kind) of a text to remember; "" for nothing.

    A sentence that lacks its private part keeps the mark.
    In a promise, days that mean another day tomorrow get their date.
    """
    text = with_holes(text).strip()
    kind = kind_of(text)
    if kind == Kind.COMMITMENT:  # a day in anything else may mean every week
        text = with_dates(text, datetime.datetime.fromtimestamp(at_ms / 1000).date())
    return text, kind
