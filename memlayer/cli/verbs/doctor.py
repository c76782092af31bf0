"""The verb that finds out what is wrong: one line a check, and what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from memlayer.cli.doctor import checks_daemon, checks_files, checks_host
from memlayer.cli.doctor.checks import OK, Check, tell
from memlayer.cli.terminal.invocation import client, home, json_option, project_dir, project_option
from memlayer.edge.bootstrap.spawn import plugin_root


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
