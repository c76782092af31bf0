"""The typist of a verb: a person, or a model."""

import os
from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.output import SLASHES, in_shell
from memlayer.edge.home import agents, paths
from memlayer.errors import UserError

BY_PERSON = object()  # of a slash command, whose words a hook saw the person type
# A model may read, and remember in its own name. Verb -> the values that its parameters may have.
_OPEN: Mapping[str, Mapping[str, tuple[object, ...]]] = {
    **{verb: {} for verb in (
        "search", "given", "statusline", "show", "list", "sessions", "stats", "config", "config get", "notes",
        "notes status", "notes refused", "task", "task list", "task show", "project topics", "team", "team status",
        "share", "share status", "daemon", "daemon stop", "daemon restart", "daemon status", "setup", "completion",
        "mcp",
    )},
    "remember": {"is_global": (False,)}, "forget": {"dry_run": (True,)}, "import": {"paths": ((),), "agent": (None,)},
    "rules": {"name": (None,)},
    "project mode": {"mode": (None,)}, "review": {"words": ((),)},
    "doctor": {"job": (None, "flush", "reindex", "quarantine"), "drop": (False,)},
}  # fmt: skip


class VerbCall(click.Context):
    """A call of a verb, when click has read its arguments."""

    def invoke(self, *args: Any, **kwargs: Any) -> Any:
        """Run the verb, or its group alone. Raises UserError for a model."""
        if self.invoked_subcommand is None:
            refuse_model(self)
        return super().invoke(*args, **kwargs)


def guarded(command: click.Command) -> click.Command:
    """Have calls of a verb and those below it be VerbCalls."""
    command.context_class = VerbCall
    for inner in command.commands.values() if isinstance(command, click.Group) else ():
        guarded(inner)
    return command


def mark_of_model() -> str:
    """Return an agent's variable of this shell; "" where a person types."""
    call = click.get_current_context(silent=True)
    return "" if call is not None and call.find_root().obj is BY_PERSON else agents.mark_in(os.environ)


def own_folder() -> str | None:
    """Return the folder of a model's session; None where a person types."""
    return agents.session_folder(os.environ, paths.home_of()) if mark_of_model() else None


def refuse_model(call: click.Context) -> None:
    """Refuse a model's call of a person's verb. Raises UserError."""
    verb = call.command_path.partition(" ")[2]
    asked, mark = _OPEN.get(verb), mark_of_model()
    if not mark or (asked is not None and all(call.params[name] in values for name, values in asked.items())):
        return
    slashes = SLASHES.items() if agents.CLAUDE_CODE in os.environ else ()
    slash = next((command for name, command in slashes if name.split()[0] == verb.split()[0]), "")
    how = f"by `/memlayer:{slash}` here, or " if slash else ""
    raise UserError(
        f"Nothing is done: only the person may do that, {how}in a terminal: {in_shell(verb)}. Ask them. This shell"
        f" is an agent's ({mark} is set)"
    )
