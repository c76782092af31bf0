"""All settings, those of a project's own file, and descriptions."""

import inspect
from dataclasses import dataclass
from typing import Annotated, Any, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

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
    Real,
    RecallSettings,
    RetentionSettings,
    ToolSettings,
    Whole,
    WorkingSetSettings,
)
from memlayer.config.privacy import PrivacySettings

PREFIX = "MEMLAYER_"
# Those that people touch first.
FIRST_KEYS = (
    "recall.enabled", "recall.max_entries", "recall.min_chance", "memory.mode", "capture.enabled", "files.enabled",
    "retention.conversation_days", "consolidation.provider", "agent.provider", "embedding.provider",
)  # fmt: skip
PROJECT_KEYS = (
    "enabled",
    "recall.enabled",
    "recall.max_entries",
    "recall.max_chars",
    "recall.min_chance",
    "notes.enabled",
)


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
        groups: dict[str, dict[str, object]] = {"recall": {}, "working_set": {}, "capture": {}, "notes": {}}
        origins = dict(self._origins)

        def change(group: str, name: str, value: object) -> None:
            groups[group][name] = value
            origins[f"{group}.{name}"] = project.file

        for name, stricter in (("enabled", min), ("max_entries", min), ("max_chars", min), ("min_chance", max)):
            wanted, ours = getattr(project.recall, name), getattr(self.recall, name)
            pinned = origins.get(f"recall.{name}", "").startswith(PREFIX)
            if wanted is not None and not pinned and stricter(wanted, ours) != ours:
                change("recall", name, wanted)
        if project.notes.enabled is False and self.notes.enabled:
            change("notes", "enabled", False)
        if not project.enabled:
            for group in groups:
                change(group, "enabled", False)
        changed = self.model_copy(
            update={group: getattr(self, group).model_copy(update=new) for group, new in groups.items() if new}
        )
        changed._origins = origins
        return changed


class ProjectRecall(BaseModel):
    """Settings of recall in a project's file; None: not set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool | None = None
    max_entries: Annotated[Whole, Field(ge=0, le=20)] | None = None
    max_chars: Annotated[Whole, Field(ge=0, le=9500)] | None = None
    min_chance: Annotated[Real, Field(ge=0, le=1)] | None = None


class ProjectNotesSettings(BaseModel):
    """Settings of notes in a project's file: only a no counts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool | None = None


class ProjectSettings(BaseModel):
    """A project's .memlayer.yaml. warnings: ignored settings; file: "" for none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    recall: ProjectRecall = ProjectRecall()
    notes: ProjectNotesSettings = ProjectNotesSettings()
    warnings: tuple[str, ...] = ()
    file: str = ""


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
            unit=str((field.json_schema_extra or {}).get("unit", "")),
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
