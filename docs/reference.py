"""The reference pages: docs/cli.md from the verbs' help, docs/configuration.md from the settings."""

import click

from memlayer.cli.app import cli
from memlayer.config import SettingDescription, describe, describe_groups

WIDTH = 96
NOTE = "<!-- Written by `make docs`; a test compares it with the program. -->"


CLI_HEAD = f"""\
# The command line

{NOTE}

`bin/memlayer` finds or builds its runtime, then runs one of these verbs. Exit codes: 0 success, 1 an
error (one line on stderr; none when the reader of a pipe has gone), 2 a wrong or missing argument,
130 stopped by Ctrl-C.

The first verb on a machine builds a virtual environment under `~/.memlayer`, with visible progress; later
verbs start at once. `--help`, `--version`, `doctor`, `completion` and `daemon status` work without it.
`config`, `setup`, `completion`, `--version`, `daemon status`, `daemon stop` and `doctor quarantine` need no
background daemon; every other verb asks the daemon, and starts it when it is not running. `remember` and
`stats` also work when the daemon cannot be started.

`-` is standard input for `search`, `remember`, `edit`, `show`, `forget`, `review` and `import`, and standard output for
`export`. Every ID may be given as a citation in the form in which it was copied:
`a7Bc3x`, `[mem:a7Bc3x].`, `core_81d2`.

## JSON

With `--json` every verb prints one JSON document on stdout (`agent` one a line for each event), also for
an error:
`{{"error": {{"kind": "usage", "message": "...", "exit_code": 2}}}}`; kinds are `error`, `usage` and
`stopped`. A field has the same name in all verbs, and in the API of the page:

| field | |
|---|---|
| `memories`, `events`, `files`, ... | a list, or in an answer that counts a number |
| `text`, `snippet`, `preview` | a memory's whole text, the part of it that matches, its first 50 characters |
| `event_type` | `turn`, `day`, `note`, or the kind of a statement: decision, preference, fact, ... |
| `superseded_by` | the id of the memory that replaced it, or ""; `newer`, `older`: the memories themselves |
| `state` | current, superseded, reworded (an earlier wording) or retired |
| `at_ms`, `superseded_ms`, ... | Unix time in milliseconds, 0 for never |
| `path`, `start_line`, `end_line` | its lines in `MEMORY.md`, a day's file or a document; "" and 0: none |

## Shell completion

`memlayer completion bash|zsh|fish` prints a script. Save it once where your shell looks for it:

```sh
memlayer completion bash > ~/.local/share/bash-completion/completions/memlayer
memlayer completion zsh > ~/.zfunc/_memlayer     # and `fpath+=~/.zfunc` before compinit in ~/.zshrc
memlayer completion fish > ~/.config/fish/completions/memlayer.fish
```

Completion takes about 0.1 s. It never builds a runtime and never starts the daemon.

## Verbs"""

CONFIGURATION_HEAD = f"""\
# Configuration

{NOTE}

Nothing has to be configured. Your own settings go into `~/.memlayer/config.yaml`:

```yaml
recall:
  max_entries: 3
  min_chance: 0.2
daemon:
  idle_minutes: 10
```

A later source wins over an earlier one: defaults, `config.yaml`, the project's `.memlayer.yaml`,
environment variables `MEMLAYER_<GROUP>__<NAME>` (two underscores).
`memlayer config set recall.max_entries 3` and `memlayer config unset recall.max_entries` (or several) edit the file for
you: values are checked before the file is written, and your comments are kept. The daemon reads the
settings when it starts: `memlayer daemon restart` makes a change take effect (`agent`,
`query_classification` and `soul` are read when a talk begins, `recall`, `working_set` and `moments` at each hook).
`memlayer config` shows the
values in force and the source of each. `memlayer doctor` and the start of a session report an unknown name
or a value out of bounds, with its file. Until it is corrected, its whole group uses its defaults, the other
groups keep their values, and everything switched off with `enabled: false` stays off; an `enabled` that is
neither true nor false counts as false.

The line `enabled: false` at the left margin of `config.yaml`, above the groups, switches everything off: nothing is
remembered or recalled in any project, from the next hook on. Stored memories stay, and `memlayer search` finds them.

Not settings, but read from the environment: `MEMLAYER_HOME` (the folder for all data, an absolute path,
default `~/.memlayer`), `MEMLAYER_DISABLE=1` (hooks do nothing), `MEMLAYER_RUNTIME_DIR` (use this virtual
environment).

## A project's own file

A `.memlayer.yaml` at the root of a project may set only the settings marked *project* below, and `enabled`. One in a
sub-folder counts for the sessions that start there or below; of several values the one that asks for least holds:

```yaml
enabled: false   # remember and recall nothing here
```

The file comes with a clone, so it is not trusted: it can only ask for less than you allow (fewer entries, a
higher `recall.min_chance`), everything else in it is ignored with a warning, and nothing in it is an error. A file with
YAML aliases or merge keys is ignored as a whole, except for `enabled: false`. Write `enabled` at the left
margin, on a line of its own: hooks read it without a YAML parser, and store nothing unless it is plainly
true."""


def cli_page() -> str:
    """Return the text of docs/cli.md."""
    parts = [CLI_HEAD, _fenced(_help(cli, "memlayer", None))]
    with click.Context(cli, info_name="memlayer", terminal_width=WIDTH) as top:
        for name in cli.list_commands(top):
            parts += _pages_of(cli.get_command(top, name), name, top)
    return "\n\n".join(parts) + "\n"


def _pages_of(command: click.Command | None, name: str, parent: click.Context) -> list[str]:
    """Return the help of a command under a heading, then its subcommands'."""
    assert command is not None
    parts = [f"### {name}" if parent.parent is None else f"#### {parent.command_path.removeprefix('memlayer ')} {name}"]
    parts.append(_fenced(_help(command, name, parent)))
    if isinstance(command, click.Group):
        with click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH) as own:
            for subcommand in command.list_commands(own):
                parts += _pages_of(command.get_command(own, subcommand), subcommand, own)
    return parts


def _help(command: click.Command, name: str, parent: click.Context | None) -> str:
    settings = {**cli.context_settings, "terminal_width": WIDTH}
    settings.pop("max_content_width", None)
    with click.Context(command, info_name=name, parent=parent, **settings) as ctx:
        return command.get_help(ctx)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def configuration_page() -> str:
    """Return the text of docs/configuration.md."""
    parts = [CONFIGURATION_HEAD]
    about = describe_groups()
    by_group: dict[str, list[SettingDescription]] = {}
    for setting in describe():
        by_group.setdefault(setting.key.partition(".")[0], []).append(setting)
    for group, settings in by_group.items():
        rows = "\n".join(map(_row, settings))
        head = "| Setting | Default | Bounds | Effect |\n|---|---|---|---|"
        parts += [f"## {group}", about[group], f"{head}\n{rows}"]
    return "\n\n".join(parts) + "\n"


def _row(setting: SettingDescription) -> str:
    is_empty = setting.default in (None, (), {})
    default = str(setting.default).lower() if isinstance(setting.default, bool) else str(setting.default)
    unit = f" {setting.unit}" if setting.unit else ""
    effect = setting.description + (" *project*" if setting.for_projects else "")
    shown = f"`{default}`{unit}" if default and not is_empty else "empty"
    return f"| `{setting.key}` | {shown} | {setting.bounds} | {effect} |"
