"""The verb that forgets, after it has shown what will go."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import (
    LONG_S,
    Incomplete,
    all_projects_option,
    client,
    json_option,
    moment_ms,
    not_empty,
    project_dir,
    words,
)
from memlayer.cli.terminal.output import counted, line, memory_title, print_json, say
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.text.context_block import bare_id

SHOWN = 30
FORGET_WHAT = "Forget what? Give an ID, --session, --project, --query or --before"
NOTHING = "Nothing matches. Nothing is forgotten."
REMOVED = (("memories", "memory"), ("events", "event"), ("chunks", "chunk"))
MAX_IDS = 100


@click.command("forget")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--session", callback=not_empty, metavar="ID", help="Everything of this session.")
@click.option(
    "--project",
    callback=not_empty,
    metavar="PATH",
    help="Everything of this folder's project, or only what --query finds in it, or what is older than --before.",
)
@all_projects_option
@click.option("--global", "is_global", is_flag=True, help="With --query: look among what holds in every project.")
@click.option(
    "--query", callback=not_empty, metavar="TEXT", help="What this finds in the project of the folder you are in."
)
@click.option(
    "--before",
    callback=not_empty,
    metavar="DATE",
    help="What is older than 2026-11-19, or than 30d, in the project of the folder you are in.",
)
@click.option("--keep-sources", is_flag=True, help="Only the memories named, not the turns that they were drawn from.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Words on stdin are looked for and shown; ids are forgotten.")
@click.option("--yes", is_flag=True, help="Do not ask. Needed when nobody can be asked.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@json_option
def forget_verb(
    ids: tuple[str, ...],
    session: str | None,
    project: str | None,
    all_projects: bool,
    is_global: bool,
    query: str | None,
    before: str | None,
    keep_sources: bool,
    from_stdin: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Forget memories for good: from every table, from old versions of the store, from memory files and caches.

    A memory takes along the turns that it was drawn from, with their words, and whatever else was drawn from these;
    otherwise the words would stay. --keep-sources leaves them. A turn always goes with its words, and the summary of a
    session goes alone. Shows what will go and asks first. What is given together must hold together.

    \b
    Examples:
      memlayer forget a7Bc3x x9Yz2w
      memlayer forget core_81d2 --keep-sources
      memlayer forget --query "전화번호" --dry-run
      memlayer forget --project ~/src/old-shop --before 90d
      memlayer forget --all-projects --before 365d
    """
    if from_stdin:
        if ids or session or query or before or dry_run:
            raise Incomplete("--stdin goes with --project, --all-projects and --keep-sources alone")
        said_on_stdin(words((), True, FORGET_WHAT), project_dir(project, all_projects), keep_sources, as_json)
        return
    if is_global and (not query or project or all_projects):
        raise Incomplete("--global goes with --query alone. An ID needs no --global")
    if not (ids or session or project or query or before):
        raise Incomplete(FORGET_WHAT)
    if all_projects and not (query or before):
        raise Incomplete("--all-projects goes with --query or --before")
    if keep_sources and not (ids or query):
        raise Incomplete("--keep-sources goes with ids or --query")
    # A session and an id say by themselves where to look; anything else that names no project means this one.
    is_of_a_project = bool(query and not session) or not (ids or session)
    folder = folder_of(project, all_projects) if (project or is_of_a_project) and not is_global else ""
    asked: dict[str, Any] = {
        "ids": [bare_id(plain(one)) for one in ids],
        "session_id": session or "",
        "project_dir": folder,
        "global": is_global,
        "query": plain(query or ""),
        "before_ms": moment_ms(before) if before else 0,
        "keep_sources": keep_sources,
        "dry_run": True,
    }
    daemon = client()
    found = daemon.call("forget", asked, deadline_s=LONG_S, project_dir=folder)
    going = found.get("memories") or []
    # A session or a project may hold events that no memory stands for yet: there is something to forget.
    in_vain = not going and not found.get("events")
    if dry_run or in_vain:
        if as_json:
            print_json(found)
        elif in_vain:
            is_whole = project and not (query or ids)
            say(f"Nothing is remembered of {folder}. Nothing is forgotten." if is_whole else NOTHING)
        else:
            say_going(going, found.get("events"), "Would be forgotten")
        return
    if not yes:
        confirm(found, as_json)
    if query:  # what was shown is what goes, even if the search would find something else by now
        named = [str(memory.get("id")) for memory in going if not memory.get("along")]
        asked = {**asked, "query": "", "ids": named}
    done = daemon.call("forget", {**asked, "dry_run": False}, deadline_s=LONG_S, project_dir=folder)
    say_done(done, as_json)


def folder_of(project: str | None, all_projects: bool) -> str:
    """Like project_dir, but of a folder that never was, too: nothing is known of it, and nothing goes."""
    if project and not all_projects:
        return os.path.abspath(os.path.expanduser(project))
    return project_dir(project, all_projects)


def said_on_stdin(text: str, folder: str, keep_sources: bool, as_json: bool) -> None:
    """For who cannot be asked: ids that are all known are forgotten. With anything unknown among them they are only
    shown; where no word is an id the words are searched for."""
    daemon = client()
    asked = {"project_dir": folder, "keep_sources": keep_sources, "dry_run": True}
    ids = [bare_id(word) for word in text.split()[:MAX_IDS]]
    seen = daemon.call("forget", {**asked, "ids": ids, "tolerant": True}, deadline_s=LONG_S, project_dir=folder)
    unknown = [line(one, 80) for one in seen.get("unknown") or []]
    if unknown and seen.get("memories"):
        if not as_json:
            say(", ".join(f'"{one}"' for one in unknown) + (" is" if len(unknown) == 1 else " are") + " no citation.")
        say_found(seen, as_json)
        return
    if unknown:
        found = daemon.call("forget", {**asked, "query": text}, deadline_s=LONG_S, project_dir=folder)
        say_found(found, as_json)
        return
    done = daemon.call("forget", {**asked, "ids": ids, "dry_run": False}, deadline_s=LONG_S, project_dir=folder)
    say_done(done, as_json)


def say_found(found: Mapping[str, Any], as_json: bool) -> None:
    """What these words or ids find, and how it would be forgotten."""
    going = found.get("memories") or []
    if as_json:
        print_json(found)
    elif not going:
        say(NOTHING)
    else:
        say_going(going, found.get("events"), "Nothing is forgotten yet. This would go")
        named = " ".join(line(memory.get("citation")) for memory in going if not memory.get("along"))
        say("To forget it, give these ids instead: " + named)


def say_done(done: Mapping[str, Any], as_json: bool) -> None:
    """What went."""
    if as_json:
        print_json(done)
        return
    removed = done.get("removed") or {}
    if not any(removed.values()):
        say(NOTHING)
    else:
        say("Forgotten: " + ", ".join(counted(removed.get(name), one) for name, one in REMOVED) + ".")
    say_left(done)


def say_left(done: Mapping[str, Any]) -> None:
    """The memory files that nobody could take it out of; they are cleaned once they are mended."""
    for one in done.get("left") or []:
        say(("It may still stand in ", "yellow"), line(one))


def confirm(found: Mapping[str, Any], as_json: bool) -> None:
    """Show what will go and ask. Raises UserError at a no, and when nobody can be asked."""
    going = found.get("memories") or []
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        gone = counted(len(going), "memory") if going else counted(found.get("events"), "event")
        raise UserError(f"This would forget {gone}. Add --yes, or --dry-run to see them")
    say_going(going, found.get("events"), "Will be forgotten")
    if not click.confirm("Forget them for good?"):
        raise UserError("Nothing is forgotten")


def say_going(going: list[dict[str, Any]], events: object, title: str) -> None:
    """The memories that go; the first SHOWN of them."""
    words_go = f", with {counted(events, 'event')}" if events else ""
    say((f"{title}: {counted(len(going), 'memory')}{words_go}", "bold"))
    for memory in going[:SHOWN]:
        along = ("  drawn from the same turns", "yellow") if memory.get("along") else ""
        say(*memory_title(memory), "  ", line(memory.get("text"), 100), along, indent=2)
    if len(going) > SHOWN:
        say(f"... and {len(going) - SHOWN} more (--dry-run --json lists all)", indent=2)
