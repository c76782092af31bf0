"""Standard streams: open closed ones, report errors as line or JSON."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Sequence

USER_ERROR, USAGE_ERROR, STOPPED = 1, 2, 130  # exit codes. The last as a shell has it for Ctrl-C
_KINDS = {USER_ERROR: "error", USAGE_ERROR: "usage", STOPPED: "stopped"}


def open_closed() -> None:
    """Open closed ones of stdin, stdout and stderr on the null device.

    For the program that this process becomes, too. Otherwise the next file or socket that is opened gets the number of
    one of them, and printed text goes there.
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


def wants_json(arguments: Sequence[str]) -> bool:
    """True if a command line asks for JSON."""
    options = list(arguments)
    return "--json" in (options[: options.index("--")] if "--" in options else options)


def tell_error(arguments: Sequence[str], message: str, code: int) -> int:
    """Report on stderr, or as JSON on stdout; return the code."""
    try:
        if wants_json(arguments):
            import json  # seldom needed

            report = {"error": {"kind": _KINDS.get(code, "error"), "message": message, "exit_code": code}}
            print(json.dumps(report, ensure_ascii=True), flush=True)
            return code
    except OSError:  # nobody reads it, or the disk is full: a line may still reach somebody
        drop(1)
    tell_line(message)
    return code


def folder_gone(error: Exception) -> str:
    """Return the message where the current folder is gone, "" for others."""
    is_gone = isinstance(error, FileNotFoundError) and error.filename is None
    return "The current folder has been deleted. Go to another, or give --project FOLDER" if is_gone else ""


def tell_line(message: str) -> None:
    """Print a line on stderr, if that can be written."""
    try:
        print("memlayer: %s" % message, file=sys.stderr, flush=True)
    except OSError:
        drop(2)


def drop(number: int) -> None:
    """Discard unwritten text, which Python would report at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, number)
    os.close(null)
