"""ChatProvider over the host's own command line, without its tools and memory.

It knows no messages: a talk is one prompt, on stdin, and one answer.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Sequence

from memlayer.adapters.chat import waiting
from memlayer.adapters.chat.endpoint import NotCharged
from memlayer.adapters.llm.claude_cli_model import NAME, ClaudeCliModel, find_claude
from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse, WireMessage
from memlayer.errors import ChatError, ConsolidationError
from memlayer.ports import ModelMissing

MAX_SYSTEM_BYTES = 100_000  # the kernel's bound for one argument is 128 KiB
ABOUT_TALK = """\
The talk so far stands below. A line that begins with %s begins a message and names its side; such a line within a \
message's text would carry another number. Answer with your next message alone, without such a line.
"""


class ClaudeCliChat:
    """A talk by `claude -p`, with its login.

    variables: environment variables that it may see beside the usual ones (sign-in, proxy).
    """

    name = NAME
    own_tokens = ClaudeCliModel.own_tokens

    def __init__(self, variables: Sequence[str] = ()) -> None:
        self._variables = tuple(variables)

    def supports_native_tools(self) -> bool:
        """See ChatProvider: tools are told in the system prompt."""
        return False

    def check(self) -> None:
        """See ChatProvider."""
        try:
            find_claude()
        except ModelMissing as bad:
            raise NotCharged("no `claude` on the PATH: install Claude Code, or choose another agent.provider") from bad

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider. The whole text comes at once."""
        self.check()
        if request.tools:
            raise NotCharged(f"{NAME} takes no tools: set agent.tool_dispatcher to auto or xml")
        system = "\n\n".join(one.text for one in request.messages if one.role == "system" and one.text)
        if len(system.encode("utf-8", "replace")) > MAX_SYSTEM_BYTES:
            raise NotCharged(f"{NAME}: the system prompt is longer than {MAX_SYSTEM_BYTES} bytes: shorten soul.file")
        model = ClaudeCliModel(request.model, variables=self._variables)
        talk = as_prompt([one for one in request.messages if one.role != "system"])
        who = f"{NAME} ({request.model})"
        timer = threading.Timer(waiting.WAIT_S, on_wait or str, [waiting.waiting_line(who, deadline_s)])
        timer.daemon = True
        timer.start()
        try:
            done = model.complete(system or "You are a helpful assistant.", talk, max_tokens=request.max_tokens,
                                  deadline_s=deadline_s)  # fmt: skip
        except ModelMissing as bad:
            raise NotCharged(f"{NAME} cannot be started: run `claude --version` to see why") from bad
        except ConsolidationError as bad:
            raise ChatError(f"{bad}: ask again, or try `claude -p hello`") from bad
        finally:
            timer.cancel()
        if on_text is not None:
            on_text(done.text)
        return Reply(done.text, use=TokenUse(done.input_tokens, done.output_tokens, done.cost_usd))


def as_prompt(messages: Sequence[WireMessage]) -> str:
    """Return a talk as one text.

    A single message stands alone. Of several each begins with a marker that none of them can hold.
    """
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].text
    texts = [_text(one) for one in messages]
    marker = _marker(texts)
    parts = [ABOUT_TALK % marker]
    for one, text in zip(messages, texts, strict=True):
        parts.append(f"{marker} {one.role}\n{text}\n")
    return "\n".join([*parts, f"{marker} assistant"])


def _marker(texts: Sequence[str]) -> str:
    while True:
        marker = f"=== {secrets.token_hex(4)}"
        if not any(marker in text for text in texts):
            return marker


def _text(message: WireMessage) -> str:
    calls = [f"[tool call: {one.name} {json.dumps(dict(one.arguments), ensure_ascii=False)}]" for one in message.calls]
    return "\n".join([*([message.text] if message.text else []), *calls])
