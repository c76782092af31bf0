"""Talks with scripted servers: settings, requests and their tokens."""

from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from memlayer.chat import ChatProvider, ChatRequest, Reply, ToolSpec, WireMessage
from memlayer.config import Settings, load_settings
from memlayer.edge.home import paths
from memlayer.providers import chosen
from memlayer.records.model_budget import ModelBudget
from tests.support.model_api import ModelApi

KEY = "sk-test-0123456789"
SDKS = ("anthropic", "openai")
PROMPT = "결제 모듈은 뭘로 바꾸기로 했지?"
SEARCH = ToolSpec("memory_search", "Searches 기억.", {"type": "object", "properties": {"query": {"type": "string"}}})
TALK = (WireMessage("system", "You are terse."), WireMessage("user", PROMPT))


def settings_of(provider: str, api: ModelApi, home: Path, **more: object) -> Settings:
    """Return settings that name this provider at the scripted server."""
    url = api.url + ("/v1" if provider == "openai" else "")
    named = {"provider": provider, "model": "tiny", "base_url": url, "api_key_env": "MY_KEY", **more}
    return load_settings(str(home), {}, {f"agent.{name}": value for name, value in named.items()})


def talk(provider: str, api: ModelApi, home: Path, *, max_retries: int = 2, **more: object) -> ChatProvider:
    """Return the provider that such settings name. max_retries: of a busy server."""
    with patch.object(chosen, "MAX_RETRIES", max_retries):
        return chosen.chat_provider(settings_of(provider, api, home, **more), str(home))


def ask(
    chat: ChatProvider,
    messages: tuple[WireMessage, ...] = TALK,
    *,
    tools: tuple[ToolSpec, ...] = (),
    deadline_s: float = 10.0,
    on_text: Callable[[str], None] | None = None,
    on_wait: Callable[[str], None] | None = None,
) -> Reply:
    """Return the answer to a talk."""
    request = ChatRequest("tiny", messages, tools, temperature=0.0, max_tokens=900)
    return chat.chat(request, deadline_s=deadline_s, on_text=on_text, on_wait=on_wait)


def tokens_today(home: Path) -> int:
    """Return the tokens that the day's budget has counted."""
    return int(ModelBudget(paths.agent_use(str(home)), daily_tokens=10**9).summary().today.tokens)
