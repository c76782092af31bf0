"""Arguments of the daemon's operations: sent as JSON, read back with checks.

The command line makes a record and sends it (`fields`); the daemon reads it back (`read`). Whoever can reach the socket
can send anything, so `read` checks each value. A missing name has its default and an unknown one is ignored: two
versions may meet for a moment. Hooks do not import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import fields as fields_of
from typing import Any, ClassVar, TypeVar

from memlayer.errors import UserError

MAX_LISTED = 10_000
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
