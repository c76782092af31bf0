"""Typed arguments of the daemon's operations.

The command line makes a record and sends it as a JSON object (`fields`); the daemon reads it back (`read`). Whoever can
reach the socket can send anything, so `read` checks each value. A missing name has its default and an unknown one is
ignored: two versions may meet for a moment. Hooks do not import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, ClassVar, TypeVar

from memlayer.errors import UserError

MAX_LISTED = 10_000
AGENT_SESSION = "agent-"  # the start of the id of each talk with the agent
FILE_SESSION = "file_"  # the start of the session id of a text from a file
SESSION_CHARS = 8  # of a session's id, as people and models read it
_UNPAIRED = re.compile("[\ud800-\udfff]")
# Attribute -> name in JSON, where Python does not allow the name.
_WIRE_NAMES = {"is_global": "global", "with_superseded": "all", "id_": "id", "from_": "from"}

# The kinds of values, by the name of their annotation.
Path = str  # as os.fsdecode gives it
Limit = int  # from 1 to MAX_LISTED; 0 is the default
Names = tuple[str, ...]


@dataclass(frozen=True)
class Arguments:
    """Arguments of one operation. op: its name in a request."""

    op: ClassVar[str]

    def __init_subclass__(cls, op: str) -> None:
        cls.op = op

    def fields(self) -> dict[str, Any]:
        """Return the JSON object that is sent."""
        return {_wire_name(field.name): getattr(self, field.name) for field in fields_of(self)}


Record = TypeVar("Record", bound=Arguments)


def read(kind: type[Record], sent: Mapping[str, Any]) -> Record:
    """Read an operation's arguments from a JSON object. Raises UserError."""
    values = {}
    for field in fields_of(kind):
        name = _wire_name(field.name)
        values[field.name] = _READERS[str(field.type)](sent.get(name), name, field.default)
    return kind(**values)


@dataclass(frozen=True)
class Recall(Arguments, op="recall"):
    prompt: str = ""
    project_dir: Path = ""
    session_id: str = ""


@dataclass(frozen=True)
class Search(Arguments, op="search"):
    query: str = ""
    project_dir: Path = ""
    limit: Limit = 10
    min_score: float = 0.0
    since_ms: int = 0
    until_ms: int = 0
    category: str = ""
    kind: str = ""
    session_id: str = ""
    file: str = ""


@dataclass(frozen=True)
class Show(Arguments, op="show"):
    ids: Names = ()
    session_id: str = ""


@dataclass(frozen=True)
class List(Arguments, op="list"):
    project_dir: Path = ""
    is_global: bool = False
    session_id: str = ""
    category: str = ""
    limit: Limit = 50
    with_superseded: bool = False


@dataclass(frozen=True)
class Given(Arguments, op="given"):
    limit: Limit = 5
    session_id: str = ""
    project_dir: Path = ""


@dataclass(frozen=True)
class Sessions(Arguments, op="sessions"):
    id_: str = ""
    project_dir: Path = ""
    limit: Limit = 20


@dataclass(frozen=True)
class Files(Arguments, op="files"):
    """now: bring the files in step first."""

    project_dir: Path = ""
    is_global: bool = False
    now: bool = False


@dataclass(frozen=True)
class Remember(Arguments, op="remember"):
    """id_: of a `remember` event in the spool."""

    id_: str = ""


@dataclass(frozen=True)
class Pin(Arguments, op="pin"):
    id_: str = ""
    off: bool = False


@dataclass(frozen=True)
class Edit(Arguments, op="edit"):
    id_: str = ""
    text: str = ""


@dataclass(frozen=True)
class Restore(Arguments, op="restore"):
    id_: str = ""
    keep_both: bool = False


@dataclass(frozen=True)
class History(Arguments, op="history"):
    id_: str = ""


@dataclass(frozen=True)
class Forget(Arguments, op="forget"):
    """tolerant: with dry_run, unknown ids are no error."""

    ids: Names = ()
    session_id: str = ""
    project_dir: Path = ""
    is_global: bool = False
    query: str = ""
    before_ms: int = 0
    keep_sources: bool = False
    dry_run: bool = False
    tolerant: bool = False


@dataclass(frozen=True)
class Gc(Arguments, op="gc"):
    dry_run: bool = False


@dataclass(frozen=True)
class Import(Arguments, op="import"):
    """paths: transcripts or folders. again: read from the start."""

    subagents: bool = False
    again: bool = False
    dry_run: bool = False
    project_dir: Path = ""
    paths: Names = ()


@dataclass(frozen=True)
class Export(Arguments, op="export"):
    path: Path = ""
    force: bool = False


@dataclass(frozen=True)
class ImportExport(Arguments, op="import_export"):
    path: Path = ""
    dry_run: bool = False


@dataclass(frozen=True)
class Flush(Arguments, op="flush"):
    wait: bool = False


@dataclass(frozen=True)
class MemSearch(Arguments, op="mem.search"):
    """Arguments of a search by a model.

    session_id: the asking session. session: the only session to search. kind: turn, settled, day or note.
    """

    query: str = ""
    limit: Limit = 5
    session: str = ""
    kind: str = ""
    project_dir: Path = ""
    session_id: str = ""


@dataclass(frozen=True)
class MemTimeline(Arguments, op="mem.timeline"):
    """Arguments of a timeline.

    window: turns on either side. session: a session whose turns are all meant.
    """

    ids: Names = ()
    window: Limit = 3
    project_dir: Path = ""
    session_id: str = ""
    session: str = ""


@dataclass(frozen=True)
class MemDetails(Arguments, op="mem.details"):
    """from_: the character of a single long text to go on from."""

    ids: Names = ()
    from_: int = 0
    project_dir: Path = ""
    session_id: str = ""


@dataclass(frozen=True)
class MemStats(Arguments, op="mem.stats"):
    project_dir: Path = ""


@dataclass(frozen=True)
class MemRemember(Arguments, op="mem.remember"):
    """at_ms: of the call, Unix time; sent twice, it counts once.

    kind: of kinds.NOTED, "" for that of its words. replaces: citations of memories that it makes untrue.
    """

    text: str = ""
    kind: str = ""
    files: Names = ()
    replaces: Names = ()
    at_ms: int = 0
    project_dir: Path = ""
    session_id: str = ""


@dataclass(frozen=True)
class Turn(Arguments, op="turn"):
    """A step of the agent's talk; its events are in the spool.

    phase: start, prompt, end, compact, history, undo or finish. text: redacted; the prompt, the answer, or the summary
    of a compaction. detail: of the event. kept: prompt ids of the turns that a compaction leaves. tokens: in the
    model's context. session_id: for history its start, or "" for the project's last talk.
    """

    phase: str = ""
    session_id: str = ""
    prompt_id: str = ""
    text: str = ""
    detail: str = ""
    kept: Names = ()
    at_ms: int = 0
    tokens: int = 0
    model: str = ""
    project_dir: Path = ""


@dataclass(frozen=True)
class Citations(Arguments, op="citations"):
    """Arguments of a list of citations.

    order: "" for the newest citation first, popular, or unused. days: 0 for any time, or 30 with an order.
    """

    order: str = ""
    days: int = 0
    limit: Limit = 10
    project_dir: Path = ""


@dataclass(frozen=True)
class UsageShare(Arguments, op="usage_share"):
    days: int = 30


@dataclass(frozen=True)
class Notes(Arguments, op="notes"):
    """project_dir: to say whether that project allows it."""

    project_dir: Path = ""


@dataclass(frozen=True)
class RefusedNotes(Arguments, op="notes.refused"):
    project_dir: Path = ""
    limit: Limit = 50


@dataclass(frozen=True)
class ReadSessions(Arguments, op="notes.read"):
    """last: sessions at most, the newest that a model has not read."""

    last: Limit = 30
    project_dir: Path = ""
    dry_run: bool = False


class Stats(Arguments, op="stats"):
    pass


class Reindex(Arguments, op="reindex"):
    pass


class Repair(Arguments, op="repair"):
    pass


class Witness(Arguments, op="witness"):
    pass


class Status(Arguments, op="status"):
    pass


class Stop(Arguments, op="stop"):
    pass


def short_session(session_id: str) -> str:
    """Return the start of a session's id that people and models read."""
    kind = AGENT_SESSION if session_id.startswith(AGENT_SESSION) else ""
    return session_id[: len(kind) + SESSION_CHARS]


def _wire_name(name: str) -> str:
    return _WIRE_NAMES.get(name, name)


def _text(value: object, name: str, default: str) -> str:
    """A text that can be written as UTF-8."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise UserError(f"{name}: a text is expected")
    return _UNPAIRED.sub("\ufffd", value)


def _path(value: object, name: str, default: str) -> str:
    """A path as os.fsdecode gives it, so with unpaired surrogates."""
    if value is None:
        return default
    if not isinstance(value, str):
        raise UserError(f"{name}: a path is expected")
    if "\0" in value:
        raise UserError(f"{name}: there is a null character in it")
    return value


def _number(value: object, name: str, default: float) -> float:
    value = value or default
    if not isinstance(value, (int, float)) or not -(2**63) < value < 2**63:
        raise UserError(f"{name}: a number is expected")
    return value


def _whole(value: object, name: str, default: int) -> int:
    return int(_number(value, name, default))


def _limit(value: object, name: str, default: int) -> int:
    return min(MAX_LISTED, max(1, _whole(value, name, default) or default))


def _flag(value: object, name: str, default: bool) -> bool:
    return bool(value)


def _names(value: object, name: str, default: tuple[str, ...]) -> tuple[str, ...]:
    """Ids or paths of a list."""
    if not isinstance(value or [], list):
        raise UserError(f"{name}: a list is expected")
    return tuple(_path(str(part), name, "") for part in value or [])  # type: ignore[attr-defined]


_READERS: dict[str, Callable[[Any, str, Any], Any]] = {
    "str": _text,
    "Path": _path,
    "int": _whole,
    "float": _number,
    "Limit": _limit,
    "bool": _flag,
    "Names": _names,
}
