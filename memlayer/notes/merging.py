"""What a new note may replace, and what it must carry over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memlayer.kinds import Kind
from memlayer.model import Memory
from memlayer.notes.checks import MAX_TEXT_CHARS, CheckedNote
from memlayer.text.terms import index_terms

STORIES = (Kind.ATTEMPT, Kind.CAUSE)  # their numbers hold on. A decision's are changed by its reversal
UNCONFIRMED = {True: " (시도함, 미확인)", False: " (tried, unconfirmed)"}
TAKEN_BACK = {True: " (시도했으나 유지되지 않음)", False: " (tried, did not hold)"}
EARLIER = {True: " 이전: ", False: " Earlier: "}
_UNCONFIRMED = re.compile(
    r"unconfirmed|untested|not (?:yet )?(?:verified|confirmed|tested)|미확인|확인 ?(?:안|전|되지)", re.I
)
_EXACT = re.compile(r"`[^`\n]+`|\b[A-Za-z_][\w.-]*[\d_.A-Z][\w.-]*\b|\d[\d.]*")
_HANGUL = re.compile("[가-힣]")


class Merged(NamedTuple):
    """A note's final text, and the memories that it replaces."""

    text: str
    replaced: list[Memory]


def is_unconfirmed(text: str) -> bool:
    """Return whether a note says that nobody has seen it hold."""
    return bool(_UNCONFIRMED.search(text))


def taken_back(text: str) -> str:
    """Return an unconfirmed cause's text as that of an attempt."""
    is_korean = bool(_HANGUL.search(text))
    for mark in UNCONFIRMED.values():
        text = text.removesuffix(mark)
    return text + TAKEN_BACK[is_korean]


def merge(note: CheckedNote, named: Sequence[Memory]) -> Merged:
    """Return a note's text with all it must keep of replaced ones.

    named: memories in its `replaces` that a machine made. The clauses of an older attempt or cause that the new text
    lacks are appended where there is room. Where there is none the older note stays beside it.
    """
    text, replaced = note.text, []
    for old in named:
        lost = _lost(old, text, note)
        is_korean = bool(_HANGUL.search(old.text))
        joined = text + EARLIER[is_korean] + old.text if lost else text
        if len(joined) <= MAX_TEXT_CHARS:
            text = joined
            replaced.append(old)
    return Merged(text, replaced)


def _lost(old: Memory, text: str, note: CheckedNote) -> bool:
    """Return whether the new text lacks exact words of an older story."""
    if old.kind not in STORIES or note.draft.kind not in STORIES:
        return False
    exact = {token.strip("`.").lower() for token in _EXACT.findall(old.text)}
    missing = {word for word in exact if word and word not in text.lower()}
    terms = frozenset(index_terms(old.text).split())
    kept = len(terms & frozenset(index_terms(text).split())) / max(1, len(terms))
    return bool(exact) and len(missing) > len(exact) / 2 and kept < 0.5
