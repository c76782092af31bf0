"""Read a language model's JSON answer: fenced, wrapped in talk or cut."""

from __future__ import annotations

import ast
import json
import re
from typing import Any, NamedTuple

MAX_ANSWER_CHARS = 20_000
_MAX_TRIES = 40  # places where a JSON object may begin


class Answer(NamedTuple):
    """The parts of an answer; None where it lacks them.

    history: the event of the turn, "" for nothing. updates: the lines of memory_update.
    """

    history: str | None
    updates: tuple[str, ...] | None


def parse(text: str) -> Answer | None:
    """The answer in `text`, None when it holds neither key. Never raises."""
    text = _THOUGHTS.sub("", text[:MAX_ANSWER_CHARS])
    found = _whole(text)
    if found is not None:
        return found
    return _cut(text)


_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_NOTHING = re.compile(r"\W*(?:null|none|nil|n/?a|nothing|없음|없다|없습니다|해당 없음)?\W*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*\u2022\u00b7]|\d{1,2}[.)])\s+")


def _whole(text: str) -> Answer | None:
    """The first object that has one of the keys."""
    decoder = json.JSONDecoder(strict=False)  # a line break inside a string is no reason to lose it
    starts = [found.start() for found in re.finditer(r"\{", text)][:_MAX_TRIES]
    for start in starts:
        try:
            said = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        answer = _of(said)
        if answer is not None:
            return answer
    end = text.rfind("}")
    for start in starts[:3]:
        try:  # as Python writes it: single quotes, None
            answer = _of(ast.literal_eval(text[start : end + 1]))
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            continue
        if answer is not None:
            return answer
    return None


def _of(said: object) -> Answer | None:
    if not isinstance(said, dict):
        return None
    fields: dict[str, Any] = {re.sub("[^a-z]", "", str(key).lower()): value for key, value in said.items()}
    if "historyentry" not in fields and "memoryupdate" not in fields:
        return None
    if fields.get("historyentry") in ("...", "…"):
        return None  # the format, repeated
    history = _text(fields["historyentry"]) if "historyentry" in fields else None
    update = _text(fields["memoryupdate"]) if "memoryupdate" in fields else None
    return Answer(history, None if update is None else _lines(update))


def _text(value: object) -> str | None:
    """A string as it is, a list as lines, null as nothing.

    None for others.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return "" if _NOTHING.fullmatch(value) else value
    if isinstance(value, list):
        lines = [one.get("text") or one.get("statement") if isinstance(one, dict) else one for one in value]
        kept = [line for line in lines if isinstance(line, str)]
        return "\n".join(kept) if kept or not value else None
    return None


def _lines(text: str) -> tuple[str, ...]:
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith("#") and not _NOTHING.fullmatch(line))


_STRING = r'"\s*:\s*"((?:[^"\\]|\\.)*)("?)'
_HISTORY = re.compile(r'"history_?entry' + _STRING, re.DOTALL | re.IGNORECASE)
_UPDATE = re.compile(r'"memory_?update' + _STRING, re.DOTALL | re.IGNORECASE)
_NULL = re.compile(r'"memory_?update"\s*:\s*null\b', re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?。…](?=\s|$)|[다요]\.?(?=\s|$)")


def _cut(text: str) -> Answer | None:
    """The fields of an object that is broken or ends too early.

    Of a string without its end only whole sentences or lines count.
    """
    history, update = _HISTORY.search(text), _UPDATE.search(text)
    if history is None and update is None:
        return None
    said: str | None = None
    if history is not None:
        said = _unescaped(history.group(1))
        if not history.group(2):
            ends = [found.end() for found in _SENTENCE_END.finditer(said)]
            said = said[: ends[-1]] if ends else None
    updates: tuple[str, ...] | None = () if _NULL.search(text) else None
    if update is not None:
        body = _unescaped(update.group(1))
        if not update.group(2):
            body = body.rpartition("\n")[0]
        updates = _lines(_text(body) or "")
        if not update.group(2) and not updates:
            updates = None
    if said is None and updates is None:
        return None
    return Answer(said if said is None else _text(said), updates)


def _unescaped(body: str) -> str:
    try:
        return str(json.loads('"%s"' % body, strict=False))
    except ValueError:
        return body.replace("\\n", "\n").replace('\\"', '"').rstrip("\\")
