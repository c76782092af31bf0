"""Descriptions of all settings, for the documentation and `memlayer config`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, get_args

from memlayer.config.load import PROJECT_KEYS, fields_of, variable
from memlayer.config.model import Settings


@dataclass(frozen=True)
class SettingDescription:
    """Description of a setting.

    unit, bounds: "" for none; bounds as people write them. variable: the environment variable. for_projects: whether a
    project's .memlayer.yaml may set it.
    """

    key: str
    default: object
    unit: str
    bounds: str
    description: str
    variable: str
    for_projects: bool


def describe() -> list[SettingDescription]:
    """Describe every setting, in the order of the documentation."""
    return [
        SettingDescription(
            key=f"{group}.{name}",
            default=field.default,
            unit=str((field.json_schema_extra or {}).get("unit", "")),
            bounds=_bounds(field),
            description=field.description or "",
            variable=variable(group, name),
            for_projects=f"{group}.{name}" in PROJECT_KEYS,
        )
        for group in Settings.model_fields
        for name, field in fields_of(group).items()
    ]


def describe_groups() -> dict[str, str]:
    """Return group -> its subject, with notes."""
    return {
        group: inspect.cleandoc((field.annotation.__doc__ if field.annotation else "") or "")
        for group, field in Settings.model_fields.items()
    }


def _bounds(field: Any) -> str:
    low = high = None
    for part in field.metadata:
        low = getattr(part, "ge", None) if low is None else low
        high = getattr(part, "le", None) if high is None else high
    if low is not None and high is not None:
        return f"{low:g} to {high:g}" if high < 1e6 else f"{low:g} or more"
    choices = get_args(field.annotation)
    if choices and all(isinstance(choice, str) for choice in choices):
        return ", ".join(choices)
    return "true, false" if field.annotation is bool else ""
