"""The verbs about memlayer's health: daemon, doctor."""

import os
import sys
from collections.abc import Iterator
from itertools import chain

import click

from memlayer.cli import host_setup
from memlayer.cli.doctor import bare, checks, checks_daemon
from memlayer.cli.doctor.checks import Check, print_checks
from memlayer.cli.terminal.invocation import (
    Incomplete,
    client,
    home,
    json_option,
    project_dir,
    project_option,
    restart_daemon,
)
from memlayer.cli.verbs import maintenance
from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.terminal.launch import JOBS
from memlayer.errors import MemlayerError

PLAIN_JOBS = {"flush": maintenance.flush, "repair": maintenance.repair, "reindex": maintenance.reindex}


@click.group("daemon", invoke_without_command=True)
@click.pass_context
def daemon_verb(context: click.Context) -> None:
    """Stop, restart or show the process that owns the store.

    Hooks and verbs start it, and it exits by itself when idle. Without another word it shows the state.

    \b
    Examples:
      memlayer daemon status
      memlayer daemon restart
    """
    if context.invoked_subcommand is None:
        context.invoke(status)


@daemon_verb.command("stop")
@json_option
def stop(as_json: bool) -> None:
    """Let the daemon finish its work and exit; wait for that."""
    bare.stop(client(), as_json)


@daemon_verb.command("restart")
@json_option
def restart(as_json: bool) -> None:
    """Start the daemon anew, with the current settings."""
    bare.show_status(restart_daemon().fields(), as_json)


@daemon_verb.command("status")
@json_option
def status(as_json: bool) -> None:
    """Say whether the daemon runs. Does not start it."""
    bare.show_status(client().status(), as_json)


@click.command("doctor")
@click.argument("job", metavar="[JOB]", type=click.Choice(JOBS), required=False)
@project_option
@click.option("--dry-run", is_flag=True, help="With gc: only show the rows that would be removed.")
@click.option("--drop", is_flag=True, help="With quarantine: remove the events, with their texts, for good.")
@json_option
def doctor_verb(job: str | None, project: str | None, dry_run: bool, drop: bool, as_json: bool) -> None:
    """Check everything; repair, index or shrink the store.

    Exit code 1 when data is lost or at risk. Starts the daemon if none runs, to test the start. `warn` marks a part
    that works less well than it could. Without a runtime only some checks are possible. Doctor builds none.

    \b
    A JOB for the store, in place of the checks:
      flush       store, consolidate and index the events that wait on disk
      repair      bring back all that a damaged store lost, from the host's transcripts, older versions and the index;
                  damaged files go to store/damaged; events in quarantine are read again. Harmless on a sound store
      reindex     build the search index anew; turns that older rules read are read again first
      gc          remove rows that the retention settings let go, as the daemon does once a day, and compact the files
      quarantine  list the events that could not be read
    \b
    Examples:
      memlayer doctor
      memlayer doctor flush
      memlayer doctor gc --dry-run
      memlayer doctor quarantine --drop
    """
    if (dry_run and job != "gc") or (drop and job != "quarantine"):
        raise Incomplete("--dry-run goes with gc, --drop with quarantine")
    if job is None:
        sys.exit(print_checks(every_check(project_dir(project)), as_json))
    if job == "gc":
        maintenance.collect(dry_run, as_json)
    elif job == "quarantine":
        maintenance.quarantine(drop, as_json)
    else:
        PLAIN_JOBS[job](as_json)


def every_check(folder: str) -> Iterator[Check]:
    """Yield the checks, with those that need a daemon."""
    of_runtime = chain(
        checks.settings(lambda at: checks_daemon.held_settings(client(), at, os.environ), folder),
        checks_daemon.daemon(client()),
        host_setup.check_hosts(plugin_root()),
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
