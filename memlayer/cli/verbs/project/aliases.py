"""The verb alias: names for one thing."""

from __future__ import annotations

import time

import click

from memlayer.cli.terminal.invocation import Incomplete, ask, home, json_option, project_option
from memlayer.cli.terminal.output import line, say
from memlayer.cli.verbs.project.tasks import written_folder
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import clean
from memlayer.edge.ipc import ops
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.tasks.events import TaskEvent, captured
from memlayer.tasks.keys import name_key
from memlayer.tasks.states import By
from memlayer.turns.remembered import is_all_redacted

NAME_CHARS = 100


@click.command("alias")
@click.argument("name", default="")
@click.argument("other", default="")
@click.option("--undo", is_flag=True, help="Take it back: they are two things.")
@project_option
@json_option
def alias_verb(name: str, other: str, undo: bool, project: str | None, as_json: bool) -> None:
    """Say that two names mean one thing, for `about:` in a search.

    A file, an issue, an URL, a person, a service, a task. Without names it lists what was said.

    \b
    Examples:
      memlayer alias auth:8080 auth.example.com:443
      memlayer alias @mina 미나
      memlayer alias --undo @mina 미나
      memlayer alias
    """
    folder = written_folder(project)
    names = tuple(clean(plain(text)).strip()[:NAME_CHARS] for text in (name, other))
    if bool(name.strip()) != bool(other.strip()) or (undo and not name.strip()):
        raise Incomplete("Give two names, such as `memlayer alias @mina 미나`")
    if name.strip():
        _say_same(names, undo, folder)
    rows = ask(ops.Aliases(folder), as_json)["aliases"]
    for row in rows:
        say(" = ".join(line(text, NAME_CHARS) for text in row["pair"]))
    if not rows:
        say("No alias is known here.")


def _say_same(names: tuple[str, ...], undo: bool, folder: str) -> None:
    """Put an alias, or its undoing, on disk. Raises UserError."""
    if any(is_all_redacted(text) or not name_key(text) for text in names) or len(set(map(name_key, names))) < 2:
        raise UserError("Nothing is changed: give two different names, neither of them private")
    wanted = set(map(name_key, names))
    known = [row for row in ask(ops.Aliases(folder))["aliases"] if set(map(name_key, row["pair"])) == wanted]
    if undo and not known:
        raise UserError("Nothing is changed: these two are no alias. `memlayer alias` lists them")
    contents = [TaskEvent(By.PERSON, takes_back=row["id"]) for row in known] if undo else []
    if not undo and not known:
        contents = [TaskEvent(By.PERSON, same=names)]
    for content in contents:
        spool.put(home(), captured(content, project_dir=folder, at_ms=time.time_ns() // 1_000_000))
