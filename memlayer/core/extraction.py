"""From a turn to what is kept of it: a daily entry and lasting statements, by rules, in Korean and English."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import NamedTuple

from memlayer.core.extraction_answered import judge_answered
from memlayer.core.extraction_dates import with_dates
from memlayer.core.extraction_naming import self_contained, trimmed
from memlayer.core.extraction_said import judge_said, without_symptoms
from memlayer.core.extraction_sentences import ASSISTANT, MAX_TURN_CHARS, USER, Candidate, candidates
from memlayer.core.extraction_signals import FACT, PREFERENCE, VALUE
from memlayer.core.extraction_turn import Judged, look_at
from memlayer.core.noise import is_noise, recallable
from memlayer.core.terms import index_terms

__all__ = ["Extraction", "Statement", "extract"]

MAX_STATEMENTS = 6
MAX_DAILY_CHARS = 320
_SAME = 0.6  # Jaccard on terms: the answer repeats what the prompt said


class Statement(NamedTuple):
    """One lasting statement. kind: decision | preference | fact | cause | commitment. text: reads alone.

    source: the sentence as it stands in the turn; speaker: user | assistant. signals: what spoke for it.
    confidence in [0, 1].
    """

    kind: str
    text: str
    source: str
    speaker: str
    signals: tuple[str, ...]
    confidence: float


class Extraction(NamedTuple):
    """What is kept of a turn. daily: what happened, one or two sentences, or None for nothing worth a line."""

    daily: str | None
    statements: tuple[Statement, ...]


def extract(prompt: str, answers: Sequence[str], at_ms: int, *, zone: datetime.tzinfo | None = None) -> Extraction:
    """What to keep of the turn; pure and without a model. Never raises on any text.

    at_ms: Unix time in milliseconds; `tomorrow` is counted from its day in `zone` (None: this machine's).
    """
    if is_noise(prompt):
        prompt = ""
    prompt = prompt[:MAX_TURN_CHARS]
    room = MAX_TURN_CHARS - len(prompt)
    said = candidates(prompt, USER)
    messages = []
    for answer in answers:
        messages.append(candidates(answer[: max(0, room)], ASSISTANT))
        room -= len(answer)
    answered = [one for message in messages for one in message]
    today = datetime.datetime.fromtimestamp(at_ms / 1000, zone).date()
    turn = look_at(prompt, messages[0][0].text if messages and messages[0] else "", "\n".join(answers))
    judged = judge_said(said, turn, today, prompt)
    firm = any(one.kind != FACT for one in judged)
    found = judge_answered(messages, turn, told=firm)
    judged = without_symptoms(judged, found) + found
    statements = [_statement(one, said, answered, today) for one in _distinct(judged)[:MAX_STATEMENTS]]
    return Extraction(_daily(prompt, said, answered, bool(statements)), tuple(statements))


def _statement(one: Judged, said: list[Candidate], answered: list[Candidate], today: datetime.date) -> Statement:
    text = self_contained(one, said, answered)
    if one.kind != PREFERENCE:
        text = with_dates(text, today)
    return Statement(one.kind, text, one.candidate.text, one.candidate.speaker, one.signals, one.confidence)


def _distinct(judged: list[Judged]) -> list[Judged]:
    kept: list[tuple[Judged, frozenset[str]]] = []
    for one in judged:
        terms = frozenset(index_terms(one.candidate.text).split())
        if not any(_jaccard(terms, other) >= _SAME for _, other in kept):
            kept.append((one, terms))
    return [one for one, _ in kept]


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


_HAPPENED = re.compile(
    r"\b(?:\w+ed|found|wrote|rewrote|made|set|ran|built|split|moved|is|are|was|were)\b|[했됐었았였겼꿨]습니다"
    r"|습니다|입니다",
    re.IGNORECASE,
)
_PROMISES = re.compile(
    r"^(?:you'?re welcome|thanks|got it|understood|noted|of course|sure|will do|no problem|sounds good|okay|good"
    r"|great|done)\b"
    r"|^(?:네|알겠|좋습니다|감사|확인했습니다|다행|수고)[^.]{0,12}[.,!]?$|겠습니다|주세요|\bi'?ll\b",
    re.IGNORECASE,
)


def _daily(prompt: str, said: list[Candidate], answered: list[Candidate], lasting: bool) -> str | None:
    """What was asked and what came of it; None for small talk and for a question that nobody answered."""
    asked = next((trimmed(one.text) for one in said if recallable(one.text)), "")
    outcome = ""
    for one in answered:
        if not one.asks and _HAPPENED.search(one.text) and not _PROMISES.search(one.text):
            outcome = one.text
            break
    worth = lasting or (bool(asked) and bool(outcome)) or bool(outcome and VALUE.search(outcome) and len(outcome) > 40)
    if not worth:
        return None
    parts = [_cut(part, MAX_DAILY_CHARS // 2) for part in (asked, outcome) if part]
    return " — ".join(parts) or None


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 2].rsplit(" ", 1)[0] + " …"
