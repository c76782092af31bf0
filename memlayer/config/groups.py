"""Groups of settings with defaults, units and bounds, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _no_bool(value: object) -> object:
    """Refuse `true` for the number 1: a slip that pydantic takes."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    return value


Whole = Annotated[int, BeforeValidator(_no_bool)]
Real = Annotated[float, BeforeValidator(_no_bool), Field(allow_inf_nan=False)]


def setting(
    default: object, description: str, *, unit: str = "", ge: float | None = None, le: float | None = None
) -> Any:
    """Return a field with its description and unit for the docs table."""
    return Field(default=default, description=description, ge=ge, le=le, json_schema_extra={"unit": unit})


class Group(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def valid_part(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of wrong values that holds: none, but for privacy."""
        return {}


class RecallSettings(Group):
    """Notes that a prompt is answered with."""

    enabled: bool = setting(True, "Answer prompts with memories.")
    max_entries: Whole = setting(3, "Entries in one context block.", unit="entries", ge=0, le=20)
    max_entry_chars: Whole = setting(900, "Length of one entry.", unit="characters", ge=80, le=9500)
    max_chars: Whole = setting(1400, "Length of the entries of a context block.", unit="characters", ge=0, le=9500)
    min_chance: Real = setting(0.126, "How sure recall must be that the prompt needs a memory.", ge=0, le=1)
    weight_lexical: Real = setting(0.5, "Share of full-text search in the order of a search.", ge=0, le=1)
    weight_vector: Real = setting(0.5, "Share of meaning (vectors) in the order of a search.", ge=0, le=1)
    candidates: Whole = setting(30, "Chunks that each kind of search offers for ranking.", unit="chunks", ge=1, le=1000)
    deadline_ms: Whole = setting(450, "Time to answer a prompt; later answers are dropped.", unit="ms", ge=20, le=5000)

    @model_validator(mode="after")
    def _some_weight(self) -> RecallSettings:
        if self.weight_lexical + self.weight_vector <= 0:
            raise ValueError("recall.weight_lexical and recall.weight_vector must not both be 0")
        return self


class WorkingSetSettings(Group):
    """The working set that a session starts with."""

    enabled: bool = setting(True, "Start a session with where the last one left off.")
    max_entries: Whole = setting(6, "0: a session starts with nothing; else of no effect.", unit="entries", ge=0, le=20)
    max_chars: Whole = setting(3500, "Length of the whole working set.", unit="characters", ge=0, le=9500)


class MemorySettings(Group):
    """The span of work that a session's start goes on with."""

    mode: Literal["session", "endless"] = setting(
        "session", "endless: a start goes on with the last day's work, and topics of a month are kept."
    )
    weight_topics: Real = setting(0.3, "Share of common words in the continuity of two sessions.", ge=0, le=1)
    weight_time: Real = setting(0.3, "Share of their nearness in time.", ge=0, le=1)
    weight_files: Real = setting(0.2, "Share of the files that both changed.", ge=0, le=1)
    weight_names: Real = setting(0.2, "Share of the names of code and things in both.", ge=0, le=1)

    @model_validator(mode="after")
    def _some_weight(self) -> MemorySettings:
        if self.weight_topics + self.weight_time + self.weight_files + self.weight_names <= 0:
            raise ValueError("a weight of memory.weight_* must be above 0")
        return self


class FlushSettings(Group):
    """Nothing important is lost when the host compacts the model's context."""

    enabled: bool = setting(True, "Settle a session's memories before its context is compacted.")
    context_window: Whole = setting(
        0, "The model's context window; 0: by the model's name.", unit="tokens", ge=0, le=100_000_000
    )
    reserve_tokens: Whole = setting(
        20_000, "Context that the host keeps free for its summary.", unit="tokens", ge=0, le=1_000_000
    )
    soft_threshold: Whole = setting(4_000, "How long before that a flush is due.", unit="tokens", ge=0, le=1_000_000)
    ask_model: bool = setting(
        False, "Ask the model once before a compaction to store lasting information. Costs one more answer."
    )
    summarizer_line: str = setting(
        "",
        "One line for the host's own summary of a compaction, for instance to keep every [mem:…] citation; "
        "`structured`: four sections (docs/memory.md).",
    )


class CaptureSettings(Group):
    """Capture of new turns."""

    enabled: bool = setting(True, "Remember new turns. Stored memories stay and are still recalled.")
    tell_rules: bool = setting(
        True, "Tell you in one line which rules of a prompt were kept. Never told with recall.enabled: false."
    )


class CitationSettings(Group):
    """Record of the memories that prove useful."""

    track: bool = setting(True, "Record which memories are shown, cited by answers and opened: ids and times, no text.")


class NoteSettings(Group):
    """Notes that a language model writes, once `consolidation.provider` names one."""

    enabled: bool = setting(True, "Have finished sessions read. A project may say no to it.")


class MomentSettings(Group):
    """Questions to git about notes and open work."""

    changed_ground: bool = setting(
        True, "Ask git, in the background, which open work is pushed or has commits on its files since."
    )
    checked_notes: bool = setting(
        True,
        "Look up the names of code in notes. `(since changed)` stands before a note whose file, symbol, "
        "version or command is gone, `(on branch X)` before one said on a branch that is not merged here.",
    )

    @model_validator(mode="before")
    @classmethod
    def _without_retired(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in dict(values).items() if name != "changed_files"}


class ToolSettings(Group):
    """Settings for the tool calls that are kept, in short."""

    enabled: bool = setting(True, "Keep edits, commands and failures.")
    kept: tuple[str, ...] = setting(
        ("Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"),
        "Tools whose calls are kept; one that ends with `*` means all that begin so. Besides these only `mcp__` tools "
        "can be named: no hook runs for others.",
    )
    failures: tuple[str, ...] = setting(("*",), "Tools whose failed calls are kept; `*` means all.")
    max_chars: Whole = setting(1500, "Length of the output that is kept.", unit="characters", ge=100, le=20_000)


class FileSettings(Group):
    """Memory files for people to edit, and further Markdown to search."""

    enabled: bool = setting(True, "Keep `MEMORY.md` and `memory/<day>.md` for each project, and read changes back.")
    location: Literal["home", "project"] = setting(
        "home",
        "`home`: under `<home>/projects/`. `project`: in each project's own `.memlayer/`, where git can share it; then "
        "files that come with a clone are read as yours.",
    )
    host_memory: bool = setting(
        True, "Search the host's own memory of each project too, and say nothing that its MEMORY.md says. Read only."
    )
    extra_paths: tuple[str, ...] = setting(
        (), "Files, or folders of Markdown, that are searched as well; absolute, or from `~`."
    )

    @model_validator(mode="after")
    def _paths_lead_somewhere(self) -> FileSettings:
        for path in self.extra_paths:
            if not path.startswith(("/", "~")) or "\0" in path:
                raise ValueError(f"files.extra_paths: {path[:60]!r} is neither absolute nor from ~")
        return self


class RetentionSettings(Group):
    """Ages at which memories are deleted, once a day; 0: never.

    No variable is heeded here: whoever starts the daemon could have memories erased.
    """

    conversation_days: Whole = setting(
        0, "Turns older than that go, with their words. Memories drawn from them stay.", unit="days", ge=0, le=36_500
    )
    daily_days: Whole = setting(0, "Entries of days and sessions older than that go.", unit="days", ge=0, le=36_500)
    tools_days: Whole = setting(
        0, "Tool calls older than that go; 0: with their conversation.", unit="days", ge=0, le=36_500
    )
    core_days: Whole = setting(
        0,
        "Core memories that nobody has renewed for so long go, but for pinned and proven ones.",
        unit="days",
        ge=0,
        le=36_500,
    )


class ChunkingSettings(Group):
    """Cuts of long texts for the search index."""

    max_tokens: Whole = setting(400, "Length of a chunk; longer texts are cut.", unit="tokens", ge=50, le=480)
    overlap_tokens: Whole = setting(80, "Overlap of neighbouring chunks.", unit="tokens", ge=0, le=240)

    @model_validator(mode="after")
    def _overlap_is_shorter(self) -> ChunkingSettings:
        if self.overlap_tokens * 2 > self.max_tokens:
            raise ValueError("chunking.overlap_tokens must be at most half of chunking.max_tokens")
        return self


class DaemonSettings(Group):
    """The background process that owns the store."""

    idle_minutes: Real = setting(
        30.0, "Leaves after so long without a request; 0: never.", unit="minutes", ge=0, le=525_600
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting("info", "Lowest level in `logs/daemon.log`.")

    @model_validator(mode="after")
    def _idle_is_zero_or_some_seconds(self) -> DaemonSettings:
        if 0 < self.idle_minutes < 0.05:
            raise ValueError("daemon.idle_minutes must be 0 (never) or at least 0.05")
        return self
