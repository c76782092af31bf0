"""The verbs about memlayer's health: daemon, doctor."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from itertools import chain

import click

from memlayer.cli.doctor import bare, checks, checks_daemon
from memlayer.cli.doctor.checks import Check, print_checks
from memlayer.cli.terminal.invocation import (
    client,
    home,
    json_option,
    project_dir,
    project_option,
    restart_daemon,
    start_daemon,
)
from memlayer.cli.terminal.output import line, print_json, say
from memlayer.errors import MemlayerError


def show_status(status: Mapping[str, object] | None, as_json: bool) -> None:
    """Print the status that a daemon reports; None: no daemon runs."""
    if as_json:
        print_json({"running": status is not None, **(status or {})})
    elif status is None:
        say("No daemon is running. The next hook or verb starts one.")
    else:
        say(("The daemon runs", "green"), f": {bare.daemon_line(status)}")
        if status.get("rebuilding"):
            say(("In the background", "yellow"), f": {line(status['rebuilding'])} chunks")
        if status.get("mode") == "lexical":
            say(("Full-text search only", "yellow"), f": {line(status.get('why'))}")


@click.group("daemon")
def daemon_verb() -> None:
    """Start, stop or show the background process that owns the store.

    Hooks start it, and it exits by itself when idle.

    \b
    Examples:
      memlayer daemon status
      memlayer daemon restart
    """


@daemon_verb.command("start")
@json_option
def start(as_json: bool) -> None:
    """Start the daemon unless it runs."""
    show_status(start_daemon().fields(), as_json)


@daemon_verb.command("stop")
@json_option
def stop(as_json: bool) -> None:
    """Let the daemon finish its work and exit; wait for that."""
    was_there = client().stop()
    if as_json:
        print_json({"running": False, "stopped": was_there})
    else:
        say("The daemon has stopped." if was_there else "No daemon was running.")


@daemon_verb.command("restart")
@json_option
def restart(as_json: bool) -> None:
    """Stop the daemon and start it again, with the current settings."""
    show_status(restart_daemon().fields(), as_json)


@daemon_verb.command("status")
@json_option
def status(as_json: bool) -> None:
    """Say whether the daemon runs. Does not start it."""
    show_status(client().status(), as_json)


@click.command("doctor")
@project_option
@json_option
def doctor_verb(project: str | None, as_json: bool) -> None:
    """Check everything. Exit code 1 when data is lost or at risk.

    Starts the daemon if none runs, to test the start. `warn` marks a part that works less well than it could. Without
    a runtime only some checks are possible. Doctor builds none.

    \b
    Examples:
      memlayer doctor
      memlayer doctor --json
    """
    sys.exit(print_checks(every_check(project_dir(project)), as_json))


def every_check(folder: str) -> Iterator[Check]:
    """Yield the checks, with those that need a daemon."""
    of_runtime = chain(
        checks.settings(lambda root: checks_daemon.held_settings(client(), root, os.environ), folder),
        checks_daemon.daemon(client()),
    )
    return bare.all_checks(home(), folder, of_runtime, lambda: checks_daemon.hooks_worked(client()), is_loaded)


def is_loaded(python: str) -> bool:
    """True if a daemon has loaded this python's packages: no trial."""
    try:
        status = client().status() or {}
    except MemlayerError:
        return False
    provider = (status.get("model") or {}).get("provider")
    has_model = provider == "none" or (provider == "fastembed" and status.get("mode") != "lexical")
    return has_model and status.get("store") == "open" and status.get("python") == python
