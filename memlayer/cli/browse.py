"""The verbs that look memories up: show, list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.invocation import (
    ASK_S,
    all_projects_option,
    client,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.output import line, memory_title, number, print_json, say, when
from memlayer.core.citation import bare_id
from memlayer.core.privacy import plain
from memlayer.errors import UserError

CATEGORIES = ("core", "daily", "conversation", "custom")


@click.command("show")
@click.argument("id_", metavar="ID")
@json_option
def show_verb(id_: str, as_json: bool) -> None:
    """Show a memory with the events it comes from and its neighbours in the session.

    ID is a citation, a key, or the id itself. Two memories may share a citation; then both are shown.

    \b
    Examples:
      memlayer show a7Bc3x
      memlayer show "[mem:a7Bc3x]"
      memlayer show turn_2026-11-19_81d2
    """
    wanted = bare_id(plain(id_))
    if not wanted:
        raise UserError("the ID is empty")
    found = client().call("show", {"id": wanted}, deadline_s=ASK_S)
    matches = found.get("matches") or []
    if not matches:
        raise UserError(f"no memory has the id {line(wanted, 80)!r}: `memlayer search` finds citations and keys")
    if as_json:
        print_json(found)
        return
    for place, match in enumerate(matches):
        if place:
            say("")
        say_match(match)


def say_match(match: Mapping[str, Any]) -> None:
    """One memory in full."""
    memory = match.get("memory") or {}
    say(*memory_title(memory))
    say(
        (f"{line(memory.get('category'))} {line(memory.get('kind'))}, ", "dim"),
        (f"importance {number(memory.get('importance'))}, id {line(memory.get('id'))}", "dim"),
    )
    if memory.get("superseded_by"):
        say(("superseded by ", "yellow"), line(memory.get("superseded_by")))
    say_text(memory.get("text"))
    for event in match.get("events") or []:
        say((f"{line(event.get('kind'))}, {when(event.get('at_ms'))}, {line(event.get('source'))}", "bold"))
        say_text(event.get("text"))
    neighbours = match.get("neighbours") or []
    if neighbours:
        say(("In the same session", "bold"))
    for neighbour in neighbours:
        mark = "> " if neighbour.get("mine") else "  "
        say(mark, *memory_title(neighbour), "  ", line(neighbour.get("text"), 120))


def say_text(text: object) -> None:
    """A text in full, its own lines kept."""
    for part in plain(str(text or "")).split("\n"):
        say(part, indent=2)


@click.command("list")
@project_option
@all_projects_option
@click.option("--session", default="", metavar="ID", help="Only memories of this session.")
@click.option("--category", type=click.Choice(CATEGORIES), default=None, help="Only memories of this category.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Memories at most.")
@json_option
def list_verb(
    project: str | None, all_projects: bool, session: str, category: str | None, limit: int, as_json: bool
) -> None:
    """List memories, newest first.

    \b
    Examples:
      memlayer list
      memlayer list --all-projects --category core --limit 50
    """
    folder = project_dir(project, all_projects)
    asked = {"project_dir": folder, "session_id": session, "category": category or "", "limit": limit}
    found = client().call("list", asked, deadline_s=ASK_S, project_dir=folder)
    if as_json:
        print_json(found)
        return
    memories = found.get("memories") or []
    if not memories:
        say("No memories." if all_projects else f"No memories in this project ({folder}); try --all-projects.")
    for memory in memories:
        say(*memory_title(memory), ("  superseded" if memory.get("superseded_by") else "", "yellow"))
        say(line(memory.get("text"), 200), indent=2)
