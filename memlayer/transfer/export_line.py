"""One line of an export: every field checked, secrets redacted.

An export may be damaged, written by hand, or come from somebody else. Ids become parts of paths, numbers are computed
with, and texts are stored, so no field is trusted.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, NoReturn

import msgspec
from msgspec import Meta

from memlayer.edge.capture.payload import MAX_EVENT_CHARS, clean
from memlayer.edge.capture.spool import KINDS
from memlayer.edge.capture.tool_use import without_secret_output
from memlayer.edge.home import registry
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import UserError
from memlayer.kinds import Category
from memlayer.model import CITED, GLOBAL, OPENED, SHOWN, Event, Memory, Usage, citation_of
from memlayer.records import schema5
from memlayer.records.sessions import Session
from memlayer.turns.headline import fitting

MARK = "memlayer_export"  # the first line's
END = "end"  # the last line's
SOURCES = ("hook", "transcript", "import")
MAX_NAME_CHARS = 4096  # of a session's id, a path or a key
LEFT_OUT_CHARS = 100  # the line within a shortened text that counts the missing characters

_UNPAIRED = re.compile("[\ud800-\udfff]")
LONG = ("text", "evidence")  # fields without MAX_NAME_CHARS
Named = Annotated[str, Meta(min_length=1)]
Moment = Annotated[int, Meta(ge=0)]


def _of(pattern: str) -> Meta:
    return Meta(pattern=r"\A(%s)\Z" % pattern)


Id = Annotated[str, _of("[0-9a-f]{32}")]
IdOrNone = Annotated[str, _of("([0-9a-f]{32})?")]
ProjectId = Annotated[str, _of("[0-9a-f]{16}")]
ProjectIdOrNone = Annotated[str, _of("([0-9a-f]{16})?")]
InScope = Annotated[str, _of("[0-9a-f]{16}|" + GLOBAL)]
ProjectKey = Annotated[str, _of("(%s)[^\0]*" % "|".join(registry.STRENGTH))]
Path = Annotated[str, _of("(/[^\0]*)?")]


class ExportedProject(NamedTuple):
    """An entry of another home's registry."""

    id: str
    entry: dict[str, Any]


Read = ExportedProject | Session | Event | Memory | Usage


class ProjectLine(msgspec.Struct):
    """A project, checked."""

    id: ProjectId
    keys: list[ProjectKey]
    name: str = ""
    root: Path = ""
    since_ms: Moment = 0


class SessionLine(Session):
    """A session, checked."""

    id: Named = ""
    project_id: ProjectIdOrNone = ""
    project_dir: Path = ""
    transcript_path: Path = ""


class EventLine(Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event, checked."""

    id: Id
    kind: Annotated[str, _of("|".join(KINDS))]
    session_id: Named
    project_id: InScope
    at_ms: Moment
    source: Annotated[str, _of("|".join(SOURCES))] = "hook"


class MemoryLine(Memory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory, checked."""

    id: Id
    key: Annotated[str, _of(r"[a-z]{2,20}(_\d{4}-\d\d-\d\d)?(_[0-9a-z]{1,16})+")]
    category: Annotated[str, _of("|".join(Category))]  # type: ignore[assignment]
    importance: Annotated[float, Meta(ge=0, le=1)]
    project_id: InScope
    source_ids: tuple[Id, ...]
    at_ms: Moment
    ended_ms: Moment = 0
    superseded_by: IdOrNone = ""
    level: Annotated[int, Meta(ge=0, le=9)] = 0


class UsageLine(Usage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A use, checked."""

    id: Id
    memory_id: Id
    project_id: InScope
    how: Annotated[str, _of("|".join((SHOWN, CITED, OPENED)))]
    at_ms: Moment


class OfSchema5(msgspec.Struct):
    """Further fields of a memory of schema 5."""

    settled: Annotated[str, Meta(pattern=r"\A(?!rules-)|\Arules-\d{1,6}\Z")]
    superseded_ms: Moment = 0


LINES: dict[str, type[msgspec.Struct]] = {
    "project": ProjectLine, "session": SessionLine, "event": EventLine, "memory": MemoryLine, "usage": UsageLine,
}  # fmt: skip


def read(raw: bytes) -> Read | None:
    """Return a line's record, None for first and last. Raises UserError."""
    try:
        # A folder's name need not be UTF-8. The file has it as on disk.
        line = json.loads(raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"), parse_constant=_refuse)
    except (ValueError, RecursionError) as bad:
        raise UserError("not JSON") from bad
    if not isinstance(line, dict):
        raise UserError("not a line of an export")
    return None if MARK in line or END in line else record_of(line)


def record_of(line: dict[str, Any], *, is_newer: bool = False) -> Read:
    """Return the record of a line's object. Raises UserError.

    is_newer: a newer memlayer may have written it, so fields that are not known are left out.
    """
    if len(line) != 1:
        raise UserError("not a line of an export")
    [(name, value)] = line.items()
    if not isinstance(value, dict) or name not in LINES:
        raise UserError("neither a project, a session, an event, a memory nor a usage")
    try:
        row = _checked(name, value, is_newer)
    except msgspec.ValidationError as bad:
        raise UserError(f"{name}: {bad}") from bad
    fields = msgspec.structs.asdict(row)
    _check_sizes(name, fields)
    if isinstance(row, ProjectLine):
        entry = {key: content for key, content in fields.items() if key in value and key != "id"}
        return ExportedProject(row.id, entry | {"keys": [_without_user(key) for key in row.keys]})
    if isinstance(row, Session):
        return Session(**fields)
    if isinstance(row, Event):
        return Event(**_storable(fields))
    if isinstance(row, Usage):
        return Usage(**_writable(fields))
    if fields["citation"] != citation_of(fields["id"]):
        raise UserError("memory.citation: it is not that of its id")
    files = tuple(redact(_UNPAIRED.sub("\ufffd", path)) for path in fields["files"])
    return Memory(**_storable(fields) | {"category": Category(fields["category"]), "files": files})


def _checked(name: str, value: dict[str, Any], is_newer: bool) -> msgspec.Struct:
    """Raises msgspec.ValidationError."""
    kind = LINES[name]
    known = {key: content for key, content in value.items() if key in kind.__struct_fields__}
    if name != "memory" or "settled" not in value:
        return msgspec.convert(known if is_newer else value, kind)
    msgspec.convert(value, OfSchema5)
    msgspec.convert(known, kind)
    old = {key: value[key] for key in schema5.GONE if key in value}
    return msgspec.convert(schema5.upgraded({**known, **old}), kind)


def _check_sizes(name: str, fields: Mapping[str, Any]) -> None:
    """Check texts and numbers. Raises UserError."""
    for field, content in fields.items():
        for part in content if isinstance(content, (list, tuple)) else (content,):
            if isinstance(part, str) and field not in LONG and len(part) > MAX_NAME_CHARS:
                raise UserError(f"{name}.{field}: a short text is expected")
            if isinstance(part, int) and not -1 <= part < 2**53:
                raise UserError(f"{name}.{field}: a whole number is expected")


def _storable(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with texts redacted as incoming ones, valid UTF-8."""
    out = _writable(value)
    text = out["text"]
    # A text that was shortened once is a little over the limit. It is not shortened again.
    text = without_secret_output(text) if out.get("kind") == "tool" else text
    out["text"] = redact(text) if len(text) <= MAX_EVENT_CHARS + LEFT_OUT_CHARS else clean(text)
    for name in ("detail", "evidence", "error", "headline", "subject"):
        if out.get(name):
            out[name] = redact(out[name])
    if "headline" in out or "subject" in out:
        out["headline"], out["subject"] = fitting(out.get("headline", ""), out.get("subject", ""))
    return out


def _writable(value: Mapping[str, Any]) -> dict[str, Any]:
    """With texts that can be written as UTF-8."""
    return {
        name: _UNPAIRED.sub("\ufffd", content) if isinstance(content, str) else content
        for name, content in value.items()
    }


def _without_user(key: str) -> str:
    """Return a remote's key without the user and password of foreign keys."""
    kind, _, rest = key.partition(":")
    host, slash, path = rest.partition("/")
    return f"{kind}:{host.rpartition('@')[2]}{slash}{path}" if kind == "remote" else key


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)
