"""The error edge of the command line: messages, exit codes, crash reports.

An error is printed as one line or one JSON document. An unexpected exception also leaves a report in the log folder.
"""

import os
import sys
import time
from types import TracebackType

import click

from memlayer import __version__
from memlayer.cli.terminal.invocation import Incomplete
from memlayer.cli.terminal.output import here
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import plain
from memlayer.edge.terminal import streams
from memlayer.errors import MemlayerError, UserError

MAX_LINE_CHARS = 500
STOPPED = "stopped"


def run() -> None:
    """Run the command line; exit 0, 1 (error), 2 (usage), 130 (Ctrl-C)."""
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
    except click.exceptions.NoArgsIsHelpError as bare:
        bare.show()
        sys.exit(bare.exit_code)
    except click.ClickException as wrong:
        fail(usage_message(wrong), wrong.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail(STOPPED, streams.STOPPED)
    except BrokenPipeError:  # whoever read the answer has seen enough
        streams.drop(1)
        sys.exit(1)
    except OSError as error:
        if gone := streams.folder_gone(error):
            fail(gone)
        streams.drop(1)
        streams.tell_line(f"{error.strerror or error}: {error.filename or 'the output cannot be written'}")
        sys.exit(streams.USER_ERROR)
    sys.exit(code if isinstance(code, int) else 0)


def usage_message(wrong: click.ClickException) -> str:
    """Return one line: the problem, and the verb whose help says more."""
    context = getattr(wrong, "ctx", None)
    if isinstance(wrong, Incomplete) or context is None:
        return wrong.format_message()
    message = wrong.format_message().rstrip(".")
    if isinstance(wrong, click.NoSuchOption) and (verb := meant(wrong.option_name)):
        return f"No such option {wrong.option_name!r} here. Did you mean `memlayer {verb}`?"
    if isinstance(wrong, click.NoSuchCommand) and isinstance(context.command, click.Group):
        message += f". Give one of {', '.join(context.command.list_commands(context))}"
    takes_words = any(isinstance(one, click.Argument) and one.nargs == -1 for one in context.command.params)
    is_dashed = isinstance(wrong, click.NoSuchOption) and takes_words
    behind = f" A text that begins with a dash goes behind --: `{context.command_path} -- ...`" if is_dashed else ""
    return f"{message}{'' if message.endswith('?') else '.'} See `{context.command_path} --help`.{behind}".rstrip(".")


def meant(option: str) -> str:
    """Return the verb of another verb's option, "" for none."""
    from memlayer.cli.app import MEANT

    return MEANT.get(option, "")


def set_streams() -> None:
    """Print UTF-8 to programs, replacement characters on a terminal."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")


def fail(message: str, code: int = streams.USER_ERROR) -> None:
    """Print an error as one line and end the process."""
    streams.tell_error(sys.argv[1:], " ".join(plain(here(message)).split())[:MAX_LINE_CHARS], code)
    sys.exit(code)


def report_unexpected(kind: type[BaseException], error: BaseException, where: TracebackType | None) -> None:
    """Print one line and write a crash report. Installed as sys.excepthook.

    The report can be pasted anywhere: it holds neither texts of memories nor the environment.
    """
    if issubclass(kind, KeyboardInterrupt):
        streams.tell_error(sys.argv[1:], STOPPED, streams.STOPPED)
        return
    line = " ".join(plain(f"{kind.__name__}: {error}").split())[:MAX_LINE_CHARS]
    try:
        home = paths.home_of()
        path = os.path.join(paths.logs(home), time.strftime("cli-%Y%m%d-%H%M%S.txt"))
        paths.make_folder(home)
        paths.write_whole(path, report(kind, where).encode())
    except (OSError, UserError) as refused:
        path = f"none could be written: {getattr(refused, 'strerror', None) or refused}"
    streams.tell_error(sys.argv[1:], f"unexpected {line} (report: {path})", streams.USER_ERROR)


def report(kind: type[BaseException], where: TracebackType | None) -> str:
    """Return versions and stack frames, not the message: it may hold text."""
    import platform
    import traceback

    verb = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    frames = "".join(traceback.format_list(traceback.extract_tb(where)))
    return (
        f"memlayer {__version__}, Python {platform.python_version()}, {platform.platform()}\n"
        f"verb: {verb if verb.isalpha() and len(verb) < 20 else '?'}\n{kind.__name__}\n{frames}"
    )
