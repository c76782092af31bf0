"""Events of a talk: on a terminal, in a pipe, as JSON."""

import sys
from typing import TYPE_CHECKING, Any, Protocol

from memlayer.agent.context.history import Compacted, CompactionStopped, ContextFilling
from memlayer.agent.execution import ToolEnded, ToolOutput, ToolStarted
from memlayer.agent.loop import Event, ModelAnswered, TextPart, WaitNotice
from memlayer.cli.terminal.line_editor import PROMPT
from memlayer.cli.terminal.output import console_of, line, print_json_line, say
from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import entry_lines

if TYPE_CHECKING:
    from memlayer.cli.terminal.markdown import MarkdownStream

import json
from collections import deque

from memlayer.chat import ToolCall
from memlayer.edge.counting import counted
from memlayer.text.context_block import cut

ROW_CHARS = 200  # of a line of a call or its result
CALL_ROWS = 6
RESULT_ROWS = 4
LIVE_ROWS = 200  # of a command's output. Then the last ones, when it ends
LAST_ROWS = 10

# Of a talk that goes on.
LAST_PROMPT_ROWS = 6
LAST_ANSWER_ROWS = 30


class ToolRows:
    """The calls of a talk, one after the other."""

    def __init__(self) -> None:
        self._live = LiveRows()

    def show(self, event: ToolStarted | ToolOutput | ToolEnded) -> None:
        """Show an event of a call."""
        if isinstance(event, ToolStarted):
            first, *more = rows_of(about_call(event.call), CALL_ROWS)
            say(("· %s %s" % (event.call.name, first), "cyan"), to_stderr=True)
            show_rows(more, "cyan")
        elif isinstance(event, ToolOutput):
            self._live.feed(event.text)
        else:
            self._ended(event)

    def _ended(self, event: ToolEnded) -> None:
        """Show a call's end; its output unless it was shown live."""
        was_shown, self._live = self._live.end(), LiveRows()
        state = ("failed", "yellow") if event.result.is_error else ("done", "dim")
        first, *more = rows_of(event.result.text, RESULT_ROWS)
        if was_shown:  # of a failure the first line is the exit code
            first, more = first if event.result.is_error else "", []
        say(state, (" %.1f s  %s" % (event.seconds, first), "dim"), indent=2, to_stderr=True)
        show_rows(more)


class LiveRows:
    """Whole lines of a running command's output, on stderr."""

    def __init__(self) -> None:
        self._rest, self._shown, self._hidden = "", 0, 0
        self._last: deque[str] = deque(maxlen=LAST_ROWS)

    def feed(self, text: str) -> None:
        """Show the lines that are complete."""
        *rows, self._rest = (self._rest + text).split("\n")
        self._rest = self._rest[-ROW_CHARS * 10 :]  # a line without an end must not fill the memory
        for row in rows:
            self._show(row)

    def end(self) -> bool:
        """Show the rest; return whether there was any output."""
        if self._rest:
            self._show(self._rest)
        if self._hidden > len(self._last):
            show_rows(["[... %s not shown ...]" % counted(self._hidden - len(self._last), "line")])
        show_rows([*self._last])
        return self._shown > 0

    def _show(self, row: str) -> None:
        row = cut(plain(row.rstrip("\r").rpartition("\r")[2]), ROW_CHARS)  # of a line drawn anew, the last state
        if self._shown < LIVE_ROWS:
            self._shown += 1
            show_rows([row])
        else:
            self._hidden += 1
            self._last.append(row)


def about_call(call: ToolCall) -> str:
    """Return a call's arguments for a person, a single one bare."""
    values = list(call.arguments.values())
    if len(values) == 1 and isinstance(values[0], str):
        return values[0]
    path = call.arguments.get("path")
    return path if isinstance(path, str) else json.dumps(dict(call.arguments), ensure_ascii=False, default=str)


def rows_of(text: str, max_rows: int) -> list[str]:
    """Return a text's first lines, harmless and cut; one at least."""
    rows = plain(text).strip("\n").split("\n")
    left = len(rows) - max_rows
    kept = [cut(row, ROW_CHARS) for row in rows[:max_rows]]
    return [*kept, "[... %d more lines]" % left] if left > 1 else [cut(row, ROW_CHARS) for row in rows]


def show_rows(rows: list[str], style: str = "dim", *, indent: int = 4) -> None:
    """Show lines below a first one."""
    for row in rows:
        say((row, style), indent=indent, to_stderr=True)


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
                self.notice("the answer was cut: it is longer than one may be")
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
