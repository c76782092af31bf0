"""Shows how far the daemon is with a long piece of work: a bar on a terminal's stderr, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from memlayer.core.context import flatten


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields what Client.call takes as on_progress; it is given {"phase", "done", "total"}."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("memlayer", total=None)

        def show(frame: dict[str, Any]) -> None:
            done, total = frame.get("done"), frame.get("total")
            bar.update(
                task,
                description=flatten(str(frame.get("phase") or "memlayer")),
                completed=done if isinstance(done, int | float) else 0,
                total=total if isinstance(total, int | float) and total else None,
            )

        yield show
