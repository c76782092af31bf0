"""A talk within a day's tokens, and the choice of its provider."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

from memlayer.adapters.chat.endpoint import NotCharged
from memlayer.adapters.chat.tool_findings import ToolFindings
from memlayer.adapters.chat.tool_support import TRY_TOKENS
from memlayer.chat import ChatProvider, ChatRequest, OnText, OnWait, Reply
from memlayer.config import Settings
from memlayer.config.consolidation import CLAUDE_VARIABLES, NETWORK_VARIABLES
from memlayer.edge.home import error_log, paths
from memlayer.errors import ChatError
from memlayer.records.model_budget import ModelBudget, Reserved
from memlayer.text.chunking import estimate_tokens

NOT_SET_UP = (
    "no language model is set up for the agent: run memlayer config set agent.provider claude-cli (or anthropic, "
    "openai; docs/agent.md says what each needs)"
)
OnFailure = Callable[[str], None]
MESSAGE_TOKENS = 8  # of a message's frame


class BudgetedChat:
    """A provider whose calls are counted before they are made.

    own_tokens: that the provider adds to a request. asks_server: whether it may try tools with a request. on_failure:
    called with the line of each failed call.
    """

    def __init__(
        self,
        provider: ChatProvider,
        budget: ModelBudget,
        *,
        own_tokens: int = 0,
        asks_server: bool = False,
        on_failure: OnFailure = lambda _: None,
    ) -> None:
        self._provider, self._budget, self._on_failure = provider, budget, on_failure
        self._own_tokens, self._asks_server = own_tokens, asks_server

    @property
    def name(self) -> str:
        """See ChatProvider."""
        return self._provider.name

    def supports_native_tools(self) -> bool:
        """See ChatProvider. Raises ChatError when the day's tokens are used up."""
        if self._asks_server:
            self._reserve(TRY_TOKENS)
            self._asks_server = False
        return self._provider.supports_native_tools()

    def check(self) -> None:
        """See ChatProvider."""
        self._provider.check()

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider.

        A call that fails after it was sent, or is stopped, stays counted with the answer that it may have had.
        """
        sent = request_tokens(request) + self._own_tokens
        reserved = self._reserve(sent + request.max_tokens)
        try:
            reply = self._provider.chat(request, deadline_s=deadline_s, on_text=on_text, on_wait=on_wait)
        except ChatError as bad:
            if isinstance(bad, NotCharged):
                self._budget.give_back(reserved)
            self._on_failure(str(bad))
            raise
        used = reply.use.input_tokens + reply.use.output_tokens
        written = estimate_tokens(reply.text) + sum(estimate_tokens(_arguments(call.arguments)) for call in reply.calls)
        self._budget.settle(reserved, used or sent + written, reply.use.cost_usd)
        return reply

    def _reserve(self, tokens: int) -> Reserved:
        reserved = self._budget.reserve(tokens)
        if reserved is not None:
            return reserved
        said = self._budget.summary()
        used, allowed = said["today"]["tokens"], said["daily_tokens"]
        if used + tokens <= allowed:
            raise ChatError("the tokens of the day cannot be counted on disk, so nothing is sent: see memlayer doctor")
        raise ChatError(
            f"the day's budget does not allow this call: {used:,} of {allowed:,} tokens are used, it may take "
            f"{tokens:,}. Raise agent.daily_tokens, or wait until tomorrow"
        )


def request_tokens(request: ChatRequest) -> int:
    """Estimate the tokens of a request."""
    found = 0
    for one in request.messages:
        arguments = [_arguments(call.arguments) for call in one.calls]
        found += sum(map(estimate_tokens, [one.text, one.reasoning, *arguments])) + MESSAGE_TOKENS
    return found + sum(
        estimate_tokens(f"{tool.name} {tool.description} {_arguments(tool.parameters)}") for tool in request.tools
    )


def _arguments(found: object) -> str:
    return json.dumps(found, ensure_ascii=False, default=dict)


def chat_provider(settings: Settings, home: str) -> ChatProvider:
    """Return the provider that the person has named, within its budget.

    Loads no SDK and sends nothing. A key in the environment names none. Raises ChatError when none is set up.
    """
    chosen = settings.agent
    if not chosen.provider:
        raise ChatError(NOT_SET_UP)
    return _PROVIDERS[chosen.provider](settings, home)


def _anthropic(settings: Settings, home: str) -> BudgetedChat:
    from memlayer.adapters.chat.anthropic_chat import AnthropicChat, anthropic_endpoint

    chosen = settings.agent
    endpoint = anthropic_endpoint(
        chosen.base_url, chosen.key_variable, is_key_named=bool(chosen.api_key_env), max_retries=chosen.max_retries
    )
    return _budgeted(AnthropicChat(endpoint), settings, home)


def _openai(settings: Settings, home: str) -> BudgetedChat:
    from memlayer.adapters.chat.openai_chat import OpenAIChat, openai_endpoint

    chosen = settings.agent
    endpoint = openai_endpoint(
        chosen.base_url, chosen.key_variable, is_key_named=bool(chosen.api_key_env), max_retries=chosen.max_retries
    )
    provider = OpenAIChat(endpoint, chosen.model_name, ToolFindings(paths.tool_findings(home)))
    return _budgeted(provider, settings, home, asks_server=provider.asks_server)


def _claude_cli(settings: Settings, home: str) -> BudgetedChat:
    from memlayer.adapters.chat.claude_cli_chat import ClaudeCliChat

    provider = ClaudeCliChat((*CLAUDE_VARIABLES, *NETWORK_VARIABLES))
    return _budgeted(provider, settings, home, own_tokens=provider.own_tokens)


_PROVIDERS: dict[str, Callable[[Settings, str], BudgetedChat]] = {
    "anthropic": _anthropic, "openai": _openai, "claude-cli": _claude_cli,
}  # fmt: skip


def _budgeted(
    provider: ChatProvider, settings: Settings, home: str, *, own_tokens: int = 0, asks_server: bool = False
) -> BudgetedChat:
    def log(message: str) -> None:
        with contextlib.suppress(OSError):  # a failed log must not hide the failure
            error_log.write(paths.agent_log(home), message, provider=provider.name)

    budget = ModelBudget(paths.agent_use(home), daily_tokens=settings.agent.daily_tokens)
    return BudgetedChat(provider, budget, own_tokens=own_tokens, asks_server=asks_server, on_failure=log)
