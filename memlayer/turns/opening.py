"""The opening of a prompt, to tell prompts made of a template.

The opening stands among the index terms of its turn as one more term. So the index counts the turns of a project that
begin alike, in memory, and forgets them with the turn. No search ever asks for that term.
"""

from __future__ import annotations

import hashlib
import unicodedata

from memlayer.edge.redaction.privacy import without_marks
from memlayer.text.sentences import width
from memlayer.turns.turn import ASSISTANT, USER, VARIES

# Columns, a Hangul syllable counts as two. On the real sessions (848 turns) no opening as long as this stands in more
# than three turns; of 30 columns four do in six ("can you review the changes in").
COLUMNS = 40
TEMPLATE_TURNS = 5  # earlier turns that begin so
_READ_CHARS = 400  # of a prompt: an opening of words as long as paths is none
_MARK, _LATER = "opening:", "+opening:"


def opening_term(prompt: str) -> str:
    """Return the index term of a prompt's opening, "" for none."""
    columns, kept = 0, []
    head = without_marks(unicodedata.normalize("NFC", prompt))[:_READ_CHARS]
    for word in head.casefold().split():
        kept.append("#" if VARIES.search(word) else word)
        columns += width(kept[-1]) + 1
        if columns > COLUMNS:
            return _MARK + hashlib.sha256(" ".join(kept).encode("utf-8", "replace")).hexdigest()[:12]
    return ""


def of_piece(text: str, place: int) -> str:
    """Return a turn's opening term for one piece, "" for none.

    text: of the whole turn (turns.turn.turn_text). place: of the piece, from 0. Only the first piece counts, so that a
    turn is counted once.
    """
    if not text.startswith(USER):
        return ""
    term = opening_term(text.partition("\n" + ASSISTANT)[0][len(USER) :])
    return term.replace(_MARK, _LATER) if place else term


def opening_in(terms: str) -> str:
    """Return the opening term among a chunk's terms, "" for none."""
    opening = next((term for term in reversed(terms.split()) if term.startswith((_MARK, _LATER))), "")
    return opening.removeprefix("+")
