"""The verb config: settings and their sources."""

from __future__ import annotations

import contextlib
import os
import sys

import click
from click.shell_completion import CompletionItem

from memlayer.cli.doctor.checks import RESTART
from memlayer.cli.doctor.checks_daemon import held_settings
from memlayer.cli.terminal.invocation import (
    Incomplete,
    client,
    home,
    json_option,
    project_dir,
    project_option,
    refuse_before,
)
from memlayer.cli.terminal.output import line, print_json, say
from memlayer.edge.home import paths
from memlayer.edge.home.project import locate
from memlayer.errors import MemlayerError

NAMELESS = "Give a setting, such as recall.max_entries"


@click.group("config", invoke_without_command=True)
@project_option
@click.option("--all", "shows_all", is_flag=True, help="Every setting, not only the first ten and those you have set.")
@json_option
@click.pass_context
def config_verb(context: click.Context, project: str | None, shows_all: bool, as_json: bool) -> None:
    """Show a project's settings and the source of each value.

    The ten that people touch first, and those that are set. --all and --json have every one. `set` and `unset` change
    them. Settings are read from config.yaml in the memlayer home and from variables
    MEMLAYER_<GROUP>__<NAME>. docs/configuration.md lists all of them. Exit code 1 when a setting is wrong.

    \b
    Examples:
      memlayer config --all
      memlayer config set recall.max_entries 3 recall.min_chance 0.2
      MEMLAYER_RECALL__MAX_ENTRIES=3 memlayer config --json
    """
    if not refuse_before(context.invoked_subcommand, project, as_json, shows_all):
        show_settings(project, as_json, shows_all)


def complete_key(_: click.Context, argument: click.Parameter, typed: str) -> list[CompletionItem]:
    """Return the settings that begin with `typed`, each with its description."""
    from memlayer.config import describe

    return [
        CompletionItem(setting.key, help=setting.description) for setting in describe() if setting.key.startswith(typed)
    ]


@config_verb.command("set")
@click.argument("key", default="", shell_complete=complete_key)
@click.argument("values", nargs=-1, metavar="VALUE...")
@json_option
def set_verb(key: str, values: tuple[str, ...], as_json: bool) -> None:
    """Change a setting in config.yaml.

    A wrong value changes nothing. Comments stay. Several values make a list, several settings change together.

    \b
    Examples:
      memlayer config set recall.max_entries 3
      memlayer config set capture.enabled false
      memlayer config set files.extra_paths ~/notes ~/문서
      memlayer config set agent.provider openai agent.model gpt-5-mini
    """
    from memlayer.config.edit import set_settings, settings_in

    typed = settings_in([word for word in (key, *values) if word or values])
    if not key or not all(typed.values()):
        raise Incomplete("Give a setting and its value, such as recall.max_entries 3")
    changed = set_settings(home(), typed)
    if as_json and len(changed) > 1:
        answer = {"settings": [{"key": name, "value": value} for name, value in changed.items()]}
        print_json({**answer, "file": paths.settings(home()), "changed_since_daemon": _daemon_is_behind()})
        return
    for name, value in changed.items():
        shown = _shown(tuple(value) if isinstance(value, list) else value)
        _say_changed(name, value, as_json, f"{name} is now {shown}.", is_last=name == list(changed)[-1])


@config_verb.command("get")
@click.argument("key", default="", shell_complete=complete_key)
@project_option
@json_option
def get_verb(key: str, project: str | None, as_json: bool) -> None:
    """Print the value of a setting.

    \b
    Examples:
      memlayer config get recall.max_entries
    """
    rows = held_settings(client(), locate(project_dir(project)).root, os.environ).settings
    found = next((row for row in rows if row["key"] == key), None)
    if found is None:
        raise Incomplete(f"There is no setting {key!r}. `memlayer config --all` has every name" if key else NAMELESS)
    print_json(found) if as_json else say(_shown(found["value"]))


@config_verb.command("unset")
@click.argument("key", default="", shell_complete=complete_key)
@json_option
def unset_verb(key: str, as_json: bool) -> None:
    """Remove a setting from config.yaml: its default applies again.

    \b
    Examples:
      memlayer config unset recall.max_entries
    """
    from memlayer.config import unset_setting

    if not key:
        raise Incomplete("Give a setting to unset, such as recall.max_entries")
    was_there = unset_setting(home(), key)
    says = f"{key} has its default again." if was_there else f"{key} is not set in {paths.settings(home())}."
    _say_changed(key, None, as_json, says, is_last=was_there)


def _say_changed(key: str, value: object, as_json: bool, says: str, *, is_last: bool = True) -> None:
    """Print the change, variables that override it, and the next command."""
    from memlayer.config import ignored_variables

    group, _, name = key.partition(".")
    variable = f"MEMLAYER_{group}__{name}".upper()
    is_stale = _daemon_is_behind()
    if as_json:
        print_json({"key": key, "value": value, "file": paths.settings(home()), "changed_since_daemon": is_stale})
        return
    say(says)
    if variable in os.environ and variable not in ignored_variables(os.environ):
        say(("Overridden", "yellow"), f" by the variable {variable}: unset that, too.")
    if is_stale and is_last:
        say(f"The running daemon still uses the old value. Run {RESTART}.")


def show_settings(project: str | None, as_json: bool, shows_all: bool) -> None:
    """Print settings. Exits with 1 when a setting is wrong."""
    from memlayer.config import FIRST_KEYS

    held = held_settings(client(), locate(project_dir(project)).root, os.environ)
    problem, rows = held.problem, held.settings
    if as_json:
        print_json({name: value for name, value in held.fields().items() if name != "ignored"})
        sys.exit(1 if problem else 0)
    if problem:
        say(("Wrong", "bold red"), f": {line(problem)}. Until it is corrected, these values apply:", to_stderr=True)
    if held.changed_since_daemon:
        say(
            ("Not yet in force", "yellow"),
            f": {held.file} has changed since the daemon started. Run {RESTART}",
        )
    for warning in held.warnings:
        say(("Ignored", "yellow"), f": {line(warning)}")
    shown = [row for row in rows if shows_all or row["key"] in FIRST_KEYS or row["from"] != "default"]
    width = max((len(row["key"]) for row in shown), default=0)
    for row in shown:
        is_default = row["from"] == "default"
        say(
            (f"{row['key']:<{width}}  ", "cyan"),
            (f"{_shown(row['value'])} {row['unit']}".rstrip(), "" if is_default else "bold"),
            "" if is_default else f"  (from {line(row['from'])})",
        )
    if len(shown) < len(rows):
        say((f"{len(rows) - len(shown)} more, at their defaults: `memlayer config --all`", "dim"))
    sys.exit(1 if problem else 0)


def _daemon_is_behind() -> bool:
    """True if a daemon runs that has read older settings. Starts none."""
    from memlayer.config import is_outdated

    with contextlib.suppress(MemlayerError):  # doctor reports a daemon that hangs
        return is_outdated((client().status() or {}).get("settings_stamp"), home())
    return False


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return ", ".join(map(_shown, value)) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{line(key)}: {_shown(each)}" for key, each in value.items()) or "none"
    return "unset" if value is None else line(value) or "empty"
