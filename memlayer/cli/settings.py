"""The verbs about this installation: config, setup, version."""

from __future__ import annotations

import contextlib
import os
import sys

import click

from memlayer.cli import bare
from memlayer.cli.checks_daemon import RESTART, is_behind
from memlayer.cli.invocation import client, home, json_option, project_dir, project_option
from memlayer.cli.output import line, print_json, say
from memlayer.errors import MemlayerError, UserError
from memlayer.wire import launch, paths, project, runtime
from memlayer.wire.spawn import plugin_root


@click.command("config")
@project_option
@json_option
def config_verb(project: str | None, as_json: bool) -> None:
    """Show the settings that hold in a project, and where each value comes from. Exit code 1 when one is wrong.

    They are set in config.yaml in the memlayer home, or by MEMLAYER_<GROUP>__<NAME>; docs/configuration.md
    lists them all.

    \b
    Examples:
      memlayer config
      MEMLAYER_RECALL__MAX_ENTRIES=3 memlayer config --json
    """
    from memlayer.config import describe, load_project_settings, load_what_holds

    said = load_project_settings(_root_of(project_dir(project)))
    found, problem = load_what_holds(home(), os.environ)
    settings = found.for_project(said)
    rows = []
    for one in describe():
        group, _, name = one.key.partition(".")
        value = getattr(getattr(settings, group), name)
        rows.append({"key": one.key, "value": value, "unit": one.unit, "from": settings.origin(one.key)})
    is_stale = _daemon_is_behind()
    if as_json:
        told = {"file": paths.settings(home()), "settings": rows, "warnings": list(said.warnings), "problem": problem}
        print_json({**told, "changed_since_daemon": is_stale})
        sys.exit(1 if problem else 0)
    if problem:
        say(("Wrong", "bold red"), f": {line(problem)}. Until that is corrected this holds:", to_stderr=True)
    if is_stale:
        say(
            ("Not yet in force", "yellow"),
            f": {paths.settings(home())} has changed since the daemon started: {RESTART}",
        )
    for warning in said.warnings:
        say(("Ignored", "yellow"), f": {line(warning)}")
    width = max(len(row["key"]) for row in rows)
    for row in rows:
        is_default = row["from"] == "default"
        say(
            (f"{row['key']:<{width}}  ", "cyan"),
            (f"{_shown(row['value'])} {row['unit']}".rstrip(), "" if is_default else "bold"),
            "" if is_default else f"  (from {line(row['from'])})",
        )
    sys.exit(1 if problem else 0)


def _daemon_is_behind() -> bool:
    """Whether a daemon runs that has read another state of the file. Starts none."""
    with contextlib.suppress(MemlayerError):  # one that hangs: doctor's matter
        return is_behind(home(), client().status() or {})
    return False


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(line(one) for one in value) or "none"
    return line(value) or "empty"


def _root_of(folder: str) -> str:
    return project.locate(folder).root


@click.command("setup")
@click.option("--quiet", is_flag=True, help="Say nothing unless it fails.")
@click.option("--no-wait", is_flag=True, help="End at once when another setup is running.")
@json_option
def setup_verb(quiet: bool, no_wait: bool, as_json: bool) -> None:
    """Make memlayer's runtime, unless it is there and up to date. Every other verb does so by itself.

    \b
    Examples:
      memlayer setup
    """
    root = plugin_root()
    if not os.path.exists(os.path.join(root, runtime.LOCK_FILE)):
        raise UserError(f"memlayer is installed as a package; its runtime is {sys.executable}")
    flags = {"--quiet": quiet, "--no-wait": no_wait, "--json": as_json}
    sys.exit(launch.setup(root, [flag for flag, given in flags.items() if given]))


@click.command("version")
@json_option
def version_verb(as_json: bool) -> None:
    """Show the versions of memlayer, its protocol and its Python.

    \b
    Examples:
      memlayer version --json
    """
    bare.version(as_json)
