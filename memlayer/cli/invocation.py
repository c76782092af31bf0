"""What every verb needs: where the home is, the daemon's client, and the project a path stands for."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from memlayer.core.privacy import plain
from memlayer.errors import UserError
from memlayer.wire import paths
from memlayer.wire.client import Client
from memlayer.wire.spawn import plugin_root

Verb = TypeVar("Verb", bound=Callable[..., Any])

ASK_S = 60.0  # a question: a daemon that has just started may first have to open a large store
LONG_S = 24 * 3600.0  # work with progress, ended by Ctrl-C

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
project_option = click.option(
    "--project", metavar="PATH", help="The project of this folder; default: of the folder you are in."
)
all_projects_option = click.option("--all-projects", is_flag=True, help="Every project.")


def not_empty(_: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """For an option that narrows what is done: empty is a variable that its caller has not set, and must not come to
    mean everything. Raises UserError."""
    if value is not None and not value.strip():
        raise UserError(f"{option.opts[0]} is empty: give a value, or leave the option out")
    return value


def home() -> str:
    """The memlayer home."""
    return paths.home_of()


def client(*, wait_s: float = 15.0) -> Client:
    """A client that starts the daemon with this very Python: it is the runtime's."""
    return Client(home(), plugin_root(), sys.executable, wait_s=wait_s)


def project_dir(project: str | None, all_projects: bool = False) -> str:
    """The folder to ask for: absolute; "" for every project. Raises UserError."""
    if all_projects:
        if project:
            raise UserError("--project and --all-projects exclude each other")
        return ""
    # An empty PATH is a variable that its caller has not set; it must not come to mean every project.
    if project:
        return os.path.abspath(os.path.expanduser(project))
    try:
        return os.getcwd()
    except FileNotFoundError as gone:
        raise UserError("the folder you are in does not exist any more: give --project or --all-projects") from gone


def words(given: tuple[str, ...], from_stdin: bool, what: str) -> str:
    """The text of a query or prompt: the arguments, or stdin. Raises UserError when it is empty."""
    if from_stdin and given:
        raise UserError(f"give the {what} as arguments or on stdin, not both")
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if from_stdin else " ".join(given)
    text = plain(text).strip()
    if not text:
        raise UserError(f"the {what} {'are' if what.endswith('s') else 'is'} empty: give some words")
    return text


def moment_ms(text: str) -> int:
    """A date (2026-11-19, from its start) or an age (12h, 30d, 8w) as Unix time in ms. Raises UserError."""
    hours = {"h": 1, "d": 24, "w": 168}.get(text[-1:])
    if hours and text[:-1].isascii() and text[:-1].isdigit() and len(text) < 8:
        return int((time.time() - int(text[:-1]) * hours * 3600) * 1000)
    try:
        return int(time.mktime(time.strptime(text, "%Y-%m-%d")) * 1000)
    except (ValueError, OverflowError) as bad:
        raise UserError(f"{text!r} is no date: give 2026-11-19, or an age such as 12h, 30d or 8w") from bad
