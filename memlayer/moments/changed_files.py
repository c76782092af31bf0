"""Notes for a file that a session changes for the first time.

Only notes that name exactly this file, and that bind: they say must, only, not, failed or because.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from memlayer.kinds import KINDS
from memlayer.model import Memory
from memlayer.moments.error_lines import phrases
from memlayer.moments.file_history import is_same_file
from memlayer.text import context_block
from memlayer.turns.headline import is_told_whole

MAX_A_SESSION = 5
KIND, REASON = "changed file", "the note is about the changed file"
MARK = KIND + ":"  # and a number, in Session.shown
ROOM = context_block.Budget(1, 240, 480)


class Moment(NamedTuple):
    """A note given at a tool call, with its marks."""

    memory_id: str
    block: str
    marks: tuple[str, ...]


def binds(text: str) -> bool:
    """True for a text that says must, only, not, failed or because."""
    words = " " + text.lower() + " "
    return any(phrase in words for phrase in phrases("binding"))


def moment_of(path: str, notes: Iterable[Memory], shown: Collection[str], citations: Collection[str]) -> Moment | None:
    """Return the moment of a changed file, or None.

    notes: in force, best first. shown: of the session. citations: that its start gave.
    """
    told = sum(mark.startswith(MARK) for mark in shown)
    if told >= MAX_A_SESSION:
        return None
    for note in notes:
        is_new = note.id not in shown and not (note.citation in citations and is_told_whole(note))
        if is_new and any("/" in file and is_same_file(path, file) for file in note.files) and binds(note.text):
            text = "(%s) %s" % (KINDS[note.known_kind].label, note.text)
            entry = context_block.Entry(note.citation, context_block.day_of(note.at_ms), text)
            block = context_block.block([entry], ROOM, context_block.SHORT_EXPLANATION)
            return Moment(note.id, block, (note.id, "%s%d" % (MARK, told)))
    return None
