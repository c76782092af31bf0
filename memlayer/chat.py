"""A talk with a language model: messages, tools and the provider's port."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Role = Literal["system", "user", "assistant", "tool"]
OnText = Callable[[str], None]
OnWait = Callable[[str], None]


@dataclass(frozen=True)
class ToolSpec:
    """A tool as a model sees it, its parameters a JSON schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A model's call of a tool.

    problem: why the arguments could not be read, "" when they could. The call is then answered with an error.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class ToolResult:
    """The text that a call is answered with."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


@dataclass(frozen=True)
class Chat:
    """A text of one side.

    words: of a user's text, the person's own part, without notes and time. "" for the whole text.
    """

    role: Literal["system", "user", "assistant"]
    text: str
    words: str = ""


@dataclass(frozen=True)
class AssistantToolCalls:
    """An answer that calls tools, with the provider's own reasoning."""

    text: str
    calls: tuple[ToolCall, ...]
    reasoning: str = ""


@dataclass(frozen=True)
class ToolResults:
    """The results of one answer's calls, in their order."""

    results: tuple[ToolResult, ...]


Message = Chat | AssistantToolCalls | ToolResults


@dataclass(frozen=True)
class WireMessage:
    """A message as it goes to a provider.

    calls: of an assistant. call_id, is_error: of a result, whose role is tool.
    """

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    is_error: bool = False
    reasoning: str = ""


@dataclass(frozen=True)
class ChatRequest:
    """One request to a provider.

    tools: () where the model is offered none, or is told of them in the system prompt. temperature: None for the
    provider's own. max_tokens: of the answer.
    """

    model: str
    messages: tuple[WireMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    temperature: float | None = None
    max_tokens: int = 4096


@dataclass(frozen=True)
class TokenUse:
    """Tokens of one request, cached ones included, and its answer; 0: unknown."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True)
class Reply:
    """A provider's answer. is_cut: it ended at max_tokens."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    use: TokenUse = TokenUse()
    is_cut: bool = False


class ChatProvider(Protocol):
    """A language model that a person talks to; no state between calls."""

    @property
    def name(self) -> str:
        """The provider, as settings name it."""

    def supports_native_tools(self) -> bool:
        """Return whether a request may carry tools."""

    def check(self) -> None:
        """Look for program, package and key; send nothing. Raises ChatError."""

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """Answer a request within the deadline.

        on_text: called with each part of the answer's text as it comes. on_wait: called once, with a line about what is
        waited for, when no text has come for 15 s. Retries what a server asks to retry. Raises ChatError, one line
        without any text of the request. KeyboardInterrupt ends the call at once.
        """
