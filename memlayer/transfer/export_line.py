"""One line of an export: every field checked, secrets redacted.

An export may be damaged, written by hand, or come from somebody else. Ids become parts of paths, numbers are computed
with, and texts are stored, so no field is trusted.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, NamedTuple, NoReturn, get_type_hints

from memlayer.edge.capture.payload import MAX_EVENT_CHARS, clean
from memlayer.edge.capture.spool import KINDS
from memlayer.edge.capture.tool_use import without_secret_output
from memlayer.edge.home import registry
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import UserError
from memlayer.kinds import Category, author_of, ended_of
from memlayer.model import CITED, GLOBAL, OPENED, SHOWN, Event, Memory, Usage, citation_of
from memlayer.records import schema5
from memlayer.records.sessions import Session
from memlayer.turns.headline import fitting

MARK = "memlayer_export"  # the first line's
END = "end"  # the last line's
SOURCES = ("hook", "transcript", "import")
MAX_NAME_CHARS = 4096  # of a session's id, a path or a key
LEFT_OUT_CHARS = 100  # the line within a shortened text that counts the missing characters

_CATEGORY_NAMES = tuple(category.value for category in Category)
_UNPAIRED = re.compile("[\ud800-\udfff]")
_is_id = re.compile("[0-9a-f]{32}").fullmatch
_is_project_id = re.compile("[0-9a-f]{16}").fullmatch
_is_key = re.compile(r"[a-z]{2,20}(?:_\d{4}-\d\d-\d\d)?(?:_[0-9a-z]{1,16})+").fullmatch

REQUIRED_OF_PROJECT = ("id", "keys")


class ExportedProject(NamedTuple):
    """An entry of another home's registry."""

    id: str
    entry: dict[str, Any]


Read = ExportedProject | Session | Event | Memory | Usage


@dataclass(frozen=True)
class _Rule:
    holds: Callable[[Any], object]
    expected: str


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME_CHARS


def _is_path(value: object) -> bool:
    return _is_name(value) and "\0" not in str(value) and (value == "" or os.path.isabs(str(value)))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_keys(value: object) -> bool:
    return isinstance(value, list) and all(_is_name(key) and key.startswith(registry.STRENGTH) for key in value)


def _matches(pattern: Callable[[str], object], *others: str) -> Callable[[Any], object]:
    return lambda value: isinstance(value, str) and (value in others or pattern(value))


NAME = _Rule(_is_name, "a short text")
NAMED = _Rule(lambda value: _is_name(value) and value, "a short text that is not empty")
TEXT = _Rule(lambda value: isinstance(value, str), "a text")
MOMENT = _Rule(lambda value: _is_whole(value) and 0 <= value < 2**53, "a time in milliseconds since 1970")
ID = _Rule(_matches(_is_id), "32 hexadecimal digits")
PROJECT_ID = _Rule(_matches(_is_project_id), "16 hexadecimal digits")
NAMES = _Rule(lambda value: isinstance(value, list) and all(map(_is_name, value)), "a list of short texts")
YES_OR_NO = _Rule(lambda value: isinstance(value, bool), "true or false")
IDS = _Rule(lambda value: isinstance(value, list) and all(map(ID.holds, value)), "a list of ids")

_IN_SCOPE = _Rule(_matches(_is_project_id, GLOBAL), PROJECT_ID.expected + ", or " + GLOBAL)

EVENT = {
    "id": ID,
    "kind": _Rule(lambda value: value in KINDS, "one of " + ", ".join(KINDS)),
    "session_id": NAMED,
    "project_id": _IN_SCOPE,
    "prompt_id": NAME,
    "text": TEXT,
    "at_ms": MOMENT,
    "source": _Rule(lambda value: value in SOURCES, "one of " + ", ".join(SOURCES)),
    "uuid": NAME,
    "detail": NAME,
}
MEMORY = {
    "id": ID,
    "key": _Rule(_matches(_is_key), "a key such as turn_2026-11-19_81d2"),
    "citation": TEXT,
    "category": _Rule(_matches(_CATEGORY_NAMES.__contains__), "one of " + ", ".join(_CATEGORY_NAMES)),
    "kind": NAME,
    "text": TEXT,
    "importance": _Rule(
        lambda value: (_is_whole(value) or isinstance(value, float)) and 0 <= value <= 1,
        "a number from 0 to 1",
    ),
    "project_id": _IN_SCOPE,
    "session_id": NAME,
    "prompt_id": NAME,
    "source_ids": IDS,
    "at_ms": MOMENT,
    "by": NAME,
    "ended_because": NAME,
    "ended_ms": MOMENT,
    "superseded_by": _Rule(_matches(_is_id, ""), ID.expected),
    "pinned": YES_OR_NO,
    "rules": _Rule(lambda value: _is_whole(value) and 0 <= value < 2**31, "a whole number"),
    "evidence": TEXT,
    "level": _Rule(lambda value: _is_whole(value) and 0 <= value <= 9, "a number from 0 to 9"),
    "files": NAMES,
    "error": NAME,
    "headline": NAME,
    "subject": NAME,
}
USAGE = {
    "id": ID,
    "memory_id": ID,
    "session_id": NAME,
    "project_id": _IN_SCOPE,
    "prompt_id": NAME,
    "how": _Rule(lambda value: value in (SHOWN, CITED, OPENED), "one of shown, cited, opened"),
    "at_ms": MOMENT,
}
_BY_TYPE = {
    str: NAME,
    bool: YES_OR_NO,
    int: _Rule(lambda value: _is_whole(value) and -1 <= value < 2**53, "a whole number"),
    list[str]: NAMES,  # ids, and marks such as "start:4UjZUG"
}
SESSION = {name: _BY_TYPE[kind] for name, kind in get_type_hints(Session).items()} | {
    "id": NAMED,
    "project_id": _Rule(_matches(_is_project_id, ""), PROJECT_ID.expected),
    "project_dir": _Rule(_is_path, "an absolute path"),
    "transcript_path": _Rule(_is_path, "an absolute path"),
}
PROJECT = {
    "id": PROJECT_ID,
    "name": NAME,
    "root": _Rule(_is_path, "an absolute path"),
    "keys": _Rule(_is_keys, "a list of keys such as path:/srv/shop"),
    "since_ms": MOMENT,
}
_FIELDS = {"project": PROJECT, "session": SESSION, "event": EVENT, "memory": MEMORY, "usage": USAGE}


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
    if not isinstance(value, dict) or name not in _FIELDS:
        raise UserError("neither a project, a session, an event, a memory nor a usage")
    if is_newer or name == "session":
        value = {key: content for key, content in value.items() if key in _FIELDS[name]}
    if name == "project":
        _check(name, value, PROJECT, REQUIRED_OF_PROJECT)
        known = {key: content for key, content in value.items() if key in PROJECT}
        return ExportedProject(known.pop("id"), {**known, "keys": [_without_user(key) for key in known["keys"]]})
    if name == "session":
        _check(name, value, SESSION, ("id",))
        return Session(**value)
    if name == "event":
        _check(name, value, EVENT, _required(Event), is_all=True)
        return Event(**_storable(value))
    if name == "usage":
        _check(name, value, USAGE, _required(Usage), is_all=True)
        return Usage(**_writable(value))
    value = schema5.upgraded(value) if _is_of_schema5(value) else value
    _check(name, value, MEMORY, _required(Memory), is_all=True)
    if value["citation"] != citation_of(value["id"]):
        raise UserError("memory.citation: it is not that of its id")
    read = {
        "source_ids": tuple(value["source_ids"]),
        "category": Category(value["category"]),
        "by": author_of(value.get("by", "")),
        "ended_because": ended_of(value.get("ended_because", "")),
        "files": tuple(redact(_UNPAIRED.sub("\ufffd", path)) for path in value.get("files", ())),
    }
    return Memory(**{**_storable(value), **read})


def _is_of_schema5(value: Mapping[str, Any]) -> bool:
    """True for an earlier version's memory. Raises UserError for a bad one."""
    own = {"settled": NAME, "superseded_ms": MOMENT}
    if "settled" not in value:
        return False
    rules = {name: rule for name, rule in MEMORY.items() if name not in ("by", "ended_because", "ended_ms", "rules")}
    _check("memory", value, rules | own, tuple(name for name in _required(Memory) if name in rules))
    return True


def _check(
    name: str, value: Mapping[str, Any], rules: Mapping[str, _Rule], required: tuple[str, ...], is_all: bool = False
) -> None:
    """Check fields. Raises UserError; is_all: also for unknown ones."""
    for field in required:
        if field not in value:
            raise UserError(f"{name}.{field} is missing")
    for field, content in value.items():
        rule = rules.get(field)
        if rule is None:
            if is_all:
                raise UserError(f"{name}: there is no field {field[:40]!r}")
        elif not rule.holds(content):
            raise UserError(f"{name}.{field}: it must be {rule.expected}")


def _required(kind: type[Event] | type[Memory] | type[Usage]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.default is MISSING)


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
