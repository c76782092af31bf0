"""What one turn yields: a daily line and lasting statements. By rules here; a language model may do it instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memlayer.consolidation.rules.extraction import Statement, extract

BY_RULES = "rules-"  # what such a reader alone made of a turn is settled anew when the rules change
RULES = BY_RULES + "2"  # goes up when the rules would read old turns differently: they are then consolidated again


@dataclass(frozen=True)
class Extracted:
    """What one turn yields. daily: one or two sentences on what happened, "" for nothing worth a line."""

    daily: str
    statements: tuple[Statement, ...]


class Extractor(Protocol):
    """Reads turns. One thread at a time calls it (the daemon's writer)."""

    @property
    def fingerprint(self) -> str:
        """Names the extractor and its version, such as `rules-1`; kept with each turn that it has read."""
        ...

    def extract(self, prompt: str, answers: Sequence[str], at_ms: int, before: str = "") -> Extracted:
        """prompt and answers of a turn, as they were stored (redacted); at_ms: when it was said, Unix ms; before: the
        last answer of the turn before, "" where the prompt can be no reply to it. Never raises on any text."""
        ...


class RulesExtractor:
    """The rules of consolidation.rules.extraction: no model, Korean and English, a few milliseconds a turn."""

    @property
    def fingerprint(self) -> str:
        return RULES

    def extract(self, prompt: str, answers: Sequence[str], at_ms: int, before: str = "") -> Extracted:
        found = extract(prompt, answers, at_ms, before=before)
        return Extracted(found.daily or "", found.statements)
