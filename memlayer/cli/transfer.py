"""The verbs that bring in what was said before, and take everything out: import, export."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from memlayer.cli.invocation import LONG_S, client, json_option, not_empty
from memlayer.cli.output import duration, line, pairs, print_json, say
from memlayer.cli.progress import progress
from memlayer.errors import UserError

_MARK = "memlayer_export"


@click.command("import")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--project", callback=not_empty, metavar="PATH", help="Only what was said in this folder's project.")
@click.option("--subagents", is_flag=True, help="Also what sub-agents were told and answered.")
@click.option("--again", is_flag=True, help="Read everything again, also what an earlier import has read.")
@click.option("--dry-run", is_flag=True, help="Only count what would be taken in.")
@json_option
def import_verb(
    paths: tuple[str, ...], project: str | None, subagents: bool, again: bool, dry_run: bool, as_json: bool
) -> None:
    """Take in what was said before memlayer was there: the host's transcripts, or an export.

    Without a PATH all transcripts of Claude Code on this machine, newest first. A PATH is a transcript, a folder of
    them, or a file that `memlayer export` has written. What is known is not doubled, and what was forgotten stays
    forgotten. An import that was interrupted goes on where it was.

    \b
    Examples:
      memlayer import --dry-run
      memlayer import --project ~/src/shop
      memlayer import backup.jsonl
    """
    given = [os.path.abspath(os.path.expanduser(path)) for path in paths]
    exports = [path for path in given if is_export(path)]
    if exports:
        if len(given) > 1 or project or subagents or again:
            raise UserError("an export is imported alone, and as a whole")
        import_export(exports[0], dry_run, as_json)
        return
    asked: dict[str, Any] = {"subagents": subagents, "again": again, "dry_run": dry_run}
    asked["paths"] = given or [transcripts_folder()]
    asked["project_dir"] = os.path.abspath(os.path.expanduser(project)) if project else ""
    with progress(as_json) as show:
        done = client().call("import", asked, deadline_s=LONG_S, on_progress=show)
    if given and not project and not done.get("files") and not done.get("unchanged"):
        why = ", ".join(f"{line(reason)} {count(number)}" for reason, number in (done.get("skipped") or {}).items())
        raise UserError(
            f"no transcript and no export is in {', '.join(given)}" + (f" (left out: {why})" if why else "")
        )
    if as_json:
        print_json(done)
        return
    title = "Would be imported" if dry_run else "Imported"
    names = (
        ("transcripts", "files"), ("unchanged since", "unchanged"), ("lines", "lines"), ("turns", "turns"),
        ("new", "new_turns"), ("known already", "known_turns"),
    )  # fmt: skip
    seconds = done.get("seconds")
    took = duration(seconds) if isinstance(seconds, int | float) else ""
    pairs(title, [*((label, count(done.get(name))) for label, name in names), ("time", took)])
    skipped = done.get("skipped") or {}
    pairs("Left out", [(line(reason), count(number)) for reason, number in skipped.items()])


@click.command("export")
@click.argument("file", metavar="FILE")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@json_option
def export_verb(file: str, force: bool, as_json: bool) -> None:
    """Write everything that memlayer holds to a file, as JSON Lines that `memlayer import` reads.

    Projects, sessions, events and memories; also what holds no more. Only you can read the file.

    \b
    Examples:
      memlayer export ~/memories-2026-11-19.jsonl
    """
    path = os.path.abspath(os.path.expanduser(file))
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise UserError(f"{path} cannot be written: give a file in a folder that exists")
    with progress(as_json) as show:
        done = client().call("export", {"path": path, "force": force}, deadline_s=LONG_S, on_progress=show)
    if as_json:
        print_json(done)
        return
    held = ", ".join(f"{count(done.get(name))} {name}" for name in ("projects", "sessions", "events", "memories"))
    say(f"Written to {line(path)}: {held}.")


def import_export(path: str, dry_run: bool, as_json: bool) -> None:
    """Take in an export."""
    with progress(as_json) as show:
        done = client().call(
            "import_export", {"path": path, "dry_run": dry_run}, deadline_s=LONG_S, on_progress=show
        )  # fmt: skip
    if as_json:
        print_json(done)
        return
    names = ("projects", "sessions", "events", "memories", "known", "forgotten")
    pairs("Would be imported" if dry_run else "Imported", [(name, count(done.get(name))) for name in names])


def is_export(path: str) -> bool:
    """Whether a file begins as an export does."""
    try:
        with open(path, "rb") as file:
            head = json.loads(file.readline(4096))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(head, dict) and _MARK in head


def transcripts_folder() -> str:
    """Where the host keeps its transcripts. Raises UserError when it has none."""
    folder = os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")
    if not os.path.isdir(folder):
        raise UserError(f"there are no transcripts in {folder}; give a PATH")
    return os.path.abspath(folder)


def count(value: object) -> str:
    """A number with its thousands apart; "" for none."""
    return f"{value:,}" if isinstance(value, int) else ""
