"""Reads the arguments of a request: whoever can reach the socket can send anything."""

from __future__ import annotations

import re
from typing import Any

from memlayer.errors import UserError

MAX_LISTED = 10_000
_UNPAIRED = re.compile("[\ud800-\udfff]")


def text_of(asked: dict[str, Any], name: str) -> str:
    """A text that was asked for, "" when there is none. It can be written as UTF-8."""
    value = asked.get(name)
    return _UNPAIRED.sub("\ufffd", value) if isinstance(value, str) else ""


def folder_of(asked: dict[str, Any]) -> str:
    """The project folder that was asked for, "" when there is none; as os.fsdecode gives it."""
    return path_of(asked, "project_dir")


def path_of(asked: dict[str, Any], name: str = "path") -> str:
    """A path that was asked for, "" when there is none; as os.fsdecode gives it. Raises UserError."""
    value = asked.get(name)
    if not isinstance(value, str):
        return ""
    if "\0" in value:
        raise UserError(f"{name}: there is a null character in it")
    return value


def number_of(asked: dict[str, Any], name: str) -> float:
    """A number that was asked for, 0 when there is none. Raises UserError."""
    value = asked.get(name) or 0
    if not isinstance(value, int | float) or not -(2**63) < value < 2**63:
        raise UserError(f"{name}: a number is expected")
    return value


def limit_of(asked: dict[str, Any], default: int) -> int:
    """How many to list, from 1 to MAX_LISTED. Raises UserError."""
    return min(MAX_LISTED, max(1, int(number_of(asked, "limit")) or default))


def list_of(asked: dict[str, Any], name: str) -> list[object]:
    """A list that was asked for, [] when there is none. Raises UserError."""
    value = asked.get(name) or []
    if not isinstance(value, list):
        raise UserError(f"{name}: a list is expected")
    return value
