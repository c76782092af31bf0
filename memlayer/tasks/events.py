"""Task events: observations, the steps decided from them, their JSON.

An observation is a source's word about a task, which may not be known yet. Decided once, when it is taken in, it
becomes steps of known tasks or a question. The event in the store holds these.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, TypeVar

import msgspec

from memlayer.edge.capture.payload import spool_event
from memlayer.kinds import Kind
from memlayer.model import Event
from memlayer.tasks.states import By, Step, TaskRecord
from memlayer.turns.remembered import NO_SESSION

MAX_TITLE_CHARS = 200
MAX_ROWS = 50
CREATED, REOPENED, MENTIONED = "created", "reopened", "mentioned"
Row = TypeVar("Row")


class Observation(TaskRecord, frozen=True):
    """The word of a source about a task.

    wish: created, mentioned, reopened, or a status. task_id: of a task that is known for sure. ref: the host's id.
    blockers: in words. Refs of the host begin with "#". is_aligned: the words that say so stand in their turn, so that
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


class Question(TaskRecord, frozen=True):
    """A statement about a task that is not known for sure."""

    candidates: tuple[str, ...]
    wish: str = ""
    title: str = ""
    quote: str = ""


class TaskEvent(TaskRecord, frozen=True):
    """The content of an event.

    observed: until it is decided. refused: changes that change nothing. Their person is told, and no history. answers:
    id of the question's event that a person answered. takes_back: id of the event that a person undid.
    """

    by: By
    observed: tuple[Observation, ...] = ()
    steps: tuple[Step, ...] = ()
    refused: tuple[Step, ...] = ()
    questions: tuple[Question, ...] = ()
    answers: str = ""
    takes_back: str = ""


def to_json(content: TaskEvent) -> str:
    """Return an event's text, without empty fields."""
    return json.dumps(msgspec.to_builtins(content), ensure_ascii=False, separators=(",", ":"))


def content_of(event: Event) -> TaskEvent:
    """Read an event, its steps with their place.

    Rows that cannot be read are left out.
    """
    try:
        value = json.loads(event.text)
    except (ValueError, RecursionError):
        value = None
    value = value if isinstance(value, dict) else {}
    session_id = "" if event.session_id == NO_SESSION else event.session_id
    place = {"project_id": event.project_id, "event_id": event.id, "at_ms": event.at_ms, "prompt_id": event.prompt_id}
    return TaskEvent(
        By(value["by"]) if value.get("by") in tuple(By) else By.RULES,
        _rows(value, "observed", Observation),
        tuple(step.changed(session_id=session_id, **place) for step in _rows(value, "steps", Step)),
        _rows(value, "refused", Step),
        _rows(value, "questions", Question),
        str(value.get("answers") or ""),
        str(value.get("takes_back") or ""),
    )


def captured(content: TaskEvent, *, project_dir: str, at_ms: int) -> dict[str, object]:
    """Return a person's change as the spool holds it.

    Texts are redacted before.
    """
    text = to_json(content)
    return spool_event(
        kind=Kind.TASK, session_id=NO_SESSION, prompt_id="", text=text, at_ms=at_ms, extra="%d %s" % (at_ms, text),
        project_dir=project_dir,
    )  # fmt: skip


def _rows(value: dict[str, Any], name: str, kind: type[Row]) -> tuple[Row, ...]:
    rows: list[Row] = []
    for row in value[name][:MAX_ROWS] if isinstance(value.get(name), list) else ():
        with contextlib.suppress(msgspec.ValidationError):
            rows.append(msgspec.convert(row, kind))
    return tuple(rows)
