"""The command `memlayer`, its verbs and its slash commands.

Each verb is imported only when it is used.
"""

from __future__ import annotations

import importlib
import io
import os
import sys

import click

from memlayer import __version__

# verb -> its module in memlayer.cli.verbs, in the order of the help.
VERBS = {
    "search": "search",
    "recall": "search",
    "given": "search",
    "statusline": "search",
    "show": "browse",
    "list": "browse",
    "timeline": "browse",
    "citations": "browse",
    "sessions": "overview",
    "remember": "memories",
    "history": "memories",
    "edit": "memories",
    "pin": "memories",
    "restore": "memories",
    "agent": "agent",
    "stats": "overview",
    "files": "maintenance",
    "flush": "maintenance",
    "reindex": "maintenance",
    "repair": "maintenance",
    "quarantine": "maintenance",
    "forget": "forget",
    "gc": "maintenance",
    "import": "transfer",
    "export": "transfer",
    "daemon": "health",
    "doctor": "health",
    "config": "settings",
    "setup": "settings",
    "mcp": "settings",
    "completion": "settings",
    "version": "settings",
}
SLASH_WITH_PROJECT = ("forget", "list", "remember", "search")


class Verbs(click.Group):
    """A group of the commands in VERBS, and the hidden `slash`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "slash":
            return slash_verb
        if cmd_name not in VERBS:
            return None
        module = importlib.import_module(f"memlayer.cli.verbs.{VERBS[cmd_name]}")
        command = getattr(module, f"{cmd_name}_verb")
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="memlayer %(version)s")
def cli() -> None:
    """Search, correct and erase the long-term memory of Claude Code.

    Everything stays on this machine, in ~/.memlayer (MEMLAYER_HOME overrides). Every verb has --json.

    \b
    Examples:
      memlayer search "order events clickhouse"
      memlayer recall "어느 DB에 저장하기로 했지?" --explain
      memlayer show x9Yz2w
      memlayer doctor
    """


@click.command("slash", hidden=True)
@click.argument("command")
@click.argument("session_id", metavar="SESSION")
@click.pass_context
def slash_verb(ctx: click.Context, command: str, session_id: str) -> None:
    """Run slash command COMMAND with the arguments typed in this session.

    For the files in commands/. The arguments come from the UserPromptExpansion hook: a shell line would change some
    characters. Raises UserError.
    """
    from memlayer.cli.terminal.invocation import home
    from memlayer.edge.capture.spool import MAX_TYPED_CHARS, VERB_OF, take_typed
    from memlayer.errors import UserError

    if command not in VERB_OF:
        raise click.BadParameter(f"{command!r} is not one of {', '.join(sorted(VERB_OF))}")
    verb = VERB_OF[command]
    typed = take_typed(home(), session_id, command)
    if typed is None:
        why = (
            "MEMLAYER_DISABLE=1 switches memlayer's hooks off"
            if os.environ.get("MEMLAYER_DISABLE") == "1"
            else "are hooks switched off? See `memlayer doctor`"
        )
        raise UserError(f"the arguments did not arrive, and nothing was done: {why}. In a terminal: memlayer {verb}")
    if typed.get("problem"):
        raise UserError(f"that is too long, and nothing was done: {typed['problem']}; {MAX_TYPED_CHARS} at most")
    arguments = [verb, "--stdin"]
    if verb in SLASH_WITH_PROJECT and typed.get("project_dir"):
        arguments += ["--project", typed["project_dir"]]
    if verb == "remember":
        arguments += ["--session", session_id]
    text = typed.get("text", "").encode("utf-8", "replace")
    sys.stdin = io.TextIOWrapper(io.BytesIO(text), encoding="utf-8")
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    root.main(arguments, prog_name="memlayer", standalone_mode=False)
