"""Rows of memories as schema 5 had them: older stores and exports.

There `settled` was an author, a version and a mark of reading at once, and a memory that nothing replaced ended by
its own id.
"""

from collections.abc import Mapping
from typing import Any

from memlayer.kinds import Author, Category, Ended, Kind, kind_of

VERSION = 5
GONE = ("settled", "superseded_ms")  # columns
READER, SESSION, RULES = "notes-1", "notes-1 by session", "rules-"
DRAWN_BY = 6  # the version of the rules that drew its statements


def upgraded(row: Mapping[str, Any], *, is_models: bool = False) -> dict[str, Any]:
    """Return a row of now. is_models: a model asked for it."""
    out = {name: value for name, value in row.items() if name not in GONE}
    if "settled" not in row or row.get("ended_because"):
        return out
    settled, ended_ms = row["settled"], row.get("superseded_ms", 0)
    is_core = row["category"] == Category.CORE and row["kind"] != Kind.TASK
    is_drawn = is_core and bool(row["prompt_id"] and row["session_id"] and not row["pinned"] and not settled)
    read = int(settled.removeprefix(RULES)) if settled.startswith(RULES) else 0
    out |= {"by": _author(row, is_core, is_models).value, "rules": DRAWN_BY if is_drawn else read}
    ended = _end(row, is_drawn)
    is_own = row.get("superseded_by") == row["id"]
    out |= {"ended_because": ended.value, "ended_ms": ended_ms if ended else 0}
    return out | ({"superseded_by": ""} if is_own else {})


def _author(row: Mapping[str, Any], is_core: bool, is_models: bool) -> Author:
    kind, settled, category = kind_of(row["category"], row["kind"]), row["settled"], row["category"]
    if kind is Kind.TEAM:
        return Author.COLLEAGUE
    if category == Category.DAILY:
        is_by_model = settled == READER or kind is Kind.COMPACTION
        return (Author.READER if settled else Author.MODEL) if is_by_model else Author.MEMLAYER
    if kind is Kind.PIECE:
        return Author.FILE
    if not is_core:
        return Author.PERSON
    is_touched = row["pinned"] or not row["session_id"]  # by a person: edited, restored or pinned
    if settled in (READER, SESSION):
        return Author.ADOPTED if is_touched else Author.READER if settled == READER else Author.MODEL
    evidence = row.get("evidence", "")
    is_models = is_models or (bool(evidence) and '"speaker":"user"' not in evidence)
    return Author.MODEL if is_models and not is_touched else Author.PERSON


def _end(row: Mapping[str, Any], is_drawn: bool) -> Ended:
    by, own_id = row.get("superseded_by", ""), row["id"]
    if not by:
        return Ended.NOT
    if by != own_id:
        is_wording = row["key"].endswith("_%s_%s" % (by[:4], own_id[:4]))
        return Ended.REWORDED if is_wording else Ended.REPLACED
    kind = kind_of(row["category"], row["kind"])
    ends = {Kind.TASK: Ended.CARRIED_OUT, Kind.TOPIC: Ended.REGROUPED, Kind.PIECE: Ended.GONE}
    is_with_turn = row.get("superseded_ms", 0) == row["at_ms"]
    if kind in ends:
        return ends[kind]
    if is_with_turn and is_drawn:
        return Ended.TAKEN_BACK
    return Ended.UNTRUE if is_with_turn and row["settled"] else Ended.LET_GO
