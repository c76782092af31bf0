"""The verbs that display memories: show, list."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import (
    ASK_S,
    all_projects_option,
    client,
    global_option,
    json_option,
    memory_ids,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, memory_title, number, print_json, say, say_body, when
from memlayer.edge.ipc import ops
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError

CATEGORIES = ("core", "daily", "conversation", "custom")


@click.command("show")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the IDs from stdin.")
@json_option
def show_verb(ids: tuple[str, ...], from_stdin: bool, as_json: bool) -> None:
    """Show memories with their source events and the turns around them.

    ID is a citation, a key, or the id itself. Two memories may share a citation; then both are shown.

    \b
    Examples:
      memlayer show a7Bc3x x9Yz2w
      memlayer show "[mem:a7Bc3x]."
      memlayer show turn_2026-11-19_81d2
    """
    wanted = memory_ids(ids, from_stdin)
    found = client().call("show", {"ids": wanted}, deadline_s=ASK_S)
    matches = found.get("matches") or []
    unknown = [line(id_, 80) for id_ in found.get("unknown") or ([] if matches else wanted)]
    if as_json and matches:
        print_json(found)
        sys.exit(1 if unknown else 0)
    for place, match in enumerate(matches):
        if place:
            say("")
        say_match(match)
    if unknown:
        raise UserError(f"No memory has the id {', '.join(map(repr, unknown))}. `memlayer search` shows citations")


def say_match(match: Mapping[str, Any]) -> None:
    """Print a memory in full."""
    memory = match.get("memory") or {}
    say(*memory_title(memory))
    say(
        (f"{line(memory.get('category'))} {line(memory.get('kind'))}, ", "dim"),
        (f"importance {number(memory.get('importance'))}, id {line(memory.get('id'))}", "dim"),
    )
    if memory.get("pinned"):
        say(("pinned", "green"))
    say_text(memory.get("text"))
    newer = match.get("newer") or []
    if memory.get("superseded_by") == memory.get("id"):
        say(("retired ", "yellow"), when(memory.get("superseded_ms")))
    elif memory.get("superseded_by"):
        say(
            ("replaced ", "yellow"),
            when(memory.get("superseded_ms")),
            "" if newer else ", by a memory that was forgotten since",
        )
        for successor in newer:
            say("by ", *memory_title(successor), "  ", line(successor.get("text"), 120), indent=2)
    older = match.get("older") or []
    if older:
        say(("Replaces", "bold"))
    for predecessor in older:
        say(*memory_title(predecessor), "  ", line(predecessor.get("text"), 120), indent=2)
    for event in match.get("events") or []:
        say((f"{line(event.get('kind'))}, {when(event.get('at_ms'))}, {line(event.get('source'))}", "bold"))
        say_text(event.get("text"))
    for source in match.get("missing") or []:
        since = when(source.get("at_ms"))[:10]
        removal = f"source {line(source.get('why'))}" + (f" on {since}" if since else "")
        say((removal, "yellow"), (f", id {line(source.get('id'), 12)}", "dim"))
    neighbours = match.get("neighbours") or []
    if neighbours:
        say(("In the same session", "bold"))
    for neighbour in neighbours:
        mark = "> " if neighbour.get("mine") else "  "
        say(mark, *memory_title(neighbour), "  ", line(neighbour.get("text"), 120))


def say_text(text: object) -> None:
    """Print a text in full, with its lines."""
    for part in plain(str(text or "")).split("\n"):
        say(part, indent=2)


@click.command("list")
@project_option
@all_projects_option
@global_option
@click.option("--session", default="", metavar="ID", help="Only memories of this session.")
@click.option("--category", type=click.Choice(CATEGORIES), default=None, help="Only memories of this category.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Memories at most.")
@click.option("--all", "with_superseded", is_flag=True, help="Also replaced memories.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the category from stdin; an empty line means all.")
@json_option
def list_verb(
    project: str | None,
    all_projects: bool,
    is_global: bool,
    session: str,
    category: str | None,
    limit: int,
    with_superseded: bool,
    from_stdin: bool,
    as_json: bool,
) -> None:
    """List memories, newest first, with those for every project.

    Replaced memories are left out, unless --all is given.

    \b
    Examples:
      memlayer list
      memlayer list --all-projects --category core --limit 50
    """
    folder = project_dir(project, all_projects, is_global)
    if from_stdin:
        category = plain(sys.stdin.read(1000)).strip().lower()
        if category not in ("", *CATEGORIES):
            raise UserError(f"{line(category, 40)!r} is no category. Give one of {', '.join(CATEGORIES)}")
    found = client().ask(
        ops.List(folder, is_global, session, category or "", limit, with_superseded), deadline_s=ASK_S
    )  # fmt: skip
    if as_json:
        print_json(found)
        return
    memories = found.get("memories") or []
    if not memories:
        is_wide = all_projects or is_global
        say("No memories yet." if is_wide else f"No memories in this project ({folder}). Try --all-projects.")
    for memory in memories:
        mark = "replaced" if memory.get("superseded_by") else "pinned" if memory.get("pinned") else ""
        say(*memory_title(memory), ("  " + mark if mark else "", "yellow"))
        say_body(memory.get("text"), 200)
