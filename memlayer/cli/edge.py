"""The one error edge: one line on stderr and exit code 1; what nobody expected leaves a report."""

from __future__ import annotations

import os
import platform
import sys
import time
import traceback
from types import TracebackType

import click

from memlayer import __version__
from memlayer.core.privacy import plain
from memlayer.errors import MemlayerError
from memlayer.wire import paths, streams

MAX_LINE_CHARS = 500
STOPPED = "memlayer: stopped"
STOPPED_CODE = 130  # as a shell has it for Ctrl-C


def run() -> None:
    """Run the command line; ends the process with 0, 1 (an error), 2 (a wrong option) or 130 (stopped)."""
    streams.open_closed()
    sys.excepthook = report_unexpected
    set_streams()
    from memlayer.cli.app import cli

    try:
        try:
            code = cli(prog_name="memlayer", standalone_mode=False)
        finally:
            sys.stdout.flush()  # here, where a full disk can still be told
    except MemlayerError as error:
        fail(str(error))
    except click.ClickException as wrong:
        wrong.show()
        sys.exit(wrong.exit_code)
    except (click.Abort, KeyboardInterrupt):
        tell(STOPPED)
        sys.exit(STOPPED_CODE)
    except BrokenPipeError:  # whoever read the answer has seen enough
        streams.drop(1)
        sys.exit(1)
    except OSError as error:
        streams.drop(1)
        fail(f"{error.strerror or error}: {error.filename or 'what is printed cannot be written'}")
    sys.exit(code if isinstance(code, int) else 0)


def set_streams() -> None:
    """No text may be unprintable: for programs it is UTF-8 whatever the locale, a terminal replaces."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def fail(message: str) -> None:
    """One line on stderr, exit code 1."""
    line = " ".join(plain(message).split())
    tell(f"memlayer: {line[:MAX_LINE_CHARS]}")
    sys.exit(1)


def tell(line: str) -> None:
    """A line on stderr, if that can be written."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        streams.drop(2)


def report_unexpected(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """As sys.excepthook: one line, and a report to paste that holds neither texts nor the environment."""
    if issubclass(kind, KeyboardInterrupt):
        tell(STOPPED)
        return
    line = " ".join(plain(f"{kind.__name__}: {error}").split())[:MAX_LINE_CHARS]
    home = paths.home_of()
    path = os.path.join(paths.logs(home), time.strftime("cli-%Y%m%d-%H%M%S.txt"))
    try:
        paths.make_folder(home)
        paths.write_whole(path, report(kind, where).encode())
    except OSError as refused:
        path = f"none could be written: {refused.strerror}"
    tell(f"memlayer: unexpected {line} (report: {path})")


def report(kind: type[BaseException], where: TracebackType | None) -> str:
    """Versions, and the frames of the exception without its message, which may hold text of a memory."""
    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    frames = "".join(traceback.format_list(traceback.extract_tb(where)))
    return (
        f"memlayer {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"verb: {verb if verb.isalpha() and len(verb) < 20 else '?'}\n{kind.__name__}\n{frames}"
    )
