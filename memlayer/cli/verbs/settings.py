"""The verb config: settings and their sources."""

import contextlib
import os
import sys
from collections.abc import Mapping

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
@click.argument("words", nargs=-1, metavar="KEY VALUE...", shell_complete=complete_key)
@json_option
def set_verb(words: tuple[str, ...], as_json: bool) -> None:
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

    typed = settings_in(words)
    if not all(words[:1]) or not words or not all(typed.values()):
        raise Incomplete("Give a setting and its value, such as recall.max_entries 3")
    changed = set_settings(home(), typed)
    _say_changed(changed, {name: f"{name} is now {_shown(value)}." for name, value in changed.items()}, as_json)


@config_verb.command("get")
@click.argument("key", default="", shell_complete=complete_key)
@json_option
def get_verb(key: str, as_json: bool) -> None:
    """Print the value of a setting.

    \b
    Examples:
      memlayer config get recall.max_entries
    """
    held = held_settings(client(), project_dir(None), os.environ)
    found = next((row for row in held.settings if row["key"] == key), None)
    if found is None:
        from memlayer.config.edit import known

        if key:
            known(key)
        raise Incomplete(NAMELESS)
    print_json(found) if as_json else say(_shown(found["value"]))
    if held.problem:
        say(("Wrong", "bold red"), f": {line(held.problem)}.", to_stderr=True)


@config_verb.command("unset")
@click.argument("keys", nargs=-1, metavar="KEY...", shell_complete=complete_key)
@json_option
def unset_verb(keys: tuple[str, ...], as_json: bool) -> None:
    """Remove settings from config.yaml: their defaults apply again.

    A misspelt line is removed by its name there.

    \b
    Examples:
      memlayer config unset recall.max_entries
      memlayer config unset agent.provider agent.model
    """
    from memlayer.config import unset_setting
    from memlayer.config.model import keys as known_keys

    if not all(keys) or not keys:
        raise Incomplete("Give a setting to unset, such as recall.max_entries")
    removed, file = unset_setting(home(), *keys), paths.settings(home())
    says = {
        key: f"{key} has its default again." if key in known_keys()
        else f"{key}, which is no setting, is removed from {file}."
        for key in removed
    }  # fmt: skip
    _say_changed(dict.fromkeys(keys), {key: says.get(key, f"{key} is not set in {file}.") for key in keys}, as_json,
                 is_changed=bool(removed))  # fmt: skip


def _say_changed(
    changed: Mapping[str, object], says: Mapping[str, str], as_json: bool, *, is_changed: bool = True
) -> None:
    """Print the changes, their obstacles, and the cure."""
    from memlayer.config import ignored_variables, load_what_holds

    is_stale = _daemon_is_behind()
    if as_json:
        rows = [{"key": key, "value": value} for key, value in changed.items()]
        answer = rows[0] if len(rows) == 1 else {"settings": rows}
        print_json({**answer, "file": paths.settings(home()), "changed_since_daemon": is_stale})
        return
    held, problem = load_what_holds(home(), os.environ)
    file = paths.settings(home())
    for key, told in says.items():
        is_held = changed[key] is None or held.origin(key) != "default"
        say(told if is_held else f"{key} is written to {file}, and in force once that file is corrected.")
        variable = "MEMLAYER_{}__{}".format(*key.partition(".")[::2]).upper()
        if variable in os.environ and variable not in ignored_variables(os.environ):
            say(("Overridden", "yellow"), f" by the variable {variable}: unset that, too.")
    if problem:
        say(("Wrong", "bold red"), f": {line(problem)}.")
    if is_stale and is_changed:
        say(f"The running daemon still uses the old value. Run {RESTART}.")


def show_settings(project: str | None, as_json: bool, shows_all: bool) -> None:
    """Print settings. Exits with 1 when a setting is wrong."""
    from memlayer.config import FIRST_KEYS

    held = held_settings(client(), project_dir(project), os.environ)
    problem, rows = held.problem, held.settings
    if as_json:
        print_json(held)
        sys.exit(1 if problem else 0)
    if problem:
        say(("Wrong", "bold red"), f": {line(problem)}. These values apply:", to_stderr=True)
    if held.changed_since_daemon:
        say(("Not yet in force", "yellow"), f": {held.file} has changed since the daemon started. Run {RESTART}")
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
