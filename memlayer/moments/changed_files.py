"""Notes for a file that a session changes for the first time.

Only notes that name exactly this file, and that bind: they say must, only, not, failed or because.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memlayer.kinds import KINDS
from memlayer.model import Memory
from memlayer.moments.error_lines import phrases
from memlayer.moments.file_history import is_same_file
from memlayer.moments.moment import CHANGED_FILE, Moment, MomentLine
from memlayer.turns.headline import is_told_whole

MAX_A_SESSION = 5
MARK = "changed file:"  # and a number, in Session.shown


def binds(text: str) -> bool:
    """True for a text that says must, only, not, failed or because."""
    words = " " + text.lower() + " "
    return any(phrase in words for phrase in phrases("binding"))


def moment_of(path: str, notes: Iterable[Memory], shown: Collection[str], citations: Collection[str]) -> Moment | None:
    """Return the moment of a changed file, or None.

    notes: in force, best first. shown: of the session; citations: that its start gave.
    """
    told = sum(mark.startswith(MARK) for mark in shown)
    if told >= MAX_A_SESSION:
        return None
    for note in notes:
        is_new = note.id not in shown and not (note.citation in citations and is_told_whole(note))
        if is_new and any("/" in file and is_same_file(path, file) for file in note.files) and binds(note.text):
            text = "(%s) %s" % (KINDS[note.known_kind].label, note.text)
            line = MomentLine(note.id, note.at_ms, text, "the note is about the changed file")
            return Moment(CHANGED_FILE, (line,), (note.id, "%s%d" % (MARK, told)))
    return None
