"""Settings of `memlayer agent`: model, bounds, routing and persona.

Read from the user's own file and from flags alone, like those of consolidation: a model is sent text, and costs tokens.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from memlayer.config.consolidation import AskedModel, check_endpoint
from memlayer.config.groups import Group, Real, Whole, setting
from memlayer.config.providers import KEYS_TOLD, MODELS_TOLD, LanguageModel

_DURATION = re.compile(r"(\d{1,4})\s*([smh])")
_UNIT_S = {"s": 1, "m": 60, "h": 3600}
DAY_S = 86_400

# Settings of one provider: another one has other models, another address and another key.
OF_PROVIDER = ("model", "base_url", "api_key_env")


class AgentSettings(AskedModel):
    """The agent: a talk with a language model on this memory.

    No variable is heeded here: a model is sent text, and costs tokens.
    """

    group: ClassVar[str] = "agent"
    is_read_by_talks: ClassVar[bool] = True
    provider: Literal["", LanguageModel] = setting(
        "", "Empty: not set up, nothing is sent to anybody. openai: any server with its interface, too."
    )
    model: str = setting("", f"Empty: {MODELS_TOLD}.")
    base_url: str = setting("", "Another address of the same interface (llama.cpp, Ollama, vLLM); empty: its own.")
    api_key_env: str = setting("", f"The variable that holds the key; empty: {KEYS_TOLD}. Never the key itself.")
    max_tool_iterations: Whole = setting(20, "Rounds of tool calls in one turn.", unit="rounds", ge=1, le=1000)
    parallel_tools: bool = setting(False, "Run the tool calls of one answer at once instead of one after the other.")
    tool_dispatcher: Literal["auto", "native", "xml"] = setting(
        "auto", "How a model is told of tools: `native` in the request, `xml` in the system prompt; `auto`: as it can."
    )
    auto_compaction: bool = setting(True, "Replace older messages by a summary when the context fills.")
    max_context_tokens: Whole = setting(100_000, "Context of the model.", unit="tokens", ge=1000, le=10**8)
    compaction_threshold: Real = setting(0.75, "Share of the context at which a summary is made.", ge=0.1, le=1)
    preserve_recent_messages: Whole = setting(
        4, "Messages that a compaction leaves as they are; 0: all are replaced.", unit="messages", ge=0, le=1000
    )
    temperature: Real | None = setting(None, "Unset: the provider's own. For openai; the others have none.", ge=0, le=2)
    daily_tokens: Whole = setting(
        2_000_000, "Tokens in a day, in and out, of all talks together; 0: nothing is sent.", unit="tokens", ge=0,
        le=10**12,
    )  # fmt: skip


def _hint(text: str) -> str:
    """Return a valid hint. pydantic's own patterns take 15 ms to compile."""
    if not re.fullmatch(r"[\w-]{1,40}", text):
        raise ValueError("a hint is 1 to 40 letters, digits, _ and -")
    return text


def for_provider(from_file: Mapping[str, Any], provider: object) -> Mapping[str, Any]:
    """Return a file's settings for another provider, or as they are."""
    chosen = from_file.get("agent")
    own = chosen.get("provider", "") if isinstance(chosen, dict) else ""
    if not provider or not isinstance(chosen, dict) or own in ("", provider):
        return from_file
    kept = {name: value for name, value in chosen.items() if name not in OF_PROVIDER}
    rules = from_file.get("query_classification")
    off = {"query_classification": {**rules, "models": {}}} if isinstance(rules, dict) else {}
    return {**from_file, "agent": kept, **off}


class ClassificationRule(Group):
    """Words that give a prompt a hint.

    keywords: in any case, of any language. priority: of two matching rules the higher one holds, then the earlier one.
    """

    hint: Annotated[str, AfterValidator(_hint)]
    keywords: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(min_length=1)
    priority: Whole = 0


class QueryClassificationSettings(Group):
    """Prompts to the agent that another model of its provider answers.

    No variable is heeded here.
    """

    is_read_by_talks: ClassVar[bool] = True
    enabled: bool = setting(False, "Choose the model of a prompt by its words.")
    rules: tuple[ClassificationRule, ...] = setting(
        (), "Each `{hint: fast, keywords: [quick, brief, 간단히], priority: 10}`; the highest priority wins."
    )
    models: dict[str, str] = setting({}, "The model of each hint: `{fast: claude-haiku-5-5}`; none: `agent.model`.")

    @model_validator(mode="after")
    def _models_have_names(self) -> "QueryClassificationSettings":
        for hint, model in self.models.items():
            if not model:
                raise ValueError(f"query_classification.models: {hint[:40]!r} names no model")
            check_endpoint("query_classification", model, "", "", key="models")
        return self


def _clock(value: object) -> object:
    """Return HH:MM of a time that YAML took for a sexagesimal number."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 24 * 60:
        return "%02d:%02d" % divmod(value, 60)
    return value


class SoulSettings(Group):
    """The agent's persona: files in memlayer's home, if there are any.

    No variable is heeded here.
    """

    is_read_by_talks: ClassVar[bool] = True
    chance: Real = setting(
        0.1, "How often `SOUL_EVIL.md` takes its place, drawn once a talk: in one of ten.", ge=0, le=1
    )
    purge_at: Annotated[str, BeforeValidator(_clock)] = setting(
        "", "Local time, such as `21:00`, from which it does every day; empty: never."
    )
    purge_duration: str = setting("15m", "For how long: `90s`, `15m`, `2h`, at most a day.")

    @model_validator(mode="after")
    def _can_be_read(self) -> "SoulSettings":
        if self.purge_at and not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", self.purge_at):
            raise ValueError("soul.purge_at must be a time of day such as 21:00")
        if not 0 < self.purge_seconds <= DAY_S:
            raise ValueError("soul.purge_duration must be such as 90s, 15m or 2h, and at most a day")
        return self

    @property
    def purge_seconds(self) -> int:
        """Length of the daily window in seconds; 0 for an unreadable one."""
        match: Any = _DURATION.fullmatch(self.purge_duration.strip())
        return int(match[1]) * _UNIT_S[match[2]] if match else 0

    @property
    def purge_minute(self) -> int:
        """Minute of the local day that begins the window, -1 for none."""
        hour, _, minute = self.purge_at.partition(":")
        return int(hour) * 60 + int(minute) if self.purge_at else -1
