"""The chosen provider: a talk within its budget, a reader's questions."""

import contextlib
import json
from collections.abc import Callable
from typing import get_args

from memlayer.chat import ChatProvider, ChatRequest, OnText, OnWait, Reply, WireMessage
from memlayer.config import Settings
from memlayer.config.providers import PROVIDERS, LanguageModel
from memlayer.edge.home import error_log, paths
from memlayer.errors import ChatError, ConsolidationError
from memlayer.ports import Completion, ModelMissing
from memlayer.providers.claude_cli import ClaudeCliChat
from memlayer.providers.endpoint import Asker, Endpoint, NotCharged, NotSent
from memlayer.providers.questions import Questions
from memlayer.providers.tools import TRY_TOKENS, ToolFindings
from memlayer.records.model_budget import ModelBudget, Reserved
from memlayer.text.chunking import estimate_tokens

LANGUAGE_MODELS: tuple[str, ...] = get_args(LanguageModel)
NOT_SET_UP = (
    "no language model is set up for the agent: run memlayer config set agent.provider %s (or %s; docs/agent.md says "
    "what each needs)" % (LANGUAGE_MODELS[0], ", ".join(LANGUAGE_MODELS[1:]))
)
OnFailure = Callable[[str], None]
MAX_RETRIES = 2  # further tries of a talk, where a server is busy or fails (429, 5xx)
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
            try:
                self.check()
            except ChatError:
                return False  # as the provider would say. Nothing is sent
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
        use = self._budget.summary()
        used, allowed = use.today.tokens, use.daily_tokens
        if used + tokens <= allowed:
            raise ChatError("the tokens of the day cannot be counted on disk, so nothing is sent: see memlayer doctor")
        raise ChatError(
            f"the day's budget does not allow this call: {used:,} of {allowed:,} tokens are used, it may take "
            f"{tokens:,}. Raise agent.daily_tokens, or wait until tomorrow"
        )


def request_tokens(request: ChatRequest) -> int:
    """Estimate the tokens of a request."""
    tokens = 0
    for message in request.messages:
        arguments = [_arguments(call.arguments) for call in message.calls]
        tokens += sum(map(estimate_tokens, [message.text, message.reasoning, *arguments])) + MESSAGE_TOKENS
    return tokens + sum(
        estimate_tokens(f"{tool.name} {tool.description} {_arguments(tool.parameters)}") for tool in request.tools
    )


def _arguments(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=dict)


class ClaudeQuestions:
    """LanguageModel over a talk of one question with the host's command line."""

    def __init__(self, chat: ClaudeCliChat, model: str) -> None:
        self._chat, self._model = chat, model
        self.close = chat.close

    def check(self) -> None:
        """Look for the program. Raises ModelMissing."""
        try:
            self._chat.check()
        except ChatError as bad:
            raise ModelMissing(str(bad)) from bad

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """See LanguageModel."""
        messages = WireMessage("system", system), WireMessage("user", prompt)
        request = ChatRequest(self._model, messages, max_tokens=max_tokens)
        try:
            reply = self._chat.chat(request, deadline_s=deadline_s)
        except NotSent as bad:
            raise ModelMissing(str(bad)) from bad
        except ChatError as bad:
            raise ConsolidationError(str(bad)) from bad
        return Completion(reply.text, reply.use.input_tokens, reply.use.output_tokens, reply.use.cost_usd)


def chat_provider(settings: Settings, home: str) -> BudgetedChat:
    """Return the provider that the person has named, within its budget.

    Loads no SDK and sends nothing. A key in the environment names none. Raises ChatError when none is set up.
    """
    chosen = settings.agent
    if not chosen.provider:
        raise ChatError(NOT_SET_UP)
    endpoint = Endpoint(
        PROVIDERS[chosen.provider], Asker("agent", is_daemon=False), chosen.base_url, chosen.key_variable,
        MAX_RETRIES,
    )  # fmt: skip
    provider = provider_at(endpoint, chosen.model_name, ToolFindings(paths.tool_findings(home)))

    def log(message: str) -> None:
        with contextlib.suppress(OSError):  # a failed log must not hide the failure
            error_log.write(paths.agent_log(home), message, provider=provider.name)

    return BudgetedChat(
        provider,
        ModelBudget(paths.agent_use(home), daily_tokens=chosen.daily_tokens),
        own_tokens=endpoint.provider.own_tokens,
        asks_server=getattr(provider, "asks_server", False),
        on_failure=log,
    )


def language_model(settings: Settings) -> ClaudeQuestions | Questions:
    """Return the model that reads sessions, unloaded; not for `rules`."""
    chosen = settings.consolidation
    endpoint = Endpoint(PROVIDERS[chosen.provider], Asker("consolidation"), chosen.base_url, chosen.key_variable)
    if endpoint.name == "claude-cli":
        return ClaudeQuestions(ClaudeCliChat(endpoint.provider, endpoint.asker), chosen.model_name)
    return Questions(endpoint, chosen.model_name)


def provider_at(endpoint: Endpoint, model: str, findings: ToolFindings) -> ChatProvider:
    """Return the provider at an endpoint, without its SDK loaded.

    Raises ChatError for one that has no talks.
    """
    match endpoint.name:
        case "claude-cli":
            return ClaudeCliChat(endpoint.provider, endpoint.asker)
        case "anthropic":
            from memlayer.providers.anthropic_chat import AnthropicChat

            return AnthropicChat(endpoint)
        case "openai":
            from memlayer.providers.openai_chat import OpenAIChat

            return OpenAIChat(endpoint, model, findings)
    raise ChatError(f"memlayer has no talk with {endpoint.name}")
