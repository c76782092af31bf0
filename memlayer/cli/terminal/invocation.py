"""Home, daemon client, common options and parsers, shared by the verbs."""

import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import CompletionItem

from memlayer.cli.terminal.output import print_json, progress, say
from memlayer.cli.terminal.typist import mark_of_model, own_folder
from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.capture import spool
from memlayer.edge.home import agents, paths, registry
from memlayer.edge.home import project as places
from memlayer.edge.ipc.client import Client
from memlayer.edge.redaction import own_patterns
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import MemlayerError, UserError
from memlayer.text.context_block import ids_in, quoted

if TYPE_CHECKING:
    from memlayer.config import Settings
    from memlayer.edge.ipc.client import Answer, Asked
    from memlayer.wire.upkeep import StatusFound

ASK_S = 60.0  # for a query: a daemon that has just started may first have to open a large store
START_S = 15.0
LONG_S = 24 * 3600.0  # for work with progress, ended by Ctrl-C

home = paths.home_of
STREAM = "-"  # standard input, or standard output
OFF = "Memory is switched off here, by the line `enabled` in {}"
NO_MEMORY = "Give a memory's citation, such as a7Bc3x"

# As in `config/providers.py`, which takes longer to import than a verb has.
LANGUAGE_MODELS = click.Choice(("claude-cli", "anthropic", "openai"))

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

yes_option = click.option("--yes", is_flag=True, help="Do not ask. Required without a terminal.")
all_projects_option = click.option("--all-projects", is_flag=True, help="Every project.")


class Incomplete(click.UsageError):
    """A missing or surplus argument; names the right ones. Exit code 2."""


def complete_folder(_: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Tell the shell to complete a folder."""
    return [CompletionItem(typed, type="dir")]


def complete_file(_: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Tell the shell to complete a file."""
    return [CompletionItem(typed, type="file")]


project_option = click.option(
    "--project",
    metavar="PATH",
    shell_complete=complete_folder,
    help="The project of this folder; default: of the folder you are in.",
)


def not_empty(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """Reject an empty value of an option that narrows the selection.

    Raises Incomplete. An empty value is a variable that its caller has not set. It must not come to mean everything.
    """
    if value is not None and not value.strip():
        raise Incomplete(f"{option.opts[0]} is empty. Give a value, or leave the option out")
    return value


def end_with_json(answer: object, code: int = 0) -> NoReturn:
    """Print an answer as JSON and end the verb."""
    print_json(answer)
    click.get_current_context().exit(code)


def ask(arguments: "Asked[Answer]", as_json: bool = False, *, is_long: bool = False, quiet: bool = False) -> "Answer":
    """Return the daemon's answer; with --json print it and end the verb.

    is_long: for work with progress (unless quiet), ended by Ctrl-C; else the daemon has ASK_S. A model is answered
    within the project of its session, whatever it asks.
    """
    own = own_folder()
    arguments = arguments if own is None else arguments.limited_to(own)
    with progress(quiet or as_json or not is_long) as show:
        answer = client().ask(arguments, deadline_s=LONG_S if is_long else ASK_S, on_progress=show)
    _tell_off(getattr(arguments, "project_dir", "."))
    if as_json:
        end_with_json(answer)
    return answer


def _tell_off(folder: str) -> None:
    """Say once that memory is off in a folder."""
    call, off = click.get_current_context(silent=True), ""
    with contextlib.suppress(OSError):  # the current folder was deleted
        off = places.switch_off(folder) if folder else ""
    if off and call and not call.meta.get(OFF):
        call.meta[OFF] = True
        say((OFF.format(off), "yellow"), ": no session here is kept, or told anything by itself.", to_stderr=True)


def client() -> Client:
    """Return a client that starts the daemon with this, the runtime's, Python."""
    return Client(home(), plugin_root(), sys.executable)


def start_daemon() -> "StatusFound":
    """Start the daemon, with its model's variables; return its status."""
    from memlayer.config import write_daemon_variables  # not for verbs that need no settings
    from memlayer.wire.upkeep import Status

    with contextlib.suppress(OSError):  # the daemon works without them, and reports that
        write_daemon_variables(home(), settings())
    return client().ask(Status(), deadline_s=START_S)


def restart_daemon() -> "StatusFound":
    """Have the daemon read changed settings; return its status."""
    client().stop()
    return start_daemon()


def settings() -> "Settings":
    """Return the settings that hold, without those of a project."""
    from memlayer.config import load_what_holds  # pydantic is slow to import

    return load_what_holds(home(), os.environ)[0]


def put_and_ask(event: dict[str, object], arguments: "Asked[Answer]", done: str) -> "Answer":
    """Put an event on disk, and have it taken in. Raises UserError.

    done: the work, for whoever has no daemon.
    """
    spool.put(home(), event)
    try:
        return ask(arguments)
    except UserError:
        raise
    except MemlayerError as bad:
        raise UserError(f"Kept, and {done} as soon as the daemon is well again: {bad}") from bad


def none_here(told: str) -> str:
    """Return an empty answer's text, with the cause on a fresh machine."""
    yet = " Nothing is kept yet: the next session is, `memlayer import` brings earlier ones."
    return told if registry.load(home()) else told + yet


def refuse_before(verb: str | None, *given: object) -> bool:
    """Return whether a verb follows; Incomplete for options before it."""
    if verb is not None and any(given):
        raise Incomplete(f"Give options behind `{verb}`")
    return verb is not None


def project_dir(project: str | None, all_projects: bool = False) -> str:
    """Return the absolute folder of the project to ask for.

    It is "" for every project. Raises UserError for a folder that does not exist and was never a
    project's, and where a model asks for another project than its session's.
    """
    if all_projects and project:
        raise Incomplete("Give --project or --all-projects, not both")
    own = own_folder()
    if own is not None:
        if all_projects or (project and not agents.is_one_project(home(), own, os.path.expanduser(project))):
            raise UserError(agents.OTHERS % mark_of_model())
        return own
    if all_projects:
        return ""
    # An empty PATH is a variable that its caller has not set. It must not mean every project.
    if project:
        folder = os.path.abspath(os.path.expanduser(project))
        # A deleted folder may be of a known project.
        if not os.path.isdir(folder) and not registry.find(registry.load(home()), ["path:" + places.real(folder)]):
            raise UserError(f"There is no folder {folder}")
        return folder
    return os.getcwd()


def agree(question: str, *, would: str, no: str, as_json: bool = False, show: Callable[[], object] = list) -> None:
    """Ask a person. Raises UserError at a no, and without a terminal.

    would: told where nobody can be asked, with the options that have it done. show: before the question.
    """
    if as_json or not is_terminal():
        raise UserError(would)
    show()
    if not click.confirm(question):
        raise UserError(no)


def is_terminal() -> bool:
    """True if a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def begin_writing(folder: str) -> None:
    """Load the patterns of secrets. Raises UserError, also where memory is off.

    folder: "/" for every project.
    """
    if off := places.switch_off(folder):
        raise UserError(OFF.format(off))
    try:
        own_patterns.use_file(paths.own_patterns(home()))
    except OSError as bad:
        raise UserError(f"Nothing is kept: {bad.filename}: {bad.strerror}. See `memlayer doctor`") from bad
    except ValueError as bad:
        raise UserError(f"Nothing is kept: {bad}") from bad


def words(arguments: Sequence[str], missing: str) -> str:
    """Return the arguments' text, or stdin's for `-`. Raises Incomplete(missing)."""
    is_stream = list(arguments) == [STREAM]
    text = plain(sys.stdin.buffer.read().decode("utf-8", "replace") if is_stream else " ".join(arguments)).strip()
    if not text:
        raise Incomplete("Standard input is empty. " + missing if is_stream else missing)
    return text


def memory_ids(arguments: Sequence[str]) -> list[str]:
    """Return the ids in any form of citation. Raises Incomplete for none."""
    text = words(arguments, NO_MEMORY)
    texts = [text] if list(arguments) == [STREAM] else [plain(argument) for argument in arguments]
    ids = [id_ for text in texts for id_ in ids_in(text)]
    if not ids:
        raise Incomplete(NO_MEMORY)
    return list(dict.fromkeys(ids))


def memory_id(arguments: Sequence[str]) -> str:
    """Return the single id. Raises Incomplete for none and for several."""
    ids = memory_ids(arguments)
    if len(ids) > 1:
        raise Incomplete(f"One memory at a time. Give one of {', '.join(ids[:5])}")
    return ids[0]


def moment_ms(text: str) -> int:
    """Return Unix ms of 2026-11-19, or 12h, 30d, 8w ago. Raises Incomplete."""
    hours = {"h": 1, "d": 24, "w": 168}.get(text[-1:])
    if hours and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 8:
        return int((time.time() - int(text[:-1]) * hours * 3600) * 1000)
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%d")) * 1000)
    except (ValueError, OverflowError) as bad:
        raise Incomplete(f"{quoted(text)} is no date. Give 2026-11-19, or an age such as 12h, 30d or 8w") from bad


def end_ms(text: str) -> int:
    """Return the end of a date, or an age (ms). Raises Incomplete."""
    at_ms = moment_ms(text)
    if text[-1:] in "hdw":
        return at_ms
    day = time.localtime(at_ms / 1000)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + 1, 0, 0, 0, 0, 0, -1)) * 1000)
