"""Settings of consolidation: extractor, language model and its budget."""

import os
import re
from typing import TYPE_CHECKING, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import model_validator

from memlayer.config import providers
from memlayer.config.groups import Group, Whole, setting
from memlayer.edge.home import paths

if TYPE_CHECKING:
    from memlayer.config.model import Settings


class AskedModel(Group):
    """Settings of a language model that is asked.

    No variable is heeded here: a model is sent text, and costs tokens.
    """

    group: ClassVar[str] = ""
    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        if self.row.title and not self.model_name:
            raise ValueError(f"{self.group}.model must name a model when {self.group}.provider is {self.provider}")
        check_endpoint(self.group, self.model, self.base_url, self.api_key_env)
        return self

    @property
    def row(self) -> providers.Provider:
        """The provider's row; NOBODY for none."""
        return providers.PROVIDERS.get(self.provider, providers.NOBODY)

    @property
    def model_name(self) -> str:
        """Name of the model, "" for none."""
        return self.model or self.row.model

    @property
    def key_variable(self) -> str:
        """Variable that holds the key, "" where none is sent."""
        return self.row.key_for(self.base_url, self.api_key_env)


class ConsolidationSettings(AskedModel):
    """Settings for drawing lasting memories from turns.

    No variable is heeded here: a model is sent turns, and costs tokens.
    """

    group: ClassVar[str] = "consolidation"
    provider: Literal["rules", providers.LanguageModel] = setting(
        "rules", "`rules`: no language model. The others: docs/language-model.md."
    )
    model: str = setting("", f"Empty: {providers.MODELS_TOLD}.")
    base_url: str = setting("", "Another address of the same interface (llama.cpp, Ollama, a gateway); empty: its own.")
    api_key_env: str = setting(
        "",
        f"The variable that holds the key; empty: {providers.KEYS_TOLD}, for another address none. Never the key "
        "itself.",
    )
    reads: Literal["session", "turn"] = setting(
        "session",
        "`session`: the model reads each session once, when it is over (docs/notes.md). `turn`: after each turn, which "
        "costs more and cannot know what held.",
    )
    by_session: bool = setting(
        False, "The session's own model is asked at its start to write what is worth a note, two at most, each checked."
    )
    daily_tokens: Whole = setting(
        200_000, "Tokens in a day, in and out; then sessions wait.", unit="tokens", ge=0, le=10**9
    )

    @property
    def reads_turns(self) -> bool:
        """True where a session is read after each turn."""
        return self.reads == "turn"


def check_endpoint(group: str, model: str, base_url: str, api_key_env: str, *, key: str = "model") -> None:
    """Refuse an unusable model, address or variable; "" is none. Raises ValueError.

    key: the setting that names the model.
    """
    if model and not re.fullmatch(r"[\w][\w./:@+ -]{0,199}", model):
        raise ValueError(f"{group}.{key} is not a model's name")
    if api_key_env and not re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", api_key_env):
        # The value is not repeated: it may be a key.
        raise ValueError(f"{group}.api_key_env must be a variable's name in capitals, not the key itself")
    if base_url:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{group}.base_url must begin with http:// or https:// and name a host")
        if parts.username or parts.password or parts.query:
            raise ValueError(f"{group}.base_url must not hold a user, a password or parameters")


def daemon_variables(settings: "Settings") -> tuple[str, ...]:
    """Return the variables of a language model and of an embedding provider."""
    chosen = settings.embedding
    network = providers.NETWORK_VARIABLES if chosen.is_remote else ()
    return tuple(dict.fromkeys((*language_model_variables(settings), *chosen.key_variables, *network)))


def language_model_variables(settings: "Settings") -> tuple[str, ...]:
    """Return the variables for the daemon's language model; none for rules."""
    chosen = settings.consolidation
    if chosen.provider == "rules":
        return ()
    own = chosen.row.variables or tuple(filter(None, [chosen.key_variable]))
    return (*own, *providers.NETWORK_VARIABLES)


def write_daemon_variables(home: str, settings: "Settings") -> None:
    """Write variable names for the daemon's next start. Raises OSError."""
    is_sharing = os.path.isdir(paths.share(home)) or os.path.isdir(paths.team(home))
    shared = providers.SHARE_VARIABLES if is_sharing else ()
    names, path = (*daemon_variables(settings), *shared), paths.daemon_variables(home)
    if names:
        paths.write_whole(path, ("\n".join(names) + "\n").encode())
    elif os.path.lexists(path):
        os.unlink(path)
