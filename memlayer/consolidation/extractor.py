"""Draw statements by rules; settle a store anew when they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from memlayer.consolidation.lineage import is_wording_of
from memlayer.consolidation.rules.extraction import Statement, extract
from memlayer.model import Memory

BY_RULES = "rules-"  # what such a reader alone made of a turn is settled anew when the rules change
RULES = BY_RULES + "3"  # goes up when the rules would read old turns differently: they are then consolidated again


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


class Resettled(NamedTuple):
    """changed: memories to write, the retired ones among them. retired: what holds no more."""

    changed: list[Memory]
    retired: list[Memory]


def resettle(held: Sequence[Memory], turn: Memory, made: Sequence[Memory], now_ms: int) -> Resettled:
    """Compare what older rules made of a turn with what the rules make of it now.

    held: core memories with a source in this turn, superseded ones too. made: what the rules find in it now. A memory
    that has sources in other turns as well only loses this turn's. Doing it again changes nothing.
    """
    by_id = {one.id: one for one in held}
    ids, texts = {one.id: one for one in made}, {one.text for one in made}
    changed, retired = [], []
    for one in held:
        if not is_rule_made(one) or _is_wording(one, by_id) or one.superseded_by == one.id:
            continue
        others = tuple(source for source in one.source_ids if source not in set(turn.source_ids))
        if one.id in ids and not others and one.text != ids[one.id].text:
            new = ids[one.id]
            changed.append(replace(one, text=new.text, kind=new.kind, importance=new.importance))
        elif one.id not in ids and one.text not in texts:
            if others:
                changed.append(replace(one, source_ids=others))
            else:
                retired.append(replace(one, superseded_by=one.id, superseded_ms=now_ms))
    return Resettled(changed + retired, retired)


def is_rule_made(memory: Memory) -> bool:
    """True for what was found in a turn, and not edited, restored or pinned since."""
    return bool(memory.category == "core" and memory.prompt_id and memory.session_id and not memory.pinned)


def _is_wording(memory: Memory, by_id: dict[str, Memory]) -> bool:
    holder = by_id.get(memory.superseded_by)
    return holder is not None and is_wording_of(memory, holder)
