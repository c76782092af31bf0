"""The verb that finds out what is wrong: one line a check, and what to do about it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import click

from memlayer.cli import checks_daemon, checks_files, checks_host
from memlayer.cli.checks import FAIL, OK, WARN, Check
from memlayer.cli.invocation import client, home, json_option, project_dir, project_option
from memlayer.cli.output import print_json, say
from memlayer.wire.spawn import plugin_root

STYLES = {OK: "green", WARN: "yellow", FAIL: "bold red"}


@click.command("doctor")
@project_option
@json_option
def doctor_verb(project: str | None, as_json: bool) -> None:
    """Check everything. Exit code 1 when something is lost or at risk.

    Starts the daemon if none runs, to see whether it can. `warn` is what works less well than it could.

    \b
    Examples:
      memlayer doctor
      memlayer doctor --json
    """
    checks = []
    for check in all_checks(project_dir(project)):
        checks.append(check)
        if not as_json:
            say((f"{check.state:<4}", STYLES[check.state]), "  ", (check.name, "bold"), f": {check.says}")
            if check.remedy:
                say(("-> ", "dim"), check.remedy, indent=6)
    failed = [check.name for check in checks if check.state == FAIL]
    if as_json:
        print_json({"ok": not failed, "checks": [check._asdict() for check in checks]})
    elif failed:
        say("")
        say(("At risk", "bold red"), ": " + ", ".join(failed))
    sys.exit(1 if failed else 0)


def all_checks(folder: str) -> Iterator[Check]:
    """Every check, in an order in which causes stand before what follows from them."""
    at_home, root = home(), plugin_root()
    yield checks_host.runtime_state(at_home, root)
    yield checks_host.manifest(root)
    yield checks_host.interpreter(at_home)
    yield checks_files.permissions(at_home)
    yield checks_files.disk(at_home)
    yield from checks_files.settings(at_home, folder, os.environ)
    yield from checks_daemon.daemon(client())
    yield checks_files.spool_age(at_home)
    yield checks_files.quarantine(at_home)
    yield from checks_files.logs(at_home)
    yield checks_files.project_state(folder, os.environ)
    yield checks_host.auto_memory(os.environ)
