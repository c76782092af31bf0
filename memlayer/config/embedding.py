"""Settings of the embedding model: provider, address, key and budget."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import model_validator

from memlayer.config.consolidation import check_endpoint
from memlayer.config.groups import OpenGroup, Whole, setting
from memlayer.config.providers import PROVIDERS, VECTOR_KEYS_TOLD, VECTOR_PROVIDERS, VECTORS_TOLD, VectorProvider

# Providers that keep every text on this machine: the only ones that a variable may choose.
LOCAL_PROVIDERS = ("fastembed", "none")
SHIPPED_MODEL = "e5-small-ko-en-int8"
# Settings that decide whether and where texts are sent: see groups.Group.
FILE_ONLY = ("model", "base_url", "api_key_env", "daily_tokens")


class EmbeddingSettings(OpenGroup):
    """The model that finds memories by meaning.

    Variables can set no model, address, key or budget here, and no provider but `fastembed` and `none`: the others are
    sent every stored text.
    """

    provider: Literal["fastembed", VectorProvider, "auto", "none"] = setting(
        "fastembed",
        "`fastembed`: on this machine. `openai`, `gemini`: texts are sent there (docs/language-model.md). `auto`: the "
        "local model, else whichever of the two has a key. `none`: full-text search only.",
    )
    model: str = setting(
        "",
        f"Empty: `{SHIPPED_MODEL}`, {VECTORS_TOLD}. For fastembed a model that ships, any fastembed model, or a local "
        "folder.",
    )
    base_url: str = setting(
        "", "For openai and gemini: another address of the same interface (Ollama, LM Studio, vLLM); empty: its own."
    )
    api_key_env: str = setting(
        "",
        f"The variable that holds the key; empty: {VECTOR_KEYS_TOLD}, for another address none. Never the key itself.",
    )
    daily_tokens: Whole = setting(
        5_000_000,
        "Tokens in a day for openai or gemini; then words alone are searched until tomorrow.",
        unit="tokens",
        ge=0,
        le=10**12,
    )

    @model_validator(mode="after")
    def _can_be_asked(self) -> "EmbeddingSettings":
        model = self.model if self.provider in VECTOR_PROVIDERS else ""
        check_endpoint("embedding", model, self.base_url, self.api_key_env)
        return self

    @property
    def local_model(self) -> str:
        """Model of fastembed, and the first that `auto` looks for."""
        return self.model or SHIPPED_MODEL

    @property
    def model_name(self) -> str:
        """Model of the provider; of `auto` the local one, "" for none."""
        if self.provider in VECTOR_PROVIDERS:
            return self.model or PROVIDERS[self.provider].vectors
        return "" if self.provider == "none" else self.local_model

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Variables that may hold a key; () where none is sent."""
        if self.provider == "auto":
            return tuple(PROVIDERS[name].key_variable for name in VECTOR_PROVIDERS)
        if self.provider not in VECTOR_PROVIDERS:
            return ()
        return tuple(filter(None, [PROVIDERS[self.provider].key_for(self.base_url, self.api_key_env)]))

    @property
    def is_remote(self) -> bool:
        """True where texts are sent somewhere, or may be (`auto`)."""
        return self.provider == "auto" or self.provider in VECTOR_PROVIDERS


def heeded(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the variables' values that count."""
    return {
        name: value
        for name, value in fields.items()
        if name not in FILE_ONLY and (name != "provider" or value in LOCAL_PROVIDERS)
    }
