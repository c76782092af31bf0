"""What becomes of a turn's core memories when newer rules read it again: what they would not make is retired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from memlayer.consolidation.lineage import is_wording_of
from memlayer.model import Memory


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
