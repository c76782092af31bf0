"""What holds for a whole turn: whether the prompt asks, orders, reports trouble, quotes, or leaves things open."""

from __future__ import annotations

import re
from typing import NamedTuple

from memlayer.core import extraction_answers as answers
from memlayer.core import extraction_english_shapes as english
from memlayer.core import extraction_korean as korean
from memlayer.core.extraction_framed import supposes
from memlayer.core.extraction_sentences import Candidate
from memlayer.core.sentences import sentences


class Judged(NamedTuple):
    """A sentence worth keeping. signals: what spoke for it. confidence in [0, 1]."""

    candidate: Candidate
    kind: str
    signals: tuple[str, ...]
    confidence: float


class Turn(NamedTuple):
    """undecided: the person says that nothing is settled. quotes_others: what stands there is not theirs. trouble: it
    reports some. ordered: it asks for work; builds: for something new, so it describes that. lookup: it asks for
    something to find out in this project. lists_decisions: its numbered sentences are decisions. news: the answer
    takes it for news. taken: the answer takes it up and does nothing.
    """

    undecided: bool
    quotes_others: bool
    trouble: bool
    ordered: bool
    lookup: bool
    lists_decisions: bool
    builds: bool
    news: bool
    taken: bool


def look_at(prompt: str, reply: str, answer: str = "") -> Turn:
    """Read the prompt as a whole. reply: the first sentence of the answer, or "". answer: all of it."""
    news = bool(answers.ACKNOWLEDGES.search(reply))
    found = (english.UNDECIDED, korean.UNDECIDED), (english.QUOTES_OTHERS, korean.QUOTES_OTHERS)
    undecided, quotes = (any(pattern.search(prompt) for pattern in patterns) for patterns in found)
    asks = bool(answers.LOOKUP.search(prompt)) or bool(_ASKS_HOW_IT_IS.search(prompt))
    asks = asks and ("?" in prompt or not english.TASK_ORDER.search(prompt) or bool(_ASKS_TO_TELL.search(prompt)))
    supposed = supposes(prompt)  # an answer to that explains nothing that happened
    lookup = asks and not answers.NOT_A_LOOKUP.search(prompt) and not supposed
    ordered = any(is_order(line[span.start : span.end]) for line in prompt.split("\n") for span in sentences(line))
    builds = ordered and bool(english.BUILDS.search(prompt) or korean.BUILDS.search(prompt))
    taken = bool(answers.TAKES_UP.search(answer.strip()))
    listed = re.search(r"결정 ?사항|확정 ?사항|합의 ?사항|\bdecisions?\b[^.\n]{0,30}:", prompt, re.IGNORECASE)
    trouble = bool(answers.TROUBLE.search(prompt)) and not supposed
    return Turn(undecided, quotes, trouble, ordered, lookup, bool(listed), builds, news, taken)


_ASKS_HOW_IT_IS = re.compile(
    r"\b(?:do|does|are|is) (?:we|our|you sure|it (?:still )?(?:use|run|log|need|cache|go|write|read|support)"
    r"|the tests)\b"
    r"|(?:쓰|하|되|돼|있|나가|가|들어가|쌓이|돌|찍히)(?:고 있)?(?:는지|나요?|니|지)[?]?$|알 수 있어|쓰고 있지"
    r"|[은는이가] [^?]{0,12}[야지][?]?$",
    re.IGNORECASE,
)
_ASKS_TO_TELL = re.compile(
    r"^(?:\W*(?:please|so|ok|and),? )*(?:tell|remind|walk|explain|show me (?:where|who|how))\b", re.IGNORECASE
)


def is_order(sentence: str) -> bool:
    """True if the sentence asks for something to be done."""
    orders = (english.TASK_ORDER, english.REQUEST, korean.REQUEST)
    return any(pattern.search(sentence) for pattern in orders)
