"""The one error edge: one line on stderr and exit code 1; what nobody expected leaves a report."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
import traceback
from types import TracebackType

from memlayer import __version__
from memlayer.core.privacy import plain
from memlayer.errors import MemlayerError
from memlayer.wire import paths

MAX_LINE_CHARS = 500


def run() -> None:
    """Run the command line; ends the process with 0, 1 (an error) or 2 (a wrong option)."""
    sys.excepthook = report_unexpected
    set_streams()
    from memlayer.cli.app import cli

    try:
        cli(prog_name="memlayer")
    except MemlayerError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.strerror or error}: {error.filename}" if error.filename else str(error))


def set_streams() -> None:
    """No text may be unprintable: for programs it is UTF-8 whatever the locale, a terminal replaces."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def fail(message: str) -> None:
    """One line on stderr, exit code 1."""
    line = " ".join(plain(message).split())
    print(f"memlayer: {line[:MAX_LINE_CHARS]}", file=sys.stderr)
    sys.exit(1)


def report_unexpected(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """As sys.excepthook: one line, and a report to paste that holds neither texts nor the environment."""
    if issubclass(kind, KeyboardInterrupt):
        print("memlayer: stopped", file=sys.stderr)
        return
    line = " ".join(plain(f"{kind.__name__}: {error}").split())[:MAX_LINE_CHARS]
    home = paths.home_of()
    path = os.path.join(paths.logs(home), time.strftime("cli-%Y%m%d-%H%M%S.txt"))
    try:
        paths.make_folder(home)
        paths.write_whole(path, report(kind, where).encode())
    except OSError as refused:
        path = f"none could be written: {refused.strerror}"
    with contextlib.suppress(OSError):
        print(f"memlayer: unexpected {line} (report: {path})", file=sys.stderr)


def report(kind: type[BaseException], where: TracebackType | None) -> str:
    """Versions, and the frames of the exception without its message, which may hold text of a memory."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    frames = "".join(traceback.format_list(traceback.extract_tb(where)))
    return (
        f"memlayer {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"verb: {verb if verb.isalpha() and len(verb) < 20 else '?'}\n{kind.__name__}\n{frames}"
    )
