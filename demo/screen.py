"""Panels and tables, on a terminal and in a pipe alike."""

import io
import sys

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

MAX_WIDTH = 110
PIPE_WIDTH = 100


class Screen:
    """Prints the story's parts. Stored text is never taken for markup."""

    def __init__(self) -> None:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a locale without Hangul must not end the demo
        width = min(MAX_WIDTH, Console().width) if sys.stdout.isatty() else PIPE_WIDTH
        self._console = Console(width=width, highlight=False, markup=False, emoji=False)

    def chapter(self, title: str) -> None:
        self._console.print()
        self._console.print(Rule(Text(title, "bold"), align="left", style="cyan"))

    def say(self, text: str, style: str = "") -> None:
        self._console.print(Text(text, style))

    def told(self, turns: list[tuple[str, str]]) -> None:
        """The turns of a session in which memlayer only listens."""
        table = Table(box=box.SIMPLE_HEAD, expand=True, pad_edge=False, show_lines=False)
        table.add_column("said by the person", ratio=1, style="bold", overflow="fold")
        table.add_column("answered by Claude", ratio=1, overflow="fold")
        for prompt, answer in turns:
            table.add_row(Text(prompt), Text(answer))
        self._console.print(table)

    def begun(self, block: str, wrong: str) -> None:
        """Show the text that a session starts with."""
        self._given(Text("the session starts; memlayer gives it:", "bold"), block, wrong)

    def asked(self, prompt: str, why: str, block: str, wrong: str) -> None:
        """Show a prompt and its added block."""
        head = Text.assemble(("> " + prompt, "bold"), ("   (%s)" % why if why else "", "dim"))
        self._given(head, block, wrong)

    def printed(self, command: str, output: str) -> None:
        """Show a command and its output."""
        title = Text("$ " + command, "bold")
        self._console.print(Panel(Text(output), title=title, title_align="left", box=box.ROUNDED))

    def _given(self, head: Text, block: str, wrong: str) -> None:
        parts: list[RenderableType] = [head]
        if block:
            parts.append(Panel(Text(block), box=box.ROUNDED, border_style="red" if wrong else "green"))
        else:
            parts.append(Text("  nothing is added", "dim"))
        if wrong:
            parts.append(Text("  WRONG: " + wrong, "bold red"))
        self._console.print(Padding(Group(*parts), (1, 0, 0, 0)))
