"""The verb about memory files."""

from __future__ import annotations

import click

from memlayer.cli.terminal.invocation import LONG_S, client, global_option, json_option, project_dir, project_option
from memlayer.cli.terminal.output import counted, line, print_json, say
from memlayer.cli.terminal.progress import progress


@click.command("files")
@project_option
@global_option
@click.option("--now", is_flag=True, help="Read your changes back and write the files now; else within seconds.")
@json_option
def files_verb(project: str | None, is_global: bool, now: bool, as_json: bool) -> None:
    """Show where a project's memory files are: MEMORY.md, and memory/ with one file a day.

    They may be edited: a changed line changes the memory, a deleted one retires it, a new one is remembered.

    \b
    Examples:
      memlayer files
      memlayer files --now
    """
    folder = project_dir(project, is_global=is_global)
    with progress(as_json) as show:
        asked = {"project_dir": folder, "global": is_global, "now": now}
        found = client().call("files", asked, deadline_s=LONG_S, project_dir=folder, on_progress=show)
    if as_json:
        print_json(found)
        return
    taken = found.get("taken_back") or {}
    if any(taken.values()):
        counts = ", ".join(f"{taken[name]} {name}" for name in ("added", "edited", "removed") if taken.get(name))
        say(f"Read back: {counts}.")
    if not found.get("folder"):
        say("No memory files: files.enabled is false, or the project is switched off. See `memlayer config`.")
    elif not found.get("files"):
        say(line(found.get("folder")), "  (empty: nothing is remembered yet)")
    for path in found.get("files") or []:
        say(line(path))
    for path, count in sorted((found.get("extra") or {}).items()):
        say(line(path), f"  searched as well: {counted(count, 'file')}")
    for notice in found.get("notices") or []:
        say(("Note", "yellow"), f": {line(notice)}")
