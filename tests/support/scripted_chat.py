"""A chat provider with scripted answers that checks and records its requests."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from memlayer.chat import ChatRequest, OnText, OnWait, Reply, ToolCall

Answer = str | Reply | BaseException | Callable[[ChatRequest], "str | Reply"]


def calls(*made: ToolCall, text: str = "") -> Reply:
    """Return a native answer that calls tools."""
    return Reply(text, made)


def called(name: str, id: str = "c1", **arguments: Any) -> ToolCall:
    """Return a call."""
    return ToolCall(id, name, arguments)


def xml_call(name: str, **arguments: Any) -> str:
    """Return a call as a model writes it."""
    return "<tool_call>%s</tool_call>" % json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def check_request(request: ChatRequest) -> None:
    """Refuse requests as strict servers do: AssertionError for an orphan or roles that do not alternate."""
    roles = [one.role for one in request.messages]
    talk = roles[1:] if roles[:1] == ["system"] else roles
    assert "system" not in talk
    assert talk[:1] == ["user"], roles
    waiting: list[str] = []
    for before, message in zip([None, *request.messages[-len(talk) :]], request.messages[-len(talk) :], strict=False):
        if message.role == "tool":
            assert waiting and waiting.pop(0) == message.call_id, roles
            continue
        assert waiting == [], roles
        assert message.text.strip() or message.calls
        if before is not None:
            wanted = ("assistant",) if before.role in ("user", "tool") else ("user",)
            assert message.role in wanted, roles
        waiting = [one.id for one in message.calls]
    assert waiting == [], roles


class ScriptedChat:
    """A provider.

    answers: in turn, the last one repeated: texts, Replies, errors to raise, or functions of the request.
    """

    name = "scripted"

    def __init__(self, *answers: Answer, is_native: bool = True, parts: int = 0, waits: str = "") -> None:
        """parts: characters of each streamed part; 0: no streaming. waits: told before each answer."""
        self.answers: Sequence[Answer] = answers
        self.is_native = is_native
        self.parts, self.waits = parts, waits
        self.requests: list[ChatRequest] = []

    def supports_native_tools(self) -> bool:
        """See ChatProvider."""
        return self.is_native

    def check(self) -> None:
        """See ChatProvider."""

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider."""
        check_request(request)
        answer = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.requests.append(request)
        if self.waits and on_wait is not None:
            on_wait(self.waits)
        if isinstance(answer, BaseException):
            raise answer
        found = answer if isinstance(answer, str | Reply) else answer(request)
        reply = Reply(found) if isinstance(found, str) else found
        for at in range(0, len(reply.text) if self.parts and on_text else 0, self.parts or 1):
            assert on_text is not None
            on_text(reply.text[at : at + self.parts])
        return reply
