"""Statements of turns; settle a store anew when the rules change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memlayer.consolidation.lineage import is_wording_of
from memlayer.consolidation.rules.extraction import Extraction
from memlayer.edge.redaction.privacy import PRIVATE
from memlayer.kinds import Category
from memlayer.model import Memory
from memlayer.turns.evidence import MAX_QUOTE_CHARS, align, evidence_of, to_json
from memlayer.turns.turn import spoken_text

SESSION_READER = "notes-1"  # Memory.settled of all that a language model wrote of a session
SESSION_WRITER = "notes-1 by session"  # of a note that the session's own model wrote, never a rule
BY_RULES = "rules-"  # turns read by rules alone are settled anew when the rules change
RULES = BY_RULES + "6"  # goes up when the rules would read old turns differently: they are then consolidated again
MIN_SENTENCE_COLUMNS = 4  # "PR만 써." is a rule


class Resettled(NamedTuple):
    """Changes to a turn's memories. changed: all; retired: those that end."""

    changed: list[Memory]
    retired: list[Memory]


def resettle(memories: Sequence[Memory], turn: Memory, made: Sequence[Memory], now_ms: int) -> Resettled:
    """Compare memories that older rules made of a turn with today's.

    memories: core memories with a source in this turn, superseded ones too. Those of a language model stay as they are.
    made: the statements found in it now. A memory that has sources in other turns as well only loses this turn's. A
    second call changes nothing.
    """
    by_id = {row.id: row for row in memories}
    ids, texts = {row.id: row for row in made}, {row.text for row in made}
    changed, retired = [], []
    for row in memories:
        if not is_rule_made(row) or row.settled or _is_wording(row, by_id) or row.superseded_by == row.id:
            continue
        others = tuple(source for source in row.source_ids if source not in set(turn.source_ids))
        if row.id in ids and not others and row.text != ids[row.id].text:
            new = ids[row.id]
            changed.append(replace(row, text=new.text, kind=new.kind, importance=new.importance))
        elif row.id not in ids and row.text not in texts:
            if others:
                changed.append(replace(row, source_ids=others))
            else:
                retired.append(replace(row, superseded_by=row.id, superseded_ms=now_ms))
    return Resettled(changed + retired, retired)


def is_withdrawn(memory: Memory) -> bool:
    """True for a statement that ended because its turn was taken back.

    It ends at the very moment of its turn. What a person or newer rules retire ends later.
    """
    return bool(memory.superseded_by) and memory.superseded_by == memory.id and memory.superseded_ms == memory.at_ms


def is_noted(memory: Memory) -> bool:
    """True for a note of a reading model, or of its session's."""
    return memory.settled in (SESSION_READER, SESSION_WRITER)


def is_rule_made(memory: Memory) -> bool:
    """True for a statement of a turn, never edited, restored or pinned."""
    return bool(memory.category == Category.CORE and memory.prompt_id and memory.session_id and not memory.pinned)


def _is_wording(memory: Memory, by_id: dict[str, Memory]) -> bool:
    holder = by_id.get(memory.superseded_by)
    return holder is not None and is_wording_of(memory, holder)


def with_evidence(extraction: Extraction, prompt_id: str, prompt: str, answer: str) -> Extraction:
    """Give each statement the place of its sentence in the turn.

    None that lacks a private part.
    """
    spoken = spoken_text(prompt, answer)
    statements = []
    for statement in extraction.statements:
        if PRIVATE not in statement.text + statement.source:
            span = align(statement.source[:MAX_QUOTE_CHARS], spoken, min_columns=MIN_SENTENCE_COLUMNS)
            proof = [evidence_of(span, prompt_id, prompt, answer)] if span is not None else []
            statements.append(statement._replace(evidence=to_json(proof)))
    return Extraction(extraction.daily.replace(PRIVATE, "…"), tuple(statements))
