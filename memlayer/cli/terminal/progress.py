"""Shows how far the daemon is with a long piece of work: a bar on a terminal's stderr, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memlayer.cli.terminal.output import size
from memlayer.text.context_block import flatten

IN_BYTES = ("import",)  # phases that count bytes


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields what Client.call takes as on_progress; it is given {"phase", "done", "total"}."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("memlayer", total=None, amount="")

        def show(frame: dict[str, Any]) -> None:
            done, total = _number(frame.get("done")), _number(frame.get("total"))
            phase = flatten(str(frame.get("phase") or "memlayer"))
            if phase != bar.tasks[0].description:
                bar.reset(task)  # another piece of work has a rate of its own
            rate = bar.tasks[0].speed or 0.0
            shown = size if phase in IN_BYTES else _plain
            per_second = f", {shown(rate)}/s" if rate >= 1 else ""
            bar.update(
                task, description=phase, completed=done, total=total or None,
                amount=f"{shown(done)}/{shown(total)}{per_second}",
            )  # fmt: skip

        yield show


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _plain(value: float) -> str:
    return f"{value:.0f}"
