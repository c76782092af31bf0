"""The verbs of the daemon itself: start, stop, restart, status."""

from __future__ import annotations

import contextlib
import os

import click

from memlayer.cli.doctor import bare
from memlayer.cli.terminal.invocation import client, home, json_option
from memlayer.cli.terminal.output import print_json, say
from memlayer.edge.ipc.client import Client

START_S = 15.0


@click.group("daemon")
def daemon_verb() -> None:
    """The background process that owns the store. Hooks start it, and it leaves by itself when idle.

    \b
    Examples:
      memlayer daemon status
      memlayer daemon restart
    """


@daemon_verb.command("start")
@json_option
def start(as_json: bool) -> None:
    """Start it unless it runs."""
    name_variables()
    bare.daemon_status(client().call("status", {}, deadline_s=START_S), as_json)


@daemon_verb.command("stop")
@json_option
def stop(as_json: bool) -> None:
    """Stop it once it has settled; waits until then."""
    was_there = client().stop()
    if as_json:
        print_json({"running": False, "stopped": was_there})
    else:
        say("The daemon has stopped." if was_there else "No daemon was running.")


@daemon_verb.command("restart")
@json_option
def restart(as_json: bool) -> None:
    """Stop it and start it again, with the present settings."""
    daemon: Client = client()
    daemon.stop()
    name_variables()
    bare.daemon_status(daemon.call("status", {}, deadline_s=START_S), as_json)


@daemon_verb.command("status")
@json_option
def status(as_json: bool) -> None:
    """Say whether it runs. Starts nothing."""
    bare.daemon_status(client().status(), as_json)


def name_variables() -> None:
    """Have the daemon inherit the variables that the settings name, such as the key of a language model."""
    from memlayer.config import load_what_holds, write_daemon_variables  # not for verbs that need no settings

    with contextlib.suppress(OSError):  # the daemon goes on without them, and says so
        write_daemon_variables(home(), load_what_holds(home(), os.environ)[0])
