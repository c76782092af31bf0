"""Task events: observations, the steps decided from them, their JSON.

An observation is a source's word about a task, which may not be known yet. Decided once, when it is taken in, it
becomes steps of known tasks or a question; the event in the store holds these.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from memlayer.edge.capture.payload import spool_event
from memlayer.kinds import Kind
from memlayer.model import Event
from memlayer.tasks.states import REPLACE, Blocker, By, Op, Placed, Step
from memlayer.turns.remembered import NO_SESSION

MAX_TITLE_CHARS = 200
MAX_ROWS = 50
CREATED, REOPENED, MENTIONED = "created", "reopened", "mentioned"


@dataclass(frozen=True)
class Observation:
    """The word of a source about a task.

    wish: created, mentioned, reopened, or a status. task_id: of a task that is known for sure. ref: the host's id.
    blockers: in words; refs of the host begin with "#". is_aligned: the words that say so stand in their turn, so that
    its blockers replace others instead of being suggested.
    """

    wish: str
    title: str = ""
    task_id: str = ""
    ref: str = ""
    status: str = ""
    priority: str = ""
    blockers: tuple[str, ...] = ()
    quote: str = ""
    reason: str = ""
    is_aligned: bool = True
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A statement about a task that is not known for sure."""

    wish: str = ""
    title: str = ""
    quote: str = ""
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True)
class TaskEvent:
    """The content of an event.

    observed: until it is decided. answers: id of the question's event that a person answered. takes_back: id of the
    event that a person undid.
    """

    by: By
    observed: tuple[Observation, ...] = ()
    steps: tuple[Step, ...] = ()
    questions: tuple[Question, ...] = ()
    answers: str = ""
    takes_back: str = ""


def to_json(content: TaskEvent) -> str:
    """Return an event's text, without empty fields."""
    return json.dumps(_lean(asdict(content)), ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> TaskEvent:
    """Read an event's text; rows that cannot be read are left out."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    value = value if isinstance(value, dict) else {}
    by = By(value["by"]) if value.get("by") in tuple(By) else By.RULES
    return TaskEvent(
        by,
        tuple(Observation(**_known(Observation, row)) for row in _rows(value, "observed") if row.get("wish")),
        tuple(step for row in _rows(value, "steps") if (step := _step(row)) is not None),
        tuple(Question(**_known(Question, row)) for row in _rows(value, "questions") if row.get("candidates")),
        str(value.get("answers") or ""),
        str(value.get("takes_back") or ""),
    )


def placed(event: Event) -> list[Placed]:
    """Return an event's steps with their place."""
    session_id = "" if event.session_id == NO_SESSION else event.session_id
    return [Placed(step, event.id, event.at_ms, session_id, event.prompt_id) for step in from_json(event.text).steps]


def captured(
    content: TaskEvent, *, project_dir: str, at_ms: int, session_id: str = "", prompt_id: str = "", extra: str = ""
) -> dict[str, object]:
    """Return a task event as the spool holds it.

    Texts are redacted before.
    """
    text = to_json(content)
    return spool_event(
        kind=Kind.TASK, session_id=session_id or NO_SESSION, prompt_id=prompt_id, text=text, at_ms=at_ms,
        extra=extra or "%d %s" % (at_ms, text), project_dir=project_dir,
    )  # fmt: skip


def _lean(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _lean(part) for name, part in value.items() if part not in ("", (), [], None)}
    return [_lean(part) for part in value] if isinstance(value, (list, tuple)) else value


def _rows(value: dict[str, Any], name: str) -> Sequence[dict[str, Any]]:
    rows = value.get(name)
    return [row for row in rows if isinstance(row, dict)][:MAX_ROWS] if isinstance(rows, list) else []


def _known(kind: type[Observation | Question | Step | Blocker], row: dict[str, Any]) -> dict[str, Any]:
    """Return a row's known fields, with values of their types."""
    out: dict[str, Any] = {}
    for field in fields(kind):
        value = row.get(field.name)
        if str(field.type).startswith("tuple[str"):
            out[field.name] = tuple(map(str, value)) if isinstance(value, list) else ()
        elif field.type == "bool":
            out[field.name] = value is not False
        elif field.type == "str" and isinstance(value, str):
            out[field.name] = value
        elif field.type == "float" and isinstance(value, (int, float)):
            out[field.name] = float(value)
    return out


def _step(row: dict[str, Any]) -> Step | None:
    if row.get("op") not in tuple(Op) or not isinstance(row.get("task_id"), str):
        return None
    known = _known(Step, row)
    known["op"] = Op(row["op"])
    known.setdefault("mode", REPLACE)
    blockers = [Blocker(**_known(Blocker, part)) for part in _rows(row, "blockers") if part.get("key")]
    return Step(**{**known, "blockers": tuple(blockers)})
