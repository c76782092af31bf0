"""What a person may change: every setting with its default, its unit and its bounds, as frozen values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

PREFIX = "MEMLAYER_"


def _no_bool(value: object) -> object:
    """pydantic takes `true` for the number 1; in a settings file that is a slip."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    return value


Whole = Annotated[int, BeforeValidator(_no_bool)]
Real = Annotated[float, BeforeValidator(_no_bool), Field(allow_inf_nan=False)]


def _setting(
    default: object, description: str, *, unit: str = "", ge: float | None = None, le: float | None = None
) -> Any:
    """A field with what the docs table needs."""
    return Field(default=default, description=description, ge=ge, le=le, json_schema_extra={"unit": unit})


class _Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RecallSettings(_Group):
    """What a prompt is answered with."""

    enabled: bool = _setting(True, "Answer prompts with memories.")
    max_entries: Whole = _setting(5, "Entries in one context block.", unit="entries", ge=0, le=20)
    max_entry_chars: Whole = _setting(800, "Length of one entry.", unit="characters", ge=80, le=9500)
    max_chars: Whole = _setting(4000, "Length of a whole context block.", unit="characters", ge=0, le=9500)
    min_score: Real = _setting(0.4, "Floor on the calibrated relevance.", ge=0, le=1)
    weight_lexical: Real = _setting(0.5, "Share of full-text search in the relevance.", ge=0, le=1)
    weight_vector: Real = _setting(0.5, "Share of meaning (vectors) in the relevance.", ge=0, le=1)
    weight_relevance: Real = _setting(0.7, "Share of relevance in the score.", ge=0, le=1)
    weight_importance: Real = _setting(0.2, "Share of importance in the score.", ge=0, le=1)
    weight_recency: Real = _setting(0.1, "Share of recency in the score.", ge=0, le=1)
    half_life_days: Real = _setting(7.0, "Age at which recency has fallen to a half.", unit="days", ge=0.01, le=36500)
    candidates: Whole = _setting(
        40, "Chunks that each kind of search offers for ranking.", unit="chunks", ge=1, le=1000
    )
    deadline_ms: Whole = _setting(450, "Time to answer a prompt; later answers are dropped.", unit="ms", ge=20, le=5000)

    @model_validator(mode="after")
    def _some_weight(self) -> RecallSettings:
        if self.weight_lexical + self.weight_vector <= 0:
            raise ValueError("recall.weight_lexical and recall.weight_vector must not both be 0")
        if self.weight_relevance + self.weight_importance + self.weight_recency <= 0:
            raise ValueError("recall.weight_relevance, _importance and _recency must not all be 0")
        return self


class WorkingSetSettings(_Group):
    """What a session starts with."""

    enabled: bool = _setting(True, "Start a session with where the last one left off.")
    max_entries: Whole = _setting(6, "Entries a session starts with.", unit="entries", ge=0, le=20)
    max_chars: Whole = _setting(2000, "Length of the whole working set.", unit="characters", ge=0, le=9500)


class CaptureSettings(_Group):
    """What is remembered."""

    enabled: bool = _setting(True, "Remember new turns. What is stored already stays and is still recalled.")


class ChunkingSettings(_Group):
    """How long texts are cut for the search index."""

    max_tokens: Whole = _setting(400, "Length of a chunk; longer texts are cut.", unit="tokens", ge=50, le=480)
    overlap_tokens: Whole = _setting(80, "What neighbouring chunks share.", unit="tokens", ge=0, le=240)

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> ChunkingSettings:
        if self.overlap_tokens * 2 > self.max_tokens:
            raise ValueError("chunking.overlap_tokens must be at most half of chunking.max_tokens")
        return self


class EmbeddingSettings(_Group):
    """The model that finds memories by meaning."""

    provider: Literal["fastembed", "none"] = _setting("fastembed", "`none`: full-text search only.")
    model: str = _setting("e5-small-ko-en-int8", "A model that ships, any fastembed model, or a local folder.")
    cache_dir: str = _setting("", "Where downloaded models are kept; empty: `<home>/cache/models`.")
    batch_size: Whole = _setting(16, "Texts embedded in one go.", unit="texts", ge=1, le=512)
    cache_max_bytes: Whole = _setting(
        256 * 2**20, "Cache of vectors, which makes a rebuild cheap.", unit="bytes", ge=0, le=2**40
    )


class DaemonSettings(_Group):
    """The background process that owns the store."""

    idle_minutes: Real = _setting(
        30.0, "Leaves after so long without a request; 0: never.", unit="minutes", ge=0, le=525_600
    )
    log_level: Literal["debug", "info", "warning", "error"] = _setting("info", "What `logs/daemon.log` holds.")

    @model_validator(mode="after")
    def _idle_is_zero_or_some_seconds(self) -> DaemonSettings:
        if 0 < self.idle_minutes < 0.05:
            raise ValueError("daemon.idle_minutes must be 0 (never) or at least 0.05")
        return self


class Settings(BaseSettings):
    """All settings. `Settings()` is the defaults, whatever the environment says; load_settings reads it."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True, env_prefix=PREFIX, env_nested_delimiter="__")

    recall: RecallSettings = RecallSettings()
    working_set: WorkingSetSettings = WorkingSetSettings()
    capture: CaptureSettings = CaptureSettings()
    chunking: ChunkingSettings = ChunkingSettings()
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
        """Arguments only: load_settings merges the sources itself, to say which holds a wrong value."""
        return (init_settings,)

    def origin(self, key: str) -> str:
        """Where a value comes from: "default", a file's path, a variable's name, or "flag"."""
        return self._origins.get(key, "default")

    def for_project(self, project: ProjectSettings) -> Settings:
        """These settings as they hold in a project.

        `enabled: false` switches everything off; the numbers may only ask for less than the user allows; what
        a variable or a flag has set stays.
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
            ("min_score", max),
        ):
            asked, ours = getattr(project.recall, name), getattr(self.recall, name)
            pinned = origins.get(f"recall.{name}", "").startswith((PREFIX, "flag"))
            if asked is not None and not pinned and stricter(asked, ours) != ours:
                change("recall", name, asked)
        if not project.enabled:
            for group in groups:
                change(group, "enabled", False)
        changed = self.model_copy(
            update={group: getattr(self, group).model_copy(update=new) for group, new in groups.items() if new}
        )
        changed._origins = origins
        return changed


class ProjectRecall(BaseModel):
    """What a project may say about recall; None: nothing said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool | None = None
    max_entries: Annotated[Whole, Field(ge=0, le=20)] | None = None
    max_chars: Annotated[Whole, Field(ge=0, le=9500)] | None = None
    min_score: Annotated[Real, Field(ge=0, le=1)] | None = None


class ProjectSettings(BaseModel):
    """All that a project's .memlayer.yaml may say.

    warnings: what was ignored, one line each. file: its path, "" when there is none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = True
    recall: ProjectRecall = ProjectRecall()
    warnings: tuple[str, ...] = ()
    file: str = ""
