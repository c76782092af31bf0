"""Read and check a language model's JSON answer, wrapped or not."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from memlayer.consolidation.rules.dates import with_dates
from memlayer.consolidation.rules.extraction import (
    MAX_DAILY_CHARS,
    MAX_STATEMENTS,
    Statement,
    kind_of,
)
from memlayer.consolidation.rules.own_words import carries
from memlayer.edge.capture.payload import clean
from memlayer.kinds import KINDS, LASTING, Kind
from memlayer.text.sentences import ASSISTANT, USER, is_question
from memlayer.text.terms import index_terms
from memlayer.turns.turn import ASSISTANT as ASSISTANT_LABEL
from memlayer.turns.turn import USER as USER_LABEL

MAX_ANSWER_CHARS = 20_000
_MAX_TRIES = 40  # places where a JSON object may begin

_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_NOTHING = re.compile(r"\W*(?:null|none|nil|n/?a|nothing|없음|없다|없습니다|해당 없음)?\W*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u00b7]|\d{1,2}[.)])\s+")

MIN_CHARS, MAX_CHARS = 6, 400
MIN_GROUNDED = 0.4  # share of a statement's terms that stand in the turn; the rest is wording
MIN_GROUNDED_DAILY = 0.3

_NAMED: dict[str, Kind] = {kind.value: kind for kind in LASTING} | {KINDS[kind].korean[0]: kind for kind in LASTING}
_KIND = re.compile(
    r"^(?:\[(?P<in>\w+)\]|\((?P<of>\w+)\)|(?P<before>%s)(?=:))\s*[:\-–]?\s*" % "|".join(_NAMED),
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"history_entry|memory_update|</?turn-|\bJSON\b.*\bobject\b|\[mem:|\[redacted:|language model|long-term memory of",
    re.IGNORECASE,
)
_NOTHING_NEW = re.compile(
    r"^\W*(?:there (?:is|was) )?(?:no|nothing|none)\b.*\b(?:new|learn\w*|remember|update\w*|memor\w*|lasting|noted)\b"
    r"|(?:새로|기억|저장|업데이트)[^.]*(?:없음|없습니다|없다|없어)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(r"\d{4}-\d\d-\d\d|\d{4}년 ?\d{1,2}월 ?\d{1,2}일")


class Answer(NamedTuple):
    """The parts of an answer; None where it lacks them.

    history: the event of the turn, "" for nothing. updates: the lines of memory_update.
    """

    history: str | None
    updates: tuple[str, ...] | None


def parse(text: str) -> Answer | None:
    """The answer in `text`, None when it holds neither key. Never raises."""
    return _first(_THOUGHTS.sub("", text[:MAX_ANSWER_CHARS]))


def _first(text: str) -> Answer | None:
    """The first object that has one of the keys."""
    decoder = json.JSONDecoder(strict=False)  # a line break inside a string is no reason to lose it
    starts = [match.start() for match in re.finditer(r"\{", text)][:_MAX_TRIES]
    for start in starts:
        try:
            parsed = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        answer = _of(parsed)
        if answer is not None:
            return answer
    return None


def _of(parsed: object) -> Answer | None:
    if not isinstance(parsed, dict):
        return None
    fields: dict[str, Any] = {re.sub("[^a-z]", "", str(key).lower()): value for key, value in parsed.items()}
    if "historyentry" not in fields and "memoryupdate" not in fields:
        return None
    if fields.get("historyentry") in ("...", "…"):
        return None  # the format, repeated
    history = _text(fields["historyentry"]) if "historyentry" in fields else None
    update = _text(fields["memoryupdate"]) if "memoryupdate" in fields else None
    return Answer(history, None if update is None else _lines(update))


def _text(value: object) -> str | None:
    """A string, a list as lines, null as nothing; others None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return "" if _NOTHING.fullmatch(value) else value
    if isinstance(value, list):
        lines = [item.get("text") or item.get("statement") if isinstance(item, dict) else item for item in value]
        kept = [line for line in lines if isinstance(line, str)]
        return "\n".join(kept) if kept or not value else None
    return None


def _lines(text: str) -> tuple[str, ...]:
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#") and not _NOTHING.fullmatch(line))


def statements_of(lines: Sequence[str], turn: str, at_ms: int) -> tuple[Statement, ...]:
    """The lines that pass the checks, at most MAX_STATEMENTS."""
    prompt, _, answer = turn.partition("\n" + ASSISTANT_LABEL)
    asked, answered = _terms(prompt), _terms(answer)
    numbers = set(_NUMBER.findall(turn))
    today = datetime.datetime.fromtimestamp(at_ms / 1000).date()
    kept: dict[str, Statement] = {}
    for line in lines:
        kind, text = _kind_and_text(_one_line(line))
        terms = _terms(text)
        if not _is_statement(text) or not terms or not _says_no_new_number(text, numbers):
            continue
        if len(terms & (asked | answered)) < MIN_GROUNDED * len(terms):
            continue
        kind = kind or kind_of(text)
        speaker = USER if len(terms & asked) >= len(terms & answered) else ASSISTANT
        if kind == Kind.PREFERENCE and not (speaker == USER and carries(prompt.removeprefix(USER_LABEL), text)):
            continue  # a wish is the person's, in the person's own words
        dated = text if kind == Kind.PREFERENCE else with_dates(text, today)
        kept.setdefault(text, Statement(kind, dated, text, speaker))
        if len(kept) == MAX_STATEMENTS:
            break
    return tuple(kept.values())


def daily_of(history: str, turn: str) -> str | None:
    """The model's history entry as one line, None if off the turn."""
    text = _one_line(history)
    if not text:
        return ""
    terms = _terms(text)
    if _ECHO.search(text) or len(terms & _terms(turn)) < MIN_GROUNDED_DAILY * len(terms):
        return None
    return text if len(text) <= MAX_DAILY_CHARS else text[: MAX_DAILY_CHARS - 2].rsplit(" ", 1)[0] + " …"


def _is_statement(text: str) -> bool:
    if not MIN_CHARS <= len(text) <= MAX_CHARS:
        return False
    return not (is_question(text) or _ECHO.search(text) or _NOTHING_NEW.search(text))


def _says_no_new_number(text: str, known: set[str]) -> bool:
    """True if the turn holds all numbers of the text.

    Another number is made up, unless it belongs to a date, which may be worked out.
    """
    return all(number in known for number in _NUMBER.findall(_DATE.sub("", text)))


def _kind_and_text(line: str) -> tuple[Kind | None, str]:
    match = _KIND.match(line)
    if match is None:
        return None, line
    named = (match.group("in") or match.group("of") or match.group("before")).lower()
    kind = _NAMED.get(named)
    if kind is None and not match.group("in"):
        return None, line
    return kind, line[match.end() :]


def _one_line(text: str) -> str:
    """Redacted, without control characters, its white space single."""
    plain = "".join(char if char.isprintable() else " " for char in clean(text))
    return " ".join(plain.split())


def _terms(text: str) -> frozenset[str]:
    return frozenset(index_terms(text).split())
