"""The turn of a session that a quote comes from."""

from __future__ import annotations

from collections.abc import Sequence

from memlayer.notes.session_turns import SessionTurn
from memlayer.turns.evidence import Evidence, Method, Span, align, evidence_of


def align_in_turns(quote: str, number: int, turns: Sequence[SessionTurn]) -> tuple[SessionTurn, Evidence] | None:
    """Find a quote in the named turn, else in any.

    number: the turn that the model named; a model counts badly, so it is a hint.
    """
    best: tuple[SessionTurn, Span] | None = None
    for turn in sorted(turns, key=lambda turn: turn.number != number):
        span = align(quote, turn.spoken)
        if span is not None and (best is None or span.confidence > best[1].confidence):
            best = (turn, span)
        if best is not None and (best[1].method != Method.FUZZY or turn.number == number):
            break
    if best is None:
        return None
    turn, span = best
    return turn, evidence_of(span, turn.prompt_id, turn.prompt, turn.answer)
