"""Show which step of a setup runs."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO


class Progress:
    """Says on a stream which step runs: one line that is rewritten on a terminal, else one line a step."""

    def __init__(self, stream: TextIO, *, is_quiet: bool = False) -> None:
        self.stream = stream
        self.is_quiet = is_quiet
        self.rewrites = stream.isatty()
        self.step = ""
        self.shown = ""
        self.started_s = time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Show that `step` runs, with `done` of `total` packages fetched when `total` is not 0."""
        if self.is_quiet:
            return
        if self.rewrites:
            count = " %d/%d" % (done, total) if total else ""
            line = "memlayer: %s%s (%d s)" % (step, count, time.monotonic() - self.started_s)
            if line != self.shown:
                self.stream.write("\r\x1b[K" + line)
        elif step != self.step:
            line = "memlayer: %s%s ..." % (step, " (%d)" % total if total else "")
            self.stream.write(line + "\n")
        else:
            return
        self.step, self.shown = step, line
        self.stream.flush()

    def close(self) -> None:
        """Take the rewritten line away."""
        if self.rewrites and self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = ""
