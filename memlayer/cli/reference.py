"""Writes the reference pages: docs/cli.md from the verbs' help, docs/configuration.md from the settings."""

from __future__ import annotations

import click

from memlayer.cli.app import cli
from memlayer.config import SettingDescription, describe, describe_groups

WIDTH = 96
NOTE = "<!-- Written by `make docs`; a test compares it with the program. -->"


CLI_HEAD = f"""\
# The command line

{NOTE}

`bin/memlayer` finds or makes its runtime, then runs one of these verbs. Exit codes: 0 all is well, 1 an
error (one line on stderr; nothing is said when whoever read the answer has gone), 2 a wrong or missing
argument, 130 stopped by Ctrl-C.

The first verb on a machine makes a virtual environment under `~/.memlayer`, with visible progress; later
ones start at once. `doctor`, `version` and `daemon status` do without it. `config`, `setup`, `completion`,
`version`, `daemon status`, `daemon stop`, `quarantine list` and `quarantine drop` need no background
daemon; every other verb asks it, and starts it when none runs. `remember` and `stats` do without one
that does not come.

`-` is standard input for `search`, `recall`, `remember`, `edit`, `show`, `history` and `import`, and
standard output for `export`. Where an ID is asked for, a citation will do as it was pasted: `a7Bc3x`,
`[mem:a7Bc3x].`, `core_81d2`.

## JSON

With `--json` every verb prints one document on stdout, an error as well:
`{{"error": {{"kind": "usage", "message": "...", "exit_code": 2}}}}`; kinds are `error`, `usage` and
`stopped`. A field has one name and one type in all verbs:

| field | |
|---|---|
| `memories`, `events`, `files`, ... | a list; how many there are stands in `counts`: `{{"memories": 12}}` |
| `text`, `snippet` | a memory's whole text, and the part of it that answers |
| `superseded_by` | the id of the memory that replaced it, or ""; `newer`, `older`: the memories themselves |
| `at_ms`, `at` | Unix time in ms, and as an ISO 8601 date; so `superseded_ms`, `superseded_at` |
| `path`, `start_line`, `end_line` | its lines in `MEMORY.md`, a day's page or a document; "" and 0: none |

## Shell completion

`memlayer completion bash|zsh|fish` prints a script. Save it once where your shell looks for it:

```sh
memlayer completion bash > ~/.local/share/bash-completion/completions/memlayer
memlayer completion zsh > ~/.zfunc/_memlayer     # and `fpath+=~/.zfunc` before compinit in ~/.zshrc
memlayer completion fish > ~/.config/fish/completions/memlayer.fish
```

A Tab takes about 0.1 s. It never builds a runtime and never starts the daemon.

## Verbs"""

CONFIGURATION_HEAD = f"""\
# Configuration

{NOTE}

Nothing has to be configured. What you want otherwise goes into `~/.memlayer/config.yaml`:

```yaml
recall:
  max_entries: 3
  min_score: 0.5
daemon:
  idle_minutes: 10
```

A later source wins over an earlier one: defaults, `config.yaml`, the project's `.memlayer.yaml`,
environment variables `MEMLAYER_<GROUP>__<NAME>` (two underscores), flags of the command line.
`memlayer config set recall.max_entries 3` and `memlayer config unset recall.max_entries` edit the file for
you: checked before it is written, with your comments kept. The daemon reads the settings when it starts:
`memlayer daemon restart` makes a change take effect. `memlayer config` shows what
holds and where it comes from. An unknown name or a value out of bounds is named with its file by
`memlayer doctor` and at the start of a session. Until it is mended its group is at its defaults, the other
groups hold, and what is switched off with `enabled: false` stays off; an `enabled` that is neither true nor
false counts as false.

Not settings, but read from the environment: `MEMLAYER_HOME` (where everything is kept, an absolute path,
default `~/.memlayer`), `MEMLAYER_DISABLE=1` (hooks do nothing), `MEMLAYER_RUNTIME_DIR` (use this virtual
environment).

## A project's own file

A `.memlayer.yaml` at the root of a project may set only what is marked *project* below, and `enabled`:

```yaml
enabled: false   # remember and recall nothing here
```

It comes with a clone, so it is not trusted: it can only ask for less than you allow (fewer entries, a
higher floor), everything else in it is ignored with a warning, and nothing in it is an error. One with
YAML's aliases or merge keys is ignored as a whole, but for `enabled: false`. Write `enabled` at the left margin,
on a line of its own: hooks read it without a YAML parser, and keep nothing where it is not plainly true."""


def cli_page() -> str:
    """docs/cli.md."""
    parts = [CLI_HEAD, _fenced(_help(cli, "memlayer", None))]
    with click.Context(cli, info_name="memlayer", terminal_width=WIDTH) as top:
        for name in cli.list_commands(top):
            parts += _pages_of(cli.get_command(top, name), name, top)
    return "\n\n".join(parts) + "\n"


def _pages_of(command: click.Command | None, name: str, parent: click.Context) -> list[str]:
    """A heading and the help of a command, then of its own commands."""
    assert command is not None
    parts = [f"### {name}" if parent.parent is None else f"#### {parent.info_name} {name}"]
    parts.append(_fenced(_help(command, name, parent)))
    if isinstance(command, click.Group):
        with click.Context(command, info_name=name, parent=parent, terminal_width=WIDTH) as own:
            for inner in command.list_commands(own):
                parts += _pages_of(command.get_command(own, inner), inner, own)
    return parts


def _help(command: click.Command, name: str, parent: click.Context | None) -> str:
    settings = {**cli.context_settings, "terminal_width": WIDTH}
    settings.pop("max_content_width", None)
    with click.Context(command, info_name=name, parent=parent, **settings) as ctx:
        return command.get_help(ctx)


def _fenced(text: str) -> str:
    return f"```text\n{text.rstrip()}\n```"


def configuration_page() -> str:
    """docs/configuration.md."""
    parts = [CONFIGURATION_HEAD]
    about = describe_groups()
    by_group: dict[str, list[SettingDescription]] = {}
    for one in describe():
        by_group.setdefault(one.key.partition(".")[0], []).append(one)
    for group, settings in by_group.items():
        rows = "\n".join(_row(one) for one in settings)
        head = "| Setting | Default | Bounds | What it does |\n|---|---|---|---|"
        parts += [f"## {group}", about[group], f"{head}\n{rows}"]
    return "\n\n".join(parts) + "\n"


def _row(one: SettingDescription) -> str:
    default = str(one.default).lower() if isinstance(one.default, bool) else str(one.default)
    unit = f" {one.unit}" if one.unit else ""
    what = one.description + (" *project*" if one.for_projects else "")
    return f"| `{one.key}` | {f'`{default}`{unit}' if default else 'empty'} | {one.bounds} | {what} |"
