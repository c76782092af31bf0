"""The valid part of wrong settings.

The daemon runs all the same, and does no more than it may.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memlayer.config.files import read_user_file, switched_off
from memlayer.config.load import load_settings, placed, read_variables, variable
from memlayer.config.model import Settings
from memlayer.edge.home import paths
from memlayer.errors import UserError

_BOOL = TypeAdapter(bool)


def load_what_holds(home: str, environ: Mapping[str, str]) -> tuple[Settings, str]:
    """Load the settings, or the valid part of wrong settings.

    Returns (settings, "") of load_settings, or (their valid part, the mistake, one line). A group that is valid by
    itself holds. Of one that is not nothing holds but that it is switched off: who has written `capture: {enabled:
    false}` wants it off, whatever else is wrong.
    """
    try:
        return load_settings(home, environ), ""
    except UserError as bad:
        problem = str(bad)
    file = paths.settings(home)
    try:
        from_file: Mapping[str, Any] = read_user_file(file)
    except UserError:
        from_file = switched_off(file)
    try:
        from_environ: Mapping[str, Any] = read_variables(environ)
    except UserError:
        from_environ = {}
    held: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for group, field in Settings.model_fields.items():
        sources = [_fields(from_file.get(group)), _fields(from_environ.get(group))]
        values = {**sources[0], **sources[1]}
        kind: Any = field.annotation
        try:
            held[group] = kind.model_validate(values)
        except ValidationError:
            values = {"enabled": False} if _is_off(sources) else {}
            held[group] = kind.model_validate(values)
        for name in values:
            origins[f"{group}.{name}"] = variable(group, name) if name in sources[1] else file
    return placed(Settings(**held), home, origins), problem


def _fields(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_off(sources: Sequence[Mapping[str, Any]]) -> bool:
    """True if the last source is off.

    Unreadable values such as `flase` are off, since less is done then.
    """
    for source in reversed(sources):
        if "enabled" in source:
            try:
                return not _BOOL.validate_python(source["enabled"])
            except ValidationError:
                return True
    return False
