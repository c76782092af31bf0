"""Makes the standard streams usable: one that the caller has closed is the null device."""

from __future__ import annotations

import os
import sys


def open_closed() -> None:
    """Open what is closed of stdin, stdout and stderr; what this process becomes later finds them open, too.

    Otherwise the next file or socket that is opened gets the number of one of them, and what is printed goes there.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", errors="replace", closefd=False))


def drop(number: int) -> None:
    """Let go of what could not be written to a stream: Python would try again at its end, and say so in its own way."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
