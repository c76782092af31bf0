"""files and quarantine: what lies beside the store."""

from __future__ import annotations

import os

import click

from memlayer.cli.terminal.invocation import (
    LONG_S,
    client,
    global_option,
    home,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import counted, line, pairs, print_json, say, when
from memlayer.cli.terminal.progress import progress
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.ipc import ops
from memlayer.errors import UserError


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
        found = client().ask(ops.Files(folder, is_global, now), deadline_s=LONG_S, on_progress=show)
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


names_argument = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group("quarantine")
def quarantine_verb() -> None:
    """Events that could not be read: look at them, take them in again, or remove them.

    \b
    Examples:
      memlayer quarantine list
      memlayer quarantine retry
      memlayer quarantine drop --all
    """


@quarantine_verb.command("list")
@json_option
def list_verb(as_json: bool) -> None:
    """Show each with its time and the reason. Starts nothing."""
    found = [_told(name, reason) for name, reason in spool.quarantined(home())]
    if as_json:
        print_json({"folder": paths.quarantine(home()), "events": found})
    elif not found:
        say("Nothing is set aside.")
    else:
        rows = [(str(one["name"]), f"{when(one['at_ms'])}  {line(one['reason'])}".strip()) for one in found]
        pairs(f"{len(found)} set aside in {line(paths.quarantine(home()))}", rows)


@quarantine_verb.command("retry")
@names_argument
@json_option
def retry_verb(names: tuple[str, ...], as_json: bool) -> None:
    """Take them in again: all of them, or those named. What still cannot be read is set aside again.

    \b
    Examples:
      memlayer quarantine retry
    """
    chosen = _chosen(names)
    for name in chosen:
        spool.give_back(home(), name)
    if chosen:
        with progress(as_json) as show:
            client().call("flush", {"wait": True}, deadline_s=LONG_S, on_progress=show)
    left = [_told(name, reason) for name, reason in spool.quarantined(home()) if name in chosen]
    if as_json:
        print_json({"taken": len(chosen) - len(left), "left": left})
        return
    say(f"Taken in: {len(chosen) - len(left)}. Still set aside: {len(left)}.")
    for one in left:
        say(str(one["name"]), f": {line(one['reason'])}", indent=2)


@quarantine_verb.command("drop")
@names_argument
@click.option("--all", "everything", is_flag=True, help="All of them.")
@json_option
def drop_verb(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Remove them, with what was said in them, for good: those named, or all.

    \b
    Examples:
      memlayer quarantine drop --all
    """
    if bool(names) == everything:
        raise click.UsageError("give the names that `memlayer quarantine list` shows, or --all")
    chosen = _chosen(names)
    for name in chosen:
        spool.drop_quarantined(home(), name)
    if as_json:
        print_json({"dropped": len(chosen)})
    else:
        say(f"Removed: {len(chosen)}.")


def _chosen(names: tuple[str, ...]) -> list[str]:
    """These, or all. Raises UserError for one that is not there."""
    known = [name for name, _ in spool.quarantined(home())]
    for name in names:
        if name not in known:
            raise UserError(f"{name}: nothing of that name is set aside; `memlayer quarantine list` shows what is")
    return list(dict.fromkeys(names)) or known


def _told(name: str, reason: str) -> dict[str, object]:
    try:
        event, _ = spool.load(os.path.join(paths.quarantine(home()), name))
    except OSError:
        event = None
    return {
        "name": name,
        "at_ms": spool.at_ms_of(name),
        "kind": str(event["kind"]) if event else "",
        "session_id": str(event["session_id"]) if event else "",
        "reason": reason,
    }
