"""Groups of settings with defaults, units and bounds, as frozen values."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _no_bool(value: object) -> object:
    """Refuse `true` for the number 1: a slip that pydantic takes."""
    if isinstance(value, bool):
        raise ValueError("Input should be a number")
    return value


Whole = Annotated[int, BeforeValidator(_no_bool)]
Real = Annotated[float, BeforeValidator(_no_bool), Field(allow_inf_nan=False)]


def setting(default: object, description: str, *, unit: str = "", project: str = "", **bounds: Any) -> Any:
    """Return a field with its description, unit and bounds (ge, le).

    project: how a project's file may change it. min, max: that of both values holds, unless a variable has one. no: a
    no alone counts. off: it goes off with the whole project. Empty: not at all.
    """
    extra: Any = {"unit": unit, "project": project}
    return Field(default=default, description=description, json_schema_extra=extra, **bounds)


class Group(BaseModel):
    """Settings of one subject, from the user's own file alone.

    Data may leave the machine, or be erased, by nothing else: the host takes variables from the settings of whatever
    repository it was started in, and gives them to the hook that starts the daemon of all projects. A model in a shell
    may start it as well. is_reloaded: a running daemon takes a change. is_read_by_talks: no daemon reads it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    heeds_variables: ClassVar[bool] = False
    is_reloaded: ClassVar[bool] = False
    is_read_by_talks: ClassVar[bool] = False

    @classmethod
    def valid_part(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the part of wrong values that holds: none, but for privacy."""
        return {}


class OpenGroup(Group):
    heeds_variables: ClassVar[bool] = True


class RecallSettings(OpenGroup):
    """Notes that a prompt is answered with."""

    is_reloaded: ClassVar[bool] = True
    enabled: bool = setting(True, "Answer prompts with memories.", project="min")
    max_entries: Whole = setting(3, "Entries in one context block.", unit="entries", ge=0, le=20, project="min")
    max_chars: Whole = setting(
        1400, "Length of the entries of a context block.", unit="characters", ge=0, le=9500, project="min"
    )
    min_chance: Real = setting(
        0.126, "How sure recall must be that the prompt needs a memory.", ge=0, le=1, project="max"
    )
    weight_vector: Real = setting(
        0.5, "Share of meaning (vectors) in the order of a search; the rest is of words.", ge=0, le=1
    )
    deadline_ms: Whole = setting(450, "Time to answer a prompt; later answers are dropped.", unit="ms", ge=20, le=5000)


class WorkingSetSettings(OpenGroup):
    """The working set that a session starts with."""

    is_reloaded: ClassVar[bool] = True
    enabled: bool = setting(True, "Start a session with where the last one left off.", project="off")


class MemorySettings(OpenGroup):
    """The span of work that a session's start goes on with."""

    mode: Literal["session", "endless"] = setting(
        "session", "endless: a start goes on with the last day's work, and topics of a month are kept."
    )
    weights: tuple[Annotated[Real, Field(ge=0, le=1)], ...] = setting(
        (0.3, 0.3, 0.2, 0.2),
        "Shares of common words, nearness in time, changed files and names in both in the continuity of two sessions.",
    )

    @model_validator(mode="after")
    def _four_weights(self) -> "MemorySettings":
        if len(self.weights) != 4 or not any(self.weights):
            raise ValueError("memory.weights must be four numbers, one of them above 0")
        return self


class FlushSettings(OpenGroup):
    """Nothing important is lost when the host compacts the model's context."""

    enabled: bool = setting(True, "Settle a session's memories before its context is compacted.")
    ask_model: bool = setting(
        False, "Ask the model once before a compaction to store lasting information. Costs one more answer."
    )
    summarizer_line: str = setting(
        "",
        "One line for the host's own summary of a compaction, for instance to keep every [mem:…] citation; "
        "`structured`: four sections (docs/memory.md).",
    )


class CaptureSettings(OpenGroup):
    """Capture of new turns."""

    enabled: bool = setting(True, "Remember new turns. Stored memories stay and are still recalled.", project="off")
    tell_rules: bool = setting(
        True, "Tell you in one line which rules of a prompt were kept. Never told with recall.enabled: false."
    )


class CitationSettings(OpenGroup):
    """Record of the memories that prove useful."""

    track: bool = setting(True, "Record which memories are shown, cited by answers and opened: ids and times, no text.")


class NoteSettings(OpenGroup):
    """Notes that a language model writes, once `consolidation.provider` names one."""

    enabled: bool = setting(True, "Have finished sessions read. A project may say no to it.", project="no")


class MomentSettings(OpenGroup):
    """Lines at tool calls."""

    is_reloaded: ClassVar[bool] = True
    at_action: bool = setting(
        True,
        "Before a command or change that failed or was taken back in an earlier session, and behind a failure whose "
        "cure is known, tell the model in one line.",
    )


class ToolSettings(OpenGroup):
    """Settings for the tool calls that are kept, in short."""

    enabled: bool = setting(True, "Keep edits, commands and failures.")
    kept: tuple[str, ...] = setting(
        ("Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"),
        "Tools whose calls are kept; one that ends with `*` means all that begin so. Besides these only `mcp__` tools "
        "can be named: no hook runs for others.",
    )


class FileSettings(OpenGroup):
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
    def _paths_lead_somewhere(self) -> "FileSettings":
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


class DaemonSettings(OpenGroup):
    """The background process that owns the store."""

    idle_minutes: Real = setting(
        30.0, "Leaves after so long without a request; 0: never.", unit="minutes", ge=0, le=525_600
    )

    @model_validator(mode="after")
    def _idle_is_zero_or_some_seconds(self) -> "DaemonSettings":
        if 0 < self.idle_minutes < 0.05:
            raise ValueError("daemon.idle_minutes must be 0 (never) or at least 0.05")
        return self
