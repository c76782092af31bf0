"""The verb project: a folder's project, and its files."""

import os

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    ask,
    end_with_json,
    json_option,
    none_here,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, say
from memlayer.cli.verbs.maintenance import say_files
from memlayer.cli.verbs.project.topics import mode_verb, topics_verb
from memlayer.edge.counting import counted
from memlayer.wire import record as ops
from memlayer.wire import upkeep as upkeep_ops


@click.group("project", invoke_without_command=True)
@click.pass_context
def project_verb(context: click.Context) -> None:
    """List projects, or choose a folder's project.

    Without another word it lists them.
    A project is known by its remote, its repository or its folder. Where that is wrong, the person's choice goes
    before. Nothing that is stored moves: a choice is for the folder's next sessions, and each can be taken back.

    \b
    Examples:
      memlayer project list
      memlayer project join ~/old-name
      memlayer project part
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


project_verb.add_command(topics_verb)
project_verb.add_command(mode_verb)


@project_verb.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List every project with its folder and memories.

    Example: memlayer project list
    """
    projects = ask(ops.Projects(), as_json).projects
    if not projects:
        say(none_here("No project is known."))
    for row in projects:
        gone = "" if row.is_there or not row.project_dir else ", no longer there"
        folder = line(row.project_dir, 300) or "no folder on this machine yet"
        say((line(row.project), "bold"), f"  {folder}{gone}")
        given = "; also " + ", ".join(line(folder, 300) for folder in row.chosen_dirs) if row.chosen_dirs else ""
        say((f"{row.project_id}, {counted(row.memory_count, 'memory')}{given}", "dim"), indent=2)


@project_verb.command("join")
@click.argument("name", metavar="[PROJECT]", default="")
@project_option
@json_option
def join(name: str, project: str | None, as_json: bool) -> None:
    """Have this folder go on in another PROJECT.

    PROJECT: an id, a folder or a name. A renamed folder keeps the memory of its old path that way.

    Example: memlayer project join ~/old-name
    """
    _choose(_given(name), project, as_json)


@project_verb.command("part")
@project_option
@json_option
def part(project: str | None, as_json: bool) -> None:
    """Give a repository or a folder outside of one its own project.

    It begins without the others' memories. A folder within a repository, such as a package of a monorepo, has the
    project of the whole. `memlayer search` finds its work by its paths, `memlayer show --file PATH` that on a file.

    Example: memlayer project part
    """
    _choose("", project, as_json)


@project_verb.command("accept")
@project_option
@json_option
def accept(project: str | None, as_json: bool) -> None:
    """Take in the memory files that came with this folder, as notes.

    Until then a clone's files are left alone.

    Example: memlayer project accept
    """
    answer = ask(upkeep_ops.Files(project_dir(project), accept=True), as_json, is_long=True)
    say_files(answer)


def _given(name: str) -> str:
    if not name.strip():
        raise Incomplete("Give a project by id, folder or name. `memlayer project list` has them")
    return os.path.abspath(name) if name.startswith(".") or (os.sep in name and not name.startswith("~")) else name


def _choose(name: str, project: str | None, as_json: bool) -> None:
    """Choose a folder's project, and say how to take it back."""
    folder = project_dir(project)
    done = ask(ops.ChooseProject(folder, name))
    if as_json:
        end_with_json(done)
    say(f"{line(folder, 300)} belongs to ", (line(done.project), "bold"), f" ({done.project_id}) from now on.")
    if done.former_count:
        left = counted(done.former_count, "memory", "stay")
        say(f"{left} with {line(done.former)} ({done.former_id}).")
    say((f"To take it back: memlayer project join {done.former_id}", "dim"))
