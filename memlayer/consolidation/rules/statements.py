"""Value types for what a turn states: the kinds of core memories, and one statement of a kind."""

from __future__ import annotations

from typing import NamedTuple

DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT = "decision", "preference", "fact", "cause", "commitment"
KINDS = (DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT)
MAX_STATEMENTS = 6  # of one turn, from a language model; the rules keep fewer
MAX_DAILY_CHARS = 320


class Statement(NamedTuple):
    """One lasting statement. kind: one of KINDS. text: reads alone. speaker: user | assistant.

    source: the sentence as it stands in the turn, or in the turn before for a proposal that this turn chose.
    """

    kind: str
    text: str
    source: str
    speaker: str


class Extraction(NamedTuple):
    """What is kept of a turn. daily: what happened, one or two sentences, or None for nothing worth a line."""

    daily: str | None
    statements: tuple[Statement, ...]
