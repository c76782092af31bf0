"""Statements of turns; settle a store anew when the rules change."""

from collections.abc import Sequence
from typing import NamedTuple

from memlayer.consolidation.rules.extraction import Extraction
from memlayer.edge.redaction.privacy import PRIVATE
from memlayer.kinds import KINDS, Ended, Kind
from memlayer.model import Memory, replace
from memlayer.turns.evidence import MAX_QUOTE_CHARS, align, evidence_of, to_json
from memlayer.turns.turn import spoken_text

RULES = 8  # goes up when the rules would read old turns differently: they are then consolidated again
MIN_SENTENCE_COLUMNS = 4  # "PR만 써." is a rule


class Resettled(NamedTuple):
    """Changes to a turn's memories. changed: all; retired: those that end."""

    changed: list[Memory]
    retired: list[Memory]


def resettle(memories: Sequence[Memory], turn: Memory, made: Sequence[Memory], now_ms: int) -> Resettled:
    """Compare memories that older rules made of a turn with today's.

    memories: core memories with a source in this turn, ended ones too. Those that no rules drew stay as they are. made:
    the statements found in it now. A memory that has sources in other turns as well only loses this turn's. A
    second call changes nothing.
    """
    because = Ended.TAKEN_BACK if turn.known_kind is Kind.DID_NOT_HOLD else Ended.READ_ANEW
    found = {key: row for row in made for key in (row.id, row.text)}
    changed, retired = [], []
    for row in memories:
        if not row.rules or not (row.holds or row.superseded_by) or row.ended_because is Ended.REWORDED:
            continue
        others = tuple(source for source in row.source_ids if source not in set(turn.source_ids))
        new = found.get(row.id) or found.get(row.text)
        if new is None:
            if others:
                changed.append(replace(row, source_ids=others))
            else:
                retired.append(row.ended(because, now_ms))
        elif not others and (row.text, row.kind, row.by) != (new.text, new.kind, new.by):
            changed.append(replace(row, text=new.text, kind=new.kind, importance=new.importance, by=new.by))
    return Resettled(changed + retired, retired)


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


def of_taken_back(extraction: Extraction, kind: Kind) -> Extraction:
    """Return the rules and the daily entry of a taken-back turn.

    A rule that the person laid down beside the order is no part of the work. One that was left with its turn is.
    """
    rules = tuple(row for row in extraction.statements if row.is_rule and kind is Kind.DID_NOT_HOLD)
    mark = KINDS[kind].mark
    return Extraction(mark + extraction.daily if extraction.daily else "", rules)
