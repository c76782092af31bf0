"""Find the open item of a session: an unanswered prompt or question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.edge.capture.noise import recallable
from memlayer.text.context_block import cut
from memlayer.text.prose_sentences import ASSISTANT, candidates
from memlayer.text.sentences import width
from memlayer.turns.turn import is_open_question

MAX_CHARS = 180
NARROWEST = 20  # columns; "exit", "Something else?": says nothing to somebody who was not there
ASKED_CHARS = 80

_DATED = re.compile(r"\[(\d{4}-\d\d-\d\d)\]")  # what consolidation adds to "today" and "5월 2일"
_FAREWELL = re.compile(
    r"여기까지|that'?s (?:it|all)\b|call it a day|수고하|good night|see you|자자\b|퇴근", re.IGNORECASE
)


def left_open(turns: Sequence[tuple[str, Sequence[str]]]) -> str:
    """The unanswered prompt or closing question, "" for none. turns: (prompt, answers), oldest first.

    Sentences that only sound like work left ("next step", "아직 안") are not looked for: in the last answers of real
    sessions they were wrong each time (docs/experiments.md).
    """
    if not turns or not (said := " ".join(turns[-1][0].split())):
        return ""
    prompt, answers = turns[-1]
    spoken = [answer for answer in answers if answer.strip()]
    if not spoken or is_open_question(prompt, list(answers)):
        return cut(said, MAX_CHARS) if recallable(prompt) and width(said) >= NARROWEST else ""
    closing = candidates(spoken[-1], ASSISTANT)[-1:]
    if not closing or not closing[0].asks or width(closing[0].text) < NARROWEST:
        return ""
    asked = cut(closing[0].text, MAX_CHARS - ASKED_CHARS)
    return "%s → %s" % (cut(said, ASKED_CHARS), asked) if recallable(prompt) else asked


def is_farewell(text: str) -> bool:
    """True for a goodbye at the end of a day's work."""
    return len(text) < 80 and bool(_FAREWELL.search(text))


def is_due(commitment: str, today: str) -> bool:
    """True for a commitment that still binds: not small talk, and none of its dates is over. today: YYYY-MM-DD."""
    dates = _DATED.findall(commitment)
    bare = _DATED.sub("", commitment)
    return recallable(bare) and not is_farewell(bare) and (not dates or max(dates) >= today)
