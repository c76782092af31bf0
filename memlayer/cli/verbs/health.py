"""`daemon` and `doctor`: how memlayer itself does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import click

from memlayer.cli.doctor import bare, checks_daemon, checks_files, checks_host
from memlayer.cli.doctor.checks import OK, Check, tell
from memlayer.cli.terminal.invocation import client, home, json_option, project_dir, project_option
from memlayer.cli.terminal.output import print_json, say
from memlayer.edge.bootstrap.spawn import plugin_root
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


@click.command("doctor")
@project_option
@json_option
def doctor_verb(project: str | None, as_json: bool) -> None:
    """Check everything. Exit code 1 when something is lost or at risk.

    Starts the daemon if none runs, to see whether it can. `warn` is what works less well than it could. Without a
    runtime it checks what it can, and makes none.

    \b
    Examples:
      memlayer doctor
      memlayer doctor --json
    """
    sys.exit(tell(all_checks(project_dir(project)), as_json))


def all_checks(folder: str) -> Iterator[Check]:
    """Every check, in an order in which causes stand before what follows from them."""
    at_home, root = home(), plugin_root()
    yield checks_host.runtime_state(at_home, root)
    yield checks_host.manifest(root)
    yield checks_host.interpreter(at_home)
    yield checks_files.permissions(at_home)
    yield checks_files.disk(at_home)
    yield from checks_files.settings(at_home, folder, os.environ)
    seen = []
    for check in checks_daemon.daemon(client()):
        seen.append(check)
        yield check
    is_well = all(check.state == OK for check in seen if check.name in ("daemon", "store", "model"))
    yield checks_files.spool_age(at_home)
    yield checks_files.quarantine(at_home)
    yield from checks_files.logs(at_home, checks_daemon.hooks_worked(client()), is_well=is_well)
    yield checks_files.project_state(folder, os.environ)
    yield checks_host.auto_memory(os.environ)
