"""What every verb needs: where the home is, the daemon's client, and the project a path stands for."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from memlayer.edge.bootstrap.spawn import plugin_root
from memlayer.edge.home import paths, registry
from memlayer.edge.home import project as places
from memlayer.edge.ipc.client import Client
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.text.context_block import ids_in

Verb = TypeVar("Verb", bound=Callable[..., Any])

ASK_S = 60.0  # a question: a daemon that has just started may first have to open a large store
LONG_S = 24 * 3600.0  # work with progress, ended by Ctrl-C

STREAM = "-"  # standard input, or standard output
WHICH_MEMORY = "Which memory? Give a citation such as a7Bc3x"


class Incomplete(click.UsageError):
    """Something is missing or too much; the message says what to give. Exit code 2."""


def complete_folder(_: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Have the shell complete a folder."""
    return [CompletionItem(typed, type="dir")]


def complete_file(_: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """Have the shell complete a file."""
    return [CompletionItem(typed, type="file")]


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
project_option = click.option(
    "--project",
    metavar="PATH",
    shell_complete=complete_folder,
    help="The project of this folder; default: of the folder you are in.",
)
global_option = click.option("--global", "is_global", is_flag=True, help="What holds in every project, and only that.")
all_projects_option = click.option("--all-projects", is_flag=True, help="Every project.")


def not_empty(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """For an option that narrows what is done: empty is a variable that its caller has not set, and must not come to
    mean everything. Raises Incomplete."""
    if value is not None and not value.strip():
        raise Incomplete(f"{option.opts[0]} is empty. Give a value, or leave the option out")
    return value


def home() -> str:
    """The memlayer home."""
    return paths.home_of()


def client(*, wait_s: float = 15.0) -> Client:
    """A client that starts the daemon with this very Python: it is the runtime's."""
    return Client(home(), plugin_root(), sys.executable, wait_s=wait_s)


def project_dir(project: str | None, all_projects: bool = False, is_global: bool = False) -> str:
    """The folder to ask for: absolute; "" for every project, and for what holds in every one. Raises UserError for a
    folder that never was."""
    if is_global:
        if project or all_projects:
            raise Incomplete("--global goes without --project and --all-projects")
        return ""
    if all_projects:
        if project:
            raise Incomplete("Give --project or --all-projects, not both")
        return ""
    # An empty PATH is a variable that its caller has not set; it must not come to mean every project.
    if project:
        folder = os.path.abspath(os.path.expanduser(project))
        if not os.path.isdir(folder) and not was_project(folder):
            raise UserError(f"There is no folder {folder}")
        return folder
    try:
        return os.getcwd()
    except FileNotFoundError as gone:
        raise UserError("The folder you are in is gone. Give --project or --all-projects") from gone


def was_project(folder: str) -> bool:
    """True for a folder that is gone, but whose project is known."""
    return bool(registry.find(registry.load(home()), ["path:" + places.real(folder)]))


def from_stream(given: Sequence[str], from_stdin: bool) -> bool:
    """True if a text comes from stdin: by --stdin or by `-`. Raises Incomplete when words are given as well."""
    is_dash = list(given) == [STREAM]
    if from_stdin and given and not is_dash:
        raise Incomplete("Give it as arguments or on standard input, not both")
    return from_stdin or is_dash


def words(given: Sequence[str], from_stdin: bool, missing: str) -> str:
    """A text: the arguments, or stdin. Raises Incomplete with the message `missing` when it is empty."""
    is_stream = from_stream(given, from_stdin)
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if is_stream else " ".join(given)
    text = plain(text).strip()
    if not text:
        raise Incomplete(missing)
    return text


def memory_ids(given: Sequence[str], from_stdin: bool = False) -> list[str]:
    """The ids in the arguments, or on stdin, however they are cited. Raises Incomplete when there is none."""
    text = words(given, from_stdin, WHICH_MEMORY)
    texts = [text] if from_stream(given, from_stdin) else [plain(one) for one in given]
    ids = [one for text in texts for one in ids_in(text)]
    if not ids:
        raise Incomplete(WHICH_MEMORY)
    return list(dict.fromkeys(ids))


def memory_id(given: Sequence[str], from_stdin: bool = False) -> str:
    """The one id that is given. Raises Incomplete for none and for several."""
    ids = memory_ids(given, from_stdin)
    if len(ids) > 1:
        raise Incomplete(f"One memory at a time. Give one of {', '.join(ids[:5])}")
    return ids[0]


def moment_ms(text: str) -> int:
    """A date (2026-11-19, from its start) or an age (12h, 30d, 8w) as Unix time in ms. Raises Incomplete."""
    hours = {"h": 1, "d": 24, "w": 168}.get(text[-1:])
    if hours and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 8:
        return int((time.time() - int(text[:-1]) * hours * 3600) * 1000)
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%d")) * 1000)
    except (ValueError, OverflowError) as bad:
        raise Incomplete(f"{text!r} is no date. Give 2026-11-19, or an age such as 12h, 30d or 8w") from bad


def end_ms(text: str) -> int:
    """Like moment_ms, but of a date its end. Raises Incomplete."""
    at_ms = moment_ms(text)
    if text[-1:] in "hdw":
        return at_ms
    day = time.localtime(at_ms / 1000)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday + 1, 0, 0, 0, 0, 0, -1)) * 1000)
