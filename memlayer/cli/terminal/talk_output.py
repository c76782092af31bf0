"""Events of a talk: on a terminal, in a pipe, as JSON."""

from __future__ import annotations

import sys
from typing import Any, Protocol

from memlayer.agent.context.compaction import Compacted, CompactionStopped, ContextFilling
from memlayer.agent.execution import ToolEnded, ToolOutput, ToolStarted
from memlayer.agent.loop import Asked, Event, TextPart, Waiting
from memlayer.cli.terminal.output import line, print_json_line, say
from memlayer.cli.terminal.tool_rows import ToolRows
from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import entry_lines


class TalkOutput(Protocol):
    """The place where a talk is shown."""

    def show(self, event: Event) -> None:
        """Show an event of a turn."""

    def began(self, facts: dict[str, Any]) -> None:
        """Tell of the talk's start: session_id, provider, model, resumed."""

    def recalled(self, notes: str) -> None:
        """Show the notes that a prompt was given, "" for none."""

    def answered(self, answer: str) -> None:
        """Show the end of a turn."""

    def failed(self, message: str) -> None:
        """Show why a turn ended without an answer."""

    def notice(self, message: str) -> None:
        """Show a line for the person."""


class JsonLines:
    """One JSON object a line, on stdout."""

    def show(self, event: Event) -> None:
        """See TalkOutput."""
        if isinstance(event, ToolOutput):
            return  # its result holds it
        if isinstance(event, TextPart):
            self._put("text", text=event.text)
        elif isinstance(event, ToolStarted):
            self._put("tool_call", id=event.call.id, name=event.call.name, arguments=dict(event.call.arguments))
        elif isinstance(event, ToolEnded):
            found = event.result
            facts = {"id": found.call_id, "name": found.name, "text": found.text, "is_error": found.is_error}
            self._put("tool_result", **facts, seconds=round(event.seconds, 3))
        elif isinstance(event, Asked):
            use = {"input_tokens": event.use.input_tokens, "output_tokens": event.use.output_tokens}
            self._put("usage", model=event.model, **use, cost_usd=event.use.cost_usd, is_cached=event.is_cached)
        elif isinstance(event, Compacted):
            tokens = {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after}
            messages = {"messages_before": event.messages_before, "messages_after": event.messages_after}
            self._put("compaction", method=event.method.value, **messages, **tokens)
        else:
            self._put("notice", message=event.message if isinstance(event, Waiting) else about_context(event))

    def began(self, facts: dict[str, Any]) -> None:
        """See TalkOutput."""
        self._put("start", **facts)

    def recalled(self, notes: str) -> None:
        """See TalkOutput."""
        self._put("recall", notes=entry_lines(notes))

    def answered(self, answer: str) -> None:
        """See TalkOutput."""
        self._put("answer", text=answer)

    def failed(self, message: str) -> None:
        """See TalkOutput."""
        self._put("error", message=message)

    def notice(self, message: str) -> None:
        """See TalkOutput."""
        self._put("notice", message=message)

    def _put(self, kind: str, **fields: Any) -> None:
        print_json_line({"event": kind, **fields})


class TextOutput:
    """Streamed text on a terminal; in a pipe the answer alone.

    All but the answer goes to stderr.
    """

    def __init__(self) -> None:
        self._streams = sys.stdout.isatty()
        self._is_open = False  # a line without its end
        self._tools = ToolRows()

    def show(self, event: Event) -> None:
        """See TalkOutput."""
        if isinstance(event, TextPart):
            if self._streams:
                print(plain(event.text), end="", flush=True)
                self._is_open = self._is_open if not event.text else not event.text.endswith("\n")
            return
        self._end_line()
        if isinstance(event, Asked):
            if event.is_cut:
                self.notice("the answer was cut at agent.max_tokens")
        elif isinstance(event, ToolStarted | ToolOutput | ToolEnded):
            self._tools.show(event)
        elif isinstance(event, Compacted):
            self.notice(about_compaction(event))
        else:
            self.notice(event.message if isinstance(event, Waiting) else about_context(event))

    def began(self, facts: dict[str, Any]) -> None:
        """See TalkOutput."""
        if self._streams:
            resumed = "goes on" if facts["resumed"] else "begins"
            said = "%s, %s. Talk %s %s; /help, Ctrl-D leaves" % (
                facts["provider"], facts["model"], facts["session_id"].rpartition("-")[2], resumed,
            )  # fmt: skip
            say((said, "dim"), to_stderr=True)

    def recalled(self, notes: str) -> None:
        """See TalkOutput."""
        count = len(entry_lines(notes))
        if count and self._streams:
            say(("· %d remembered; /memory shows" % count, "dim"), to_stderr=True)

    def answered(self, answer: str) -> None:
        """See TalkOutput."""
        self._end_line()
        if not self._streams:
            print(plain(answer), flush=True)

    def failed(self, message: str) -> None:
        """See TalkOutput."""
        self._end_line()
        say(("memlayer: " + line(message), "red"), to_stderr=True)

    def notice(self, message: str) -> None:
        """See TalkOutput."""
        self._end_line()
        say(("· " + line(message), "dim"), to_stderr=True)

    def _end_line(self) -> None:
        if self._is_open:
            print(flush=True)
            self._is_open = False


def about_compaction(event: Compacted) -> str:
    """Return a compaction's figures as one line."""
    return "compacted (%s): messages %d → %d, tokens %s → %s (%s%% reduction)" % (
        event.method.value, event.messages_before, event.messages_after, format(event.tokens_before, ","),
        format(event.tokens_after, ","), event.reduction,
    )  # fmt: skip


def about_context(event: CompactionStopped | ContextFilling) -> str:
    """Return the state of the context as one line."""
    if isinstance(event, ContextFilling):
        return "the context is %d %% full (%s tokens)" % (event.percent, format(event.tokens, ","))
    return "compaction frees too little (%s of %s tokens): begin a new talk, or raise agent.max_context_tokens" % (
        format(event.tokens, ","), format(event.max_tokens, ","),
    )  # fmt: skip
