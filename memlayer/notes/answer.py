"""Parse a language model's answer about a session.

Nothing of it is believed yet: see checks.py.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from memlayer.edge.capture.payload import clean
from memlayer.kinds import Kind

MAX_ANSWER_CHARS = 40_000
MAX_NOTES, MAX_TASKS, MAX_IDS = 12, 12, 24
MAX_WAYS, MAX_ORDERS = 40, 24  # of working: no cap, only a bound
MAX_PARTS = 16
MAX_FILES = 8
MAX_ALSO = 2
MAX_FIELD_CHARS = 2000
_MAX_STARTS = 40  # places where a JSON object may begin
_THOUGHTS = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class DraftNote:
    """A note as the model wrote it.

    text: with its parts, a sentence each; parts: how many. turn: a number within the session, 0 for none. also: (quote,
    turn) of further turns that it rests on. headline, subject: see turns/turn_memory.py.
    """

    kind: str
    text: str
    quote: str
    turn: int
    files: tuple[str, ...] = ()
    error: str = ""
    replaces: tuple[str, ...] = ()
    also: tuple[tuple[str, int], ...] = ()
    headline: str = ""
    subject: str = ""
    parts: int = 0


@dataclass(frozen=True)
class DraftTask:
    """A task as the model wrote it.

    id: a known task's citation, "" for a new one.
    """

    id: str
    title: str
    status: str
    blocked_by: str
    quote: str
    turn: int


@dataclass(frozen=True)
class DraftOrder:
    """The state of an order after a session.

    id: the citation of a note or task. state: done, changed or open. note: what holds since then, text "" for nothing.
    """

    id: str
    state: str
    note: DraftNote


@dataclass(frozen=True)
class SessionAnswer:
    """The parts of an answer.

    notes: ways of working first. drop: citations of notes that hold no more. no_rule: of those that state nothing.
    """

    summary: str
    notes: tuple[DraftNote, ...] = ()
    orders: tuple[DraftOrder, ...] = ()
    tasks: tuple[DraftTask, ...] = ()
    drop: tuple[str, ...] = ()
    no_rule: tuple[str, ...] = ()


def parse(text: str) -> SessionAnswer | None:
    """Return the first JSON object with a known part. Never raises.

    None where there is none.
    """
    value = _first_object(text, {"summary", "notes", "ways"})
    return _answer_of(value) if value is not None else None


def _first_object(text: str, names: set[str]) -> dict[str, Any] | None:
    """Return a text's first JSON object with one of the names."""
    text = _THOUGHTS.sub("", text[:MAX_ANSWER_CHARS])
    decoder = json.JSONDecoder(strict=False)  # a line break inside a string is no reason to lose the answer
    for start in [match.start() for match in re.finditer(r"\{", text)][:_MAX_STARTS]:
        try:
            value = decoder.raw_decode(text, start)[0]
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and names & value.keys():
            return value
    return None


def _answer_of(value: dict[str, Any]) -> SessionAnswer:
    ways = [{**row, "kind": Kind.PREFERENCE.value} for row in _rows(value.get("ways"))[:MAX_WAYS]]
    return SessionAnswer(
        summary=_line(value.get("summary")),
        notes=tuple(_note(row) for row in (*ways, *_rows(value.get("notes"))[:MAX_NOTES])),
        orders=tuple(_order(row) for row in _rows(value.get("orders"))[:MAX_ORDERS]),
        tasks=tuple(_task(row) for row in _rows(value.get("tasks"))[:MAX_TASKS]),
        drop=_lines(value.get("drop"))[:MAX_IDS],
        no_rule=_lines(value.get("no_rule"))[:MAX_IDS],
    )


def _note(row: dict[str, Any]) -> DraftNote:
    given = row.get("parts")
    parts = [text for part in given[:MAX_PARTS] if (text := _line(part))] if isinstance(given, list) else []
    return DraftNote(
        kind=_line(row.get("kind")).lower(),
        text=" ".join(_sentence(text) for text in (_line(row.get("text")), *parts))
        if parts
        else _line(row.get("text")),
        quote=_text(row.get("quote")),
        turn=_number(row.get("turn")),
        files=_lines(row.get("files"))[:MAX_FILES],
        error=_line(row.get("error")),
        replaces=_lines(row.get("replaces"))[:MAX_IDS],
        headline=_line(row.get("headline")),
        subject=_line(row.get("subject")),
        parts=len(parts),
        also=tuple((_text(more.get("quote")), _number(more.get("turn"))) for more in _rows(row.get("also"))[:MAX_ALSO]),
    )


def _sentence(text: str) -> str:
    """Return a part with an end before the next."""
    text = text.removeprefix("- ")
    return text if not text or text[-1] in ".!?:;。" else text + "."


def _order(row: dict[str, Any]) -> DraftOrder:
    citation = _bare_id(_line(row.get("id")))
    return DraftOrder(citation, _line(row.get("state")).lower(), _note({**row, "replaces": [citation]}))


def _task(row: dict[str, Any]) -> DraftTask:
    return DraftTask(
        id=_bare_id(_line(row.get("id"))),
        title=_line(row.get("title")),
        status=_line(row.get("status")).lower().replace(" ", "_"),
        blocked_by=_line(row.get("blocked_by")),
        quote=_text(row.get("quote")),
        turn=_number(row.get("turn")),
    )


def _rows(value: object) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _number(value: object) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _lines(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    listed = [_bare_id(_line(item)) for item in value] if isinstance(value, list) else []
    return tuple(item for item in listed if item)


def _bare_id(text: str) -> str:
    return text.strip().removeprefix("[").removesuffix("]").removeprefix("mem:").strip()


def _text(value: object) -> str:
    """A string, redacted, without control characters; "" for anything else."""
    if not isinstance(value, str):
        return ""
    plain = "".join(char if char.isprintable() or char == "\n" else " " for char in value[:MAX_FIELD_CHARS])
    return clean(plain.encode("utf-8", "replace").decode("utf-8")).strip()


def _line(value: object) -> str:
    return " ".join(_text(value).split())
