"""All settings, those of a project's own file, and descriptions."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from pydantic import BaseModel, PrivateAttr

from memlayer.config.agent import AgentSettings, QueryClassificationSettings, SoulSettings
from memlayer.config.consolidation import ConsolidationSettings
from memlayer.config.embedding import EmbeddingSettings
from memlayer.config.groups import (
    CaptureSettings,
    CitationSettings,
    DaemonSettings,
    FileSettings,
    FlushSettings,
    Group,
    MemorySettings,
    MomentSettings,
    NoteSettings,
    RecallSettings,
    RetentionSettings,
    ToolSettings,
    WorkingSetSettings,
)
from memlayer.config.privacy import PrivacySettings

PREFIX = "MEMLAYER_"
# Those that people touch first.
FIRST_KEYS = (
    "recall.enabled", "recall.max_entries", "recall.min_chance", "memory.mode", "capture.enabled", "files.enabled",
    "retention.conversation_days", "consolidation.provider", "agent.provider", "embedding.provider",
)  # fmt: skip


class Settings(Group):
    """All settings. `Settings()` has the defaults. Only load_settings reads the environment."""

    recall: RecallSettings = RecallSettings()
    working_set: WorkingSetSettings = WorkingSetSettings()
    memory: MemorySettings = MemorySettings()
    flush: FlushSettings = FlushSettings()
    capture: CaptureSettings = CaptureSettings()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
    citations: CitationSettings = CitationSettings()
    privacy: PrivacySettings = PrivacySettings()
    retention: RetentionSettings = RetentionSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    notes: NoteSettings = NoteSettings()
    moments: MomentSettings = MomentSettings()
    agent: AgentSettings = AgentSettings()
    query_classification: QueryClassificationSettings = QueryClassificationSettings()
    soul: SoulSettings = SoulSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    daemon: DaemonSettings = DaemonSettings()

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)  # key -> file or variable it was set by

    def origin(self, key: str) -> str:
        """Return a value's origin: "default", a path, or a variable's name."""
        return self._origins.get(key, "default")

    def for_project(self, project: "ProjectSettings") -> "Settings":
        """Return these settings as they hold in a project.

        `enabled: false` switches everything off; the numbers may only ask for less than the user allows; a
        value of a variable stays.
        """
        groups: dict[str, dict[str, object]] = {}
        origins = dict(self._origins)
        asks = [(key, value, PROJECT_KEYS[key]) for key, value in project.asks.items()]
        asks += [] if project.enabled else [(key, False, "no") for key in SWITCHED_OFF]
        for key, wanted, how in asks:
            group, _, name = key.partition(".")
            ours, is_pinned = getattr(getattr(self, group), name), origins.get(key, "").startswith(PREFIX)
            if (max if how == "max" else min)(wanted, ours) != ours and (how == "no" or not is_pinned):
                groups.setdefault(group, {})[name] = wanted
                origins[key] = project.file
        changed = self.model_copy(
            update={group: getattr(self, group).model_copy(update=new) for group, new in groups.items()}
        )
        changed._origins = origins
        return changed


@dataclass(frozen=True)
class ProjectSettings:
    """A project's .memlayer.yaml.

    asks: key -> value of settings. warnings: ignored settings. file: "" for none.
    """

    enabled: bool = True
    asks: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    file: str = ""


def groups_that(attribute: str) -> tuple[str, ...]:
    """Return the groups whose class says so: see groups.Group."""
    return tuple(name for name, field in Settings.model_fields.items() if getattr(field.annotation, attribute))


def fields_of(group: str) -> dict[str, Any]:
    """Return name -> FieldInfo of a group; empty for an unknown group."""
    field = Settings.model_fields.get(group)
    kind = field.annotation if field else None
    return dict(kind.model_fields) if isinstance(kind, type) and issubclass(kind, BaseModel) else {}


def keys() -> list[str]:
    """Return all settings as group.name, in the order of the documentation."""
    return [f"{group}.{name}" for group in Settings.model_fields for name in fields_of(group)]


def variable(group: str, name: str = "") -> str:
    """Return the environment variable of a setting or of a group."""
    return f"{PREFIX}{group}__{name}".upper().removesuffix("__")


@dataclass(frozen=True)
class SettingDescription:
    """A setting; unit, bounds: "" for none. for_projects: in .memlayer.yaml too."""

    key: str
    default: object
    unit: str
    bounds: str
    description: str
    for_projects: bool


def describe() -> list[SettingDescription]:
    """Describe every setting, in the order of the documentation."""
    return [
        SettingDescription(
            key=f"{group}.{name}",
            default=field.default,
            unit=str(field.json_schema_extra["unit"]),
            bounds=_bounds(field),
            description=field.description or "",
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
        return ", ".join(filter(None, choices))
    return "true, false" if field.annotation is bool else ""


_ASKED = {
    f"{group}.{name}": str(field.json_schema_extra["project"])
    for group in Settings.model_fields
    for name, field in fields_of(group).items()
}
# Settings that a project's file may set -> which of both values holds.
PROJECT_KEYS = {"enabled": "no", **{key: how for key, how in _ASKED.items() if how not in ("", "off")}}
SWITCHED_OFF = [key for key, how in _ASKED.items() if how and key.endswith(".enabled")]
RELOADED_GROUPS = groups_that("is_reloaded")  # a running daemon reads them again from a valid file
