"""Runs a slash command with what was typed after it."""

from __future__ import annotations

import io
import os
import sys

import click

from memlayer.cli.terminal.invocation import home
from memlayer.edge.capture import commands
from memlayer.edge.capture.commands import MAX_TYPED_CHARS, VERB_OF
from memlayer.errors import UserError

OF_PROJECT = ("forget", "list", "remember", "search")


@click.command("slash", hidden=True)
@click.argument("command", type=click.Choice(sorted(VERB_OF)))
@click.argument("session_id", metavar="SESSION")
@click.pass_context
def slash_verb(ctx: click.Context, command: str, session_id: str) -> None:
    """Run COMMAND with what was typed after it in this session. For the files in commands/.

    The words come from the UserPromptExpansion hook: in a shell line not all of them would arrive.
    """
    said = commands.take(home(), session_id, command)
    if said is None:
        why = (
            "MEMLAYER_DISABLE=1 switches memlayer's hooks off"
            if os.environ.get("MEMLAYER_DISABLE") == "1"
            else "are hooks switched off? `memlayer doctor` knows more"
        )
        raise UserError(f"what you typed did not arrive, and nothing was done: {why}. In a terminal: memlayer "
                        f"{VERB_OF[command]}")  # fmt: skip
    if said.get("problem"):
        raise UserError(f"that is too long, and nothing was done: {said['problem']}; {MAX_TYPED_CHARS} at most")
    verb = VERB_OF[command]
    arguments = [verb, "--stdin"]
    if verb in OF_PROJECT and said.get("project_dir"):
        arguments += ["--project", said["project_dir"]]
    if verb == "remember":
        arguments += ["--session", session_id]
    words = said.get("text", "").encode("utf-8", "replace")
    sys.stdin = io.TextIOWrapper(io.BytesIO(words), encoding="utf-8")
    root = ctx.find_root().command
    assert isinstance(root, click.Group)
    root.main(arguments, prog_name="memlayer", standalone_mode=False)
