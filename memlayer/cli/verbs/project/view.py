"""The verb view: the memory in a browser."""

import os
import sys
import threading
import webbrowser
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from memlayer.cli.doctor.checks import Check
from memlayer.cli.terminal.invocation import (
    Incomplete,
    complete_file,
    end_with_json,
    home,
    json_option,
    project_dir,
    project_option,
    restart_daemon,
)
from memlayer.cli.terminal.output import for_terminal, print_json, say
from memlayer.cli.terminal.typist import BY_PERSON
from memlayer.cli.verbs.health import every_check
from memlayer.cli.verbs.project.tasks import taken_in
from memlayer.edge.counting import size
from memlayer.edge.home import agents
from memlayer.errors import UserError

if TYPE_CHECKING:
    from memlayer.view.source import Source

MINUTE_S = 60.0


@click.command("view")
@click.option("--port", type=click.IntRange(1, 65535), help="Default: 37777, or the next free one.")
@click.option("--no-open", is_flag=True, help="Print the address alone; open no browser.")
@click.option("--read-only", is_flag=True, help="Nothing can be changed.")
@click.option("--export", "file", metavar="FILE.html", shell_complete=complete_file,
              help="Write the project into one file that holds your notes, and open nothing.")  # fmt: skip
@project_option
@json_option
def view_verb(
    port: int | None, no_open: bool, read_only: bool, file: str | None, project: str | None, as_json: bool
) -> None:
    """Open the memory in a browser: see, search, correct and forget.

    It listens on 127.0.0.1 alone. The address holds a key: the first visit exchanges it for a cookie, so give it to
    nobody. Ctrl-C ends it, or 30 minutes without use. docs/view.md describes pages and API.

    \b
    Examples:
      memlayer view
      memlayer view --read-only --no-open
      memlayer view --export notes.html
      MEMORY_VIEWER_TOKEN=a-long-word-of-yours memlayer view --port 4000
    """
    from memlayer.view.server import IDLE_S, serve
    from memlayer.view.source import LentVerbs, Source

    def opened(address: str, entry: str, number: int) -> None:
        if as_json:
            print_json({"address": address, "port": number, "pid": os.getpid(), "is_read_only": read_only})
        else:
            say("Memory at ", (address, "cyan"))
            say((f"Ctrl-C ends it, or {IDLE_S / MINUTE_S:.0f} minutes without use.", "dim"))
        sys.stdout.flush()
        if not (no_open or as_json):
            _browse(entry)

    folder = project_dir(project)
    if not os.path.isdir(folder):
        raise Incomplete(f"There is no folder {folder}")
    source = Source(home(), LentVerbs(_checks, restart_daemon, taken_in), folder)
    if file:
        _export(source, file, as_json)
    elif click.get_current_context().obj is BY_PERSON:
        _open_behind(source)
    else:
        serve(source, port=port or 0, is_read_only=read_only, opened=opened)


def _checks(folder: str) -> Iterator[Check]:
    """Yield the checks, with cures that a person can type."""
    return (check._replace(remedy=for_terminal(check.remedy)) for check in every_check(folder))


def _open_behind(source: "Source") -> None:
    """Open the page in a process that outlives the host's shell."""
    from memlayer.view.server import ENTRY_NAME, IDLE_S, open_page, serve, write_entry

    told, telling = os.pipe()
    if not os.fork():
        try:  # a second copy of this program: nothing may return into it
            os.setsid()
            for fd in (0, 1, 2):
                os.dup2(os.open(os.devnull, os.O_RDWR), fd)
            for name in ("TERM", *agents.IN_SHELLS, *agents.EVERYWHERE):  # no browser of a terminal, and no model
                os.environ.pop(name, None)

            def opened(_: str, entry: str, number: int) -> None:
                os.write(telling, b"%d" % number)
                os.close(telling)
                _browse(entry)

            if page := open_page(source.home):
                opened("", write_entry(source.home, *page), page[0])
            else:
                serve(source, port=0, is_read_only=False, opened=opened)
            for browser in threading.enumerate()[1:]:
                browser.join()
        finally:
            os._exit(0)
    os.close(telling)
    with open(told, encoding="ascii") as answer:
        number = answer.read()
    if not number:
        raise UserError("No page could be opened. `memlayer view --no-open` says why")
    address, file = f"http://127.0.0.1:{number}/", os.path.join(source.home, ENTRY_NAME)
    minutes = IDLE_S / MINUTE_S
    say(f"The page is at {address}; a browser was asked to show it. It ends after {minutes:.0f} minutes without use.")
    say(f"No browser? Open the file {file} in a browser of this machine.")


def _browse(entry: str) -> None:
    """Open a browser; one of a terminal is waited for by nobody."""
    threading.Thread(target=webbrowser.open, args=(entry,), daemon=True).start()


def _export(source: "Source", file: str, as_json: bool) -> None:
    from memlayer.view.html_export import write

    length = write(source, file, source.project(""))
    if as_json:
        end_with_json({"file": os.path.abspath(file), "bytes": length})
    say(f"{os.path.abspath(file)} ({size(length)}) holds your notes: give it to nobody who may not read them.")
