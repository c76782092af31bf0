"""Events of a talk: on a terminal, in a pipe, as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Protocol

from memlayer.agent.context.compaction import Compacted, CompactionStopped, ContextFilling
from memlayer.agent.execution import ToolEnded, ToolOutput, ToolStarted
from memlayer.agent.loop import Event, ModelAnswered, TextPart, WaitNotice
from memlayer.cli.terminal.line_editor import PROMPT
from memlayer.cli.terminal.output import console_of, line, print_json_line, say
from memlayer.cli.terminal.tool_rows import ToolRows, rows_of, show_rows
from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import entry_lines

if TYPE_CHECKING:
    from memlayer.cli.terminal.markdown import MarkdownStream

# Of a talk that goes on.
LAST_PROMPT_ROWS = 6
LAST_ANSWER_ROWS = 30


class TalkOutput(Protocol):
    """The place where a talk is shown."""

    def show(self, event: Event) -> None:
        """Show an event of a turn."""

    def began(self, facts: dict[str, Any]) -> None:
        """Tell of the talk's start: session_id, provider, model, resumed."""

    def resumed(self, prompt: str, answer: str) -> None:
        """Show the last exchange of a talk that goes on."""

    def recalled(self, notes: str) -> None:
        """Show the notes that a prompt was given, "" for none."""

    def answered(self, answer: str) -> None:
        """Show the end of a turn."""

    def failed(self, message: str) -> None:
        """Show why a turn ended without an answer."""

    def notice(self, message: str) -> None:
        """Show a line for the person."""

    def settle(self) -> None:
        """Show what is left of an answer that ended in any way."""


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
            result = event.result
            facts = {"id": result.call_id, "name": result.name, "text": result.text, "is_error": result.is_error}
            self._put("tool_result", **facts, seconds=round(event.seconds, 3))
        elif isinstance(event, ModelAnswered):
            use = {"input_tokens": event.use.input_tokens, "output_tokens": event.use.output_tokens}
            self._put("usage", model=event.model, **use, cost_usd=event.use.cost_usd, is_cached=event.is_cached)
        elif isinstance(event, Compacted):
            tokens = {"tokens_before": event.tokens_before, "tokens_after": event.tokens_after}
            messages = {"messages_before": event.messages_before, "messages_after": event.messages_after}
            self._put("compaction", method=event.method.value, **messages, **tokens)
        else:
            self._put("notice", message=event.message if isinstance(event, WaitNotice) else about_context(event))

    def began(self, facts: dict[str, Any]) -> None:
        """See TalkOutput."""
        self._put("start", **facts)

    def resumed(self, prompt: str, answer: str) -> None:
        """See TalkOutput."""
        self._put("last_exchange", prompt=prompt, answer=answer)

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

    def settle(self) -> None:
        """See TalkOutput. Nothing is held back."""

    def _put(self, kind: str, **fields: Any) -> None:
        print_json_line({"event": kind, **fields})


class TextOutput:
    """Markdown on a terminal; in a pipe the answer alone, else stderr."""

    def __init__(self) -> None:
        self._streams = sys.stdout.isatty()
        self._drawing: MarkdownStream | None = None
        self._tools = ToolRows()

    def show(self, event: Event) -> None:
        """See TalkOutput."""
        if isinstance(event, TextPart):
            if self._streams:
                self._draw(event.text)
            return
        self.settle()
        if isinstance(event, ModelAnswered):
            if event.is_cut:
                self.notice("the answer was cut at agent.max_tokens")
        elif isinstance(event, ToolStarted | ToolOutput | ToolEnded):
            self._tools.show(event)
        elif isinstance(event, Compacted):
            self.notice(about_compaction(event))
        else:
            self.notice(event.message if isinstance(event, WaitNotice) else about_context(event))

    def began(self, facts: dict[str, Any]) -> None:
        """See TalkOutput."""
        if self._streams:
            resumed = "goes on" if facts["resumed"] else "begins"
            text = "%s, %s. Talk %s %s; /help, Ctrl-D leaves" % (
                facts["provider"], facts["model"], facts["session_id"].rpartition("-")[2], resumed,
            )  # fmt: skip
            say((text, "dim"), to_stderr=True)

    def resumed(self, prompt: str, answer: str) -> None:
        """See TalkOutput. Long texts are cut, the answer at its beginning."""
        if not self._streams:
            return
        first, *more = rows_of(prompt.strip(), LAST_PROMPT_ROWS)
        say((PROMPT + first, "dim"), to_stderr=True)
        show_rows(more, indent=len(PROMPT))
        rows = answer.strip().split("\n")
        left_out = len(rows) - LAST_ANSWER_ROWS
        if left_out > 1:
            say(("[... %d lines before]" % left_out, "dim"), to_stderr=True)
            rows = rows[left_out:]
        self._draw("\n".join(rows))
        self.settle()

    def recalled(self, notes: str) -> None:
        """See TalkOutput."""
        count = len(entry_lines(notes))
        if count and self._streams:
            say(("· %d remembered; /memory shows" % count, "dim"), to_stderr=True)

    def answered(self, answer: str) -> None:
        """See TalkOutput."""
        self.settle()
        if not self._streams:
            print(plain(answer), flush=True)

    def failed(self, message: str) -> None:
        """See TalkOutput."""
        self.settle()
        say(("memlayer: " + line(message), "red"), to_stderr=True)

    def notice(self, message: str) -> None:
        """See TalkOutput."""
        self.settle()
        say(("· " + line(message), "dim"), to_stderr=True)

    def settle(self) -> None:
        """See TalkOutput."""
        if self._drawing:
            self._drawing.end()
        self._drawing = None

    def _draw(self, text: str) -> None:
        if self._drawing is None:
            from memlayer.cli.terminal.markdown import MarkdownStream  # only a terminal needs it

            self._drawing = MarkdownStream(console_of(sys.stdout))
        self._drawing.feed(plain(text.replace("\t", "    ")))


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
