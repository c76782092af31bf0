"""What came of a turn: the sentence of its answer that says what was done or found out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memlayer.text.prose_sentences import ASSISTANT, candidates, trimmed
from memlayer.turns.routine import is_open_question

_MIN_CHARS = 12
# What was done is better told than how things are.
_DID = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:also |now |just )?(?!need|used to)(?:\w+ed|found|wrote|rewrote|made|set|ran|built"
    r"|split|kept|put|moved)\b"
    r"|^\W{0,2}(?:(?:also|now|successfully|then|fixed:?) )?(?!need|based|indeed|used to)(?:\w+ed|rewrote|wrote|built"
    r"|split)\b|\b(?:has|have) (?:now |also )?been (?:\w+ed|built|split|set|made|rewritten)\b"
    r"|\bnow (?:\w+s|reads?|uses?)\b"
    r"|(?:했|됐|었|았|였|겼|꿨|렸|졌|냈|뒀|놨|뺐|썼|쳤)(?:습니다|어요|다|음)",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|was|were|works|runs|uses|points|lives|means)\b|습니다|이에요|예요", re.IGNORECASE)
_PROMISES = re.compile(
    r"^(?:you'?re welcome|thanks|got it|understood|noted|of course|sure|will do|no problem|sounds good|okay|good|great"
    r"|here (?:is|are)|done[.!]?$)\b"
    r"|^(?:네|알겠|좋습니다|감사|확인했습니다|다행|수고)[^.]{0,14}[.,!]?$|다니 다행|수고하셨|주세요|겠습니다|\bi'?ll\b",
    re.IGNORECASE,
)


def outcome(prompt: str, answers: Sequence[str]) -> str:
    """The sentence that tells what came of the turn, "" where nothing did: small talk, a promise, no answer."""
    if not answers or is_open_question(prompt, list(answers)):
        return ""
    told = [one for one in candidates(answers[-1], ASSISTANT) if _tells(one.text) and not one.asks]
    for pattern in (_DID, _IS):
        for one in told:
            if pattern.search(one.plain):
                return trimmed(one.text) or one.text
    return ""


_HAPPENED = re.compile(
    r"\b(?:\w+ed|found|wrote|rewrote|made|set|ran|built|split|moved|is|are|was|were)\b|[했됐었았였겼꿨]습니다"
    r"|습니다|입니다",
    re.IGNORECASE,
)


def happened(answers: Sequence[str]) -> str:
    """The first sentence that tells what was done or how things are, "" for none."""
    for answer in answers:
        for one in candidates(answer, ASSISTANT):
            if not one.asks and _HAPPENED.search(one.text) and not _PROMISES.search(one.text):
                return one.text
    return ""


def says_done(sentence: str) -> bool:
    """True for a sentence about something that was done."""
    return bool(_DID.search(sentence)) and not _PROMISES.search(sentence)


def _tells(sentence: str) -> bool:
    return len(sentence) >= _MIN_CHARS and not sentence.endswith((":", "：")) and not _PROMISES.search(sentence)
