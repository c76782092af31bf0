"""All groups of settings, and those of a project's own file."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memlayer.config.consolidation import ConsolidationSettings
from memlayer.config.groups import (
    CaptureSettings,
    ChunkingSettings,
    CitationSettings,
    DaemonSettings,
    EmbeddingSettings,
    FileSettings,
    FlushSettings,
    Real,
    RecallSettings,
    RetentionSettings,
    ToolSettings,
    Whole,
    WorkingSetSettings,
)

PREFIX = "MEMLAYER_"


class Settings(BaseSettings):
    """All settings. `Settings()` has the defaults; only load_settings reads the environment."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__")

    recall: RecallSettings = RecallSettings()
    working_set: WorkingSetSettings = WorkingSetSettings()
    flush: FlushSettings = FlushSettings()
    capture: CaptureSettings = CaptureSettings()
    tools: ToolSettings = ToolSettings()
    files: FileSettings = FileSettings()
    citations: CitationSettings = CitationSettings()
    retention: RetentionSettings = RetentionSettings()
    chunking: ChunkingSettings = ChunkingSettings()
    consolidation: ConsolidationSettings = ConsolidationSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    daemon: DaemonSettings = DaemonSettings()

    _origins: dict[str, str] = PrivateAttr(default_factory=dict)  # key -> file or variable it was set by

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments alone.

        load_settings merges the sources, to name the source with a wrong value.
        """
        return (init_settings,)

    def origin(self, key: str) -> str:
        """Return a value's origin: "default", a path, a variable's name, or "flag"."""
        return self._origins.get(key, "default")

    def for_project(self, project: ProjectSettings) -> Settings:
        """Return these settings as they hold in a project.

        `enabled: false` switches everything off; the numbers may only ask for less than the user allows; a
        value of a variable or a flag stays.
        """
        groups: dict[str, dict[str, object]] = {"recall": {}, "working_set": {}, "capture": {}}
        origins = dict(self._origins)

        def change(group: str, name: str, value: object) -> None:
            groups[group][name] = value
            origins[f"{group}.{name}"] = project.file

        for name, stricter in (
            ("enabled", min),
            ("max_entries", min),
            ("max_chars", min),
            ("min_chance", max),
        ):
            wanted, ours = getattr(project.recall, name), getattr(self.recall, name)
            pinned = origins.get(f"recall.{name}", "").startswith((PREFIX, "flag"))
            if wanted is not None and not pinned and stricter(wanted, ours) != ours:
                change("recall", name, wanted)
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


class ProjectSettings(BaseModel):
    """Settings that a project's .memlayer.yaml may hold.

    warnings: ignored settings, one line each. file: its path, "" when there is none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    recall: ProjectRecall = ProjectRecall()
    warnings: tuple[str, ...] = ()
    file: str = ""
