"""Task events: observations, the steps decided from them, their JSON.

An observation is a source's word about a task, which may not be known yet. Decided once, when it is taken in, it
becomes steps of known tasks or a question. The event in the store holds these.
"""

from __future__ import annotations

import json

import msgspec

from memlayer.edge.capture.payload import spool_event
from memlayer.kinds import Kind
from memlayer.model import Event, event_id
from memlayer.tasks.states import By, Step, TaskRecord
from memlayer.turns.remembered import NO_SESSION

MAX_TITLE_CHARS = 200
MAX_ROWS = 50
CREATED, REOPENED, MENTIONED = "created", "reopened", "mentioned"


class Observation(TaskRecord, frozen=True):
    """The word of a source about a task.

    wish: created, mentioned, reopened, or a status. task_id: of a task that is known for sure. ref: the host's id.
    blockers: in words. Refs of the host begin with "#". is_aligned: the words that say so stand in their turn, so that
    its blockers replace others instead of being suggested. is_exact: they stand there word for word, so that they
    close a person's task, too.
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
    is_exact: bool = False
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

    One that cannot be read says nothing.
    """
    try:
        content = msgspec.json.decode(event.text, type=TaskEvent)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return TaskEvent(By.RULES)
    session_id = "" if event.session_id == NO_SESSION else event.session_id
    place = {"project_id": event.project_id, "event_id": event.id, "at_ms": event.at_ms, "prompt_id": event.prompt_id}
    steps = tuple(step.changed(session_id=session_id, **place) for step in content.steps)
    return content.changed(observed=content.observed[:MAX_ROWS], steps=steps)


def task_event(
    content: TaskEvent, project_id: str, at_ms: int, *, origin: str, session_id: str = NO_SESSION, prompt_id: str = ""
) -> Event:
    """Return an event of this content.

    The same origin at a place is the same event.
    """
    name = event_id(session_id, prompt_id, Kind.TASK, origin)
    return Event(name, Kind.TASK, session_id, project_id, prompt_id, to_json(content), at_ms)


def captured(content: TaskEvent, *, project_dir: str, at_ms: int) -> dict[str, object]:
    """Return a person's change as the spool holds it.

    Texts are redacted before.
    """
    text = to_json(content)
    return spool_event(
        kind=Kind.TASK, session_id=NO_SESSION, prompt_id="", text=text, at_ms=at_ms, extra="%d %s" % (at_ms, text),
        project_dir=project_dir,
    )  # fmt: skip
