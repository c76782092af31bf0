"""The verbs for files beside the store: files, quarantine."""

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
from memlayer.cli.terminal.output import counted, line, pairs, print_json, progress, say, when
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.ipc import ops
from memlayer.errors import UserError


@click.command("files")
@project_option
@global_option
@click.option("--now", is_flag=True, help="Read your changes and write the files now instead of within seconds.")
@json_option
def files_verb(project: str | None, is_global: bool, now: bool, as_json: bool) -> None:
    """Show the paths of a project's memory files.

    These are MEMORY.md, and a file for each day in memory/. They may be edited: a changed line changes its memory, a
    deleted line retires it, a new line is remembered.

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
    changes = found.get("taken_back") or {}
    if any(changes.values()):
        counts = ", ".join(f"{changes[name]} {name}" for name in ("added", "edited", "removed") if changes.get(name))
        say(f"Read back: {counts}.")
    if not found.get("folder"):
        say("No memory files: files.enabled is false, or the project is switched off. See `memlayer config`.")
    elif not found.get("files"):
        say(line(found.get("folder")), "  (empty: nothing is remembered yet)")
    for path in found.get("files") or []:
        say(line(path))
    for path, count in sorted((found.get("extra") or {}).items()):
        say(line(path), f"  also searched: {counted(count, 'file')}")
    for notice in found.get("notices") or []:
        say(("Note", "yellow"), f": {line(notice)}")


names_argument = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group("quarantine")
def quarantine_verb() -> None:
    """Show, retry or remove events that could not be read.

    \b
    Examples:
      memlayer quarantine list
      memlayer quarantine retry
      memlayer quarantine drop --all
    """


@quarantine_verb.command("list")
@json_option
def list_verb(as_json: bool) -> None:
    """List the events with time and reason. Does not start the daemon."""
    found = [_described(name, reason) for name, reason in spool.quarantined(home())]
    if as_json:
        print_json({"folder": paths.quarantine(home()), "events": found})
    elif not found:
        say("The quarantine is empty.")
    else:
        rows = [(str(event["name"]), f"{when(event['at_ms'])}  {line(event['reason'])}".strip()) for event in found]
        pairs(f"{len(found)} set aside in {line(paths.quarantine(home()))}", rows)


@quarantine_verb.command("retry")
@names_argument
@json_option
def retry_verb(names: tuple[str, ...], as_json: bool) -> None:
    """Read the named events again, or all.

    Events that still cannot be read go back into quarantine.

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
    left = [_described(name, reason) for name, reason in spool.quarantined(home()) if name in chosen]
    if as_json:
        print_json({"taken": len(chosen) - len(left), "left": left})
        return
    say(f"Stored: {len(chosen) - len(left)}. Still set aside: {len(left)}.")
    for event in left:
        say(str(event["name"]), f": {line(event['reason'])}", indent=2)


@quarantine_verb.command("drop")
@names_argument
@click.option("--all", "everything", is_flag=True, help="All events in quarantine.")
@json_option
def drop_verb(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Remove the named events, or all, with their texts for good.

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
    """Return the names, or all. Raises UserError for an unknown name."""
    known = [name for name, _ in spool.quarantined(home())]
    for name in names:
        if name not in known:
            raise UserError(f"{name} is not in quarantine; `memlayer quarantine list` shows the names")
    return list(dict.fromkeys(names)) or known


def _described(name: str, reason: str) -> dict[str, object]:
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
