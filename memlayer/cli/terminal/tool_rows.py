"""Tool calls of a talk on stderr: arguments, live output, result."""

from __future__ import annotations

import json
from collections import deque

from memlayer.agent.execution import ToolEnded, ToolOutput, ToolStarted
from memlayer.chat import ToolCall
from memlayer.cli.terminal.output import say
from memlayer.edge.counting import counted
from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import cut

ROW_CHARS = 200  # of a line of a call or its result
CALL_ROWS = 6
RESULT_ROWS = 4
LIVE_ROWS = 200  # of a command's output. Then the last ones, when it ends
LAST_ROWS = 10


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
