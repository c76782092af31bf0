"""The command `memlayer` and its verbs; a verb's file is imported only when it is used."""

from __future__ import annotations

import importlib

import click

from memlayer import __version__

# verb -> the file that holds it. The order is that of the help.
VERBS = {
    "search": "search",
    "recall": "search",
    "given": "given",
    "statusline": "given",
    "show": "browse",
    "list": "browse",
    "sessions": "overview",
    "remember": "memories",
    "history": "memories",
    "edit": "memories",
    "pin": "memories",
    "restore": "memories",
    "stats": "overview",
    "files": "files",
    "flush": "maintenance",
    "reindex": "maintenance",
    "repair": "maintenance",
    "quarantine": "files",
    "forget": "forget",
    "gc": "maintenance",
    "import": "transfer",
    "export": "transfer",
    "daemon": "health",
    "doctor": "health",
    "config": "settings",
    "setup": "settings",
    "completion": "settings",
    "version": "settings",
}
# What people do not type.
HIDDEN = {"slash": "slash"}


class Verbs(click.Group):
    """A group whose commands are found in VERBS."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        file = VERBS.get(cmd_name) or HIDDEN.get(cmd_name)
        if file is None:
            return None
        module = importlib.import_module(f"memlayer.cli.verbs.{file}")
        command = getattr(module, f"{cmd_name}_verb")
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="memlayer %(version)s")
def cli() -> None:
    """Long-term memory for Claude Code: look into it, mend it, forget.

    Everything stays on this machine, in ~/.memlayer (MEMLAYER_HOME overrides). Every verb has --json.

    \b
    Examples:
      memlayer search "order events clickhouse"
      memlayer recall "어느 DB에 저장하기로 했지?" --explain
      memlayer show x9Yz2w
      memlayer doctor
    """
