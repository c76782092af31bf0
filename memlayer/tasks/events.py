"""Task events: observations, the steps decided from them, their JSON.

An observation is a source's word about a task, which may not be known yet. Decided once, when it is taken in, it
becomes steps of known tasks or a question. The event in the store holds these.
"""

import json
import re
import subprocess
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, get_args

import msgspec

from memlayer.edge.capture.payload import clean, spool_event
from memlayer.errors import UserError
from memlayer.kinds import Kind
from memlayer.model import Event, event_id
from memlayer.records import git
from memlayer.tasks.states import By, Status, Step, TaskRecord
from memlayer.turns.remembered import NO_SESSION, is_all_redacted

DAY_S = 86_400
_FIELDS = ("refname:short", "upstream", "upstream:track", "committerdate:unix")
_PUSH = re.compile(r"\b(?:un)?push(?:ed)?\b|푸[시쉬]", re.IGNORECASE)
# The words of a task that is a push of commits, beside names of branches: an image, a tag or a deadline is other work.
_OF_A_PUSH = re.compile(
    r"(?:git|to|the|my|our|all|it|them|this|these|is|are|on|up|not|never|yet|now|remote|upstream|origin|github|gitlab"
    r"|(?:un)?push(?:ed)?|branch(?:es)?|commits?|changes?|fix(?:es)?|work"
    r"|(?:푸[시쉬]|브랜치|커밋|변경|수정|원격)\S{0,3}|(?:remote|origin|github)[에로으]+"
    r"|모두|전부|해야|함|한다|하자|하기|할|것)[.!]?",
    re.IGNORECASE,
)
MAX_TITLE_CHARS = 200
MAX_ROWS = 50
CREATED, REOPENED, MENTIONED = "created", "reopened", "mentioned"
# A person's verb -> wish.
WISHES = {
    "add": CREATED,
    "start": Status.IN_PROGRESS,
    "done": Status.DONE,
    "drop": Status.CANCELLED,
    "block": Status.BLOCKED,
    "reopen": REOPENED,
}


def _git(folder: str, *words: str) -> str:
    """Return git's output in a folder, "" where it fails."""
    try:
        done = git.in_folder(folder, *words)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


class Branch(NamedTuple):
    """A local branch. track: as git says it, such as "[ahead 2]"."""

    name: str
    upstream: str
    track: str
    committed_s: int

    @property
    def is_pushed(self) -> bool:
        return bool(self.upstream) and "ahead" not in self.track and "gone" not in self.track


def speaks_of_push(title: str) -> bool:
    """Return whether a title speaks of a push at all."""
    return bool(_PUSH.search(title))


def is_push(title: str, names: Collection[str] = ()) -> bool:
    """Return whether a task is done once a branch is pushed."""
    return speaks_of_push(title) and all(
        _OF_A_PUSH.fullmatch(word) or word.rstrip(".!") in names for word in title.split()
    )


def branches(folder: str) -> list[Branch]:
    """Return a repository's branches, none where git fails."""
    done = _git(folder, "for-each-ref", "refs/heads", "--format=" + "%00".join("%%(%s)" % one for one in _FIELDS))
    rows = [line.split("\0") for line in done.splitlines()]
    return [Branch(row[0], row[1], row[2], int(row[3])) for row in rows if len(row) == 4 and row[3].isdigit()]


def was_pushed(title: str, since_s: float, found: list[Branch]) -> bool:
    """Return whether a push that is a task has happened.

    Its branch is pushed, else each branch in work. since_s: when the task was last spoken of, Unix seconds.
    """
    if not is_push(title, [branch.name for branch in found]):
        return False
    words = set(re.findall(r"[\w./-]+", title))
    named = [branch for branch in found if branch.name in words]
    meant = named or [branch for branch in found if branch.committed_s > since_s - DAY_S]
    return bool(meant) and all(branch.is_pushed for branch in meant)


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

    A part that cannot be read says nothing.
    """
    try:
        content = msgspec.json.decode(event.text, type=TaskEvent)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        content = _readable(event.text)
    session_id = "" if event.session_id == NO_SESSION else event.session_id
    place = {"project_id": event.project_id, "event_id": event.id, "at_ms": event.at_ms, "prompt_id": event.prompt_id}
    steps = tuple(step.changed(session_id=session_id, **place) for step in content.steps)
    return content.changed(observed=content.observed[:MAX_ROWS], steps=steps)


def _readable(text: str) -> TaskEvent:
    """Return an event's parts and rows that can be read."""

    def read(part: object, kind: Any) -> Any:
        try:
            return msgspec.json.decode(json.dumps(part), type=kind)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            return None

    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        sent = None
    parts: dict[str, Any] = {"by": By.RULES}
    for field in msgspec.structs.fields(TaskEvent):
        part = sent.get(field.name) if isinstance(sent, dict) else None
        value = read(part, field.type)
        if value is None and isinstance(part, list):
            rows = (read(row, get_args(field.type)[0]) for row in part)
            value = tuple(row for row in rows if row is not None)
        if value is not None:
            parts[field.name] = value
    return TaskEvent(**parts)


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


def persons_change(
    how: str, title: str, *, project_dir: str, at_ms: int, blockers: Sequence[str] = (), reason: str = "",
    priority: str = "",
) -> dict[str, object]:  # fmt: skip
    """Redact a person's change; return its event for the spool.

    how: of WISHES. Raises UserError.
    """
    title = clean(title).strip()
    if not title or is_all_redacted(title):
        raise UserError("Nothing is changed: all of it is private")
    row = Observation(
        WISHES[how], title, status=Status.BLOCKED if how == "add" and blockers else "", priority=priority,
        blockers=tuple(map(clean, blockers)), reason=clean(reason),
    )  # fmt: skip
    return captured(TaskEvent(By.PERSON, (row,)), project_dir=project_dir, at_ms=at_ms)
