"""The verb forget: shows the selected memories, asks, erases them."""

import os
from collections.abc import Sequence
from typing import Literal

import click

from memlayer.cli.terminal.invocation import (
    STREAM,
    Incomplete,
    agree,
    all_projects_option,
    ask,
    is_terminal,
    json_option,
    moment_ms,
    not_empty,
    project_dir,
    words,
    yes_option,
)
from memlayer.cli.terminal.output import line, memory_title, print_json, say
from memlayer.edge.counting import counted
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.wire import curation as ops

SHOWN = 30
NO_SELECTION = "Give an ID, --session, --project, --query or --before"
TRANSCRIPT = "Claude Code's own transcript still holds the conversation; memlayer does not change it."
NOTHING = "Nothing matches. Nothing is forgotten."
NO_WORDS = "Nothing has these words whole, and nothing is forgotten. Near in meaning, to forget by ID:"
REMOVED: Sequence[tuple[Literal["memories", "events", "chunks"], str]] = (
    ("memories", "memory"),
    ("events", "event"),
    ("chunks", "chunk"),
)
MAX_IDS = 100


@click.command("forget")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--session", callback=not_empty, metavar="ID", help="Everything of this session.")
@click.option(
    "--project",
    callback=not_empty,
    metavar="PATH",
    help="Everything in this folder's project; with --query or --before only the matches in it.",
)
@all_projects_option
@click.option(
    "--query", callback=not_empty, metavar="TEXT", help="Everything in the project that has each of these words whole."
)
@click.option(
    "--before",
    callback=not_empty,
    metavar="DATE",
    help="Everything in the project that is older than 2026-11-19, or than 30d.",
)
@click.option("--keep-sources", is_flag=True, help="Only the memories named, not the turns they were drawn from.")
@yes_option
@click.option("--dry-run", is_flag=True, help="Only show the memories that would be forgotten.")
@json_option
def forget_verb(
    ids: tuple[str, ...],
    session: str | None,
    project: str | None,
    all_projects: bool,
    query: str | None,
    before: str | None,
    keep_sources: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Forget memories for good.

    They go out of all tables, old versions of the store, memory files and caches.

    The turns that a memory was drawn from are forgotten with it, and so is everything else drawn from these turns.
    Otherwise their words would stay. --keep-sources keeps the turns. A turn is always forgotten with its words, the
    summary of a session alone. Shows the selection and asks first. Several conditions must hold together. --query and
    --before search the project of the current folder, unless another one is given. --query selects the memories that
    have each of its words whole, best match first, for a person in a terminal to choose from: TKT-100 is not TKT-1000.
    `-` reads ids, or words to search for, from standard input. It asks no question.

    \b
    Examples:
      memlayer forget a7Bc3x x9Yz2w
      memlayer forget core_81d2 --keep-sources
      memlayer forget --query "전화번호" --dry-run
      memlayer forget --project ~/src/old-shop --before 90d
      memlayer forget --all-projects --before 365d
    """
    if ids == (STREAM,):
        if session or query or before or dry_run:
            raise Incomplete("- goes with --project, --all-projects and --keep-sources alone")
        forget_typed(words(ids, NO_SELECTION), project_dir(project, all_projects), keep_sources, as_json)
        return
    if not (ids or session or project or query or before):
        raise Incomplete(NO_SELECTION)
    if all_projects and not (query or before):
        raise Incomplete("--all-projects goes with --query or --before")
    if keep_sources and not (ids or query):
        raise Incomplete("--keep-sources goes with ids or --query")
    # A session or an id identifies its project. Every other selection without a project means the current one.
    is_of_a_project = bool(query and not session) or not (ids or session)
    folder = folder_of(project, all_projects) if project or is_of_a_project else ""
    wanted = ops.Forget(
        tuple(map(plain, ids)), session or "", folder, plain(query or ""),
        moment_ms(before) if before else 0, keep_sources, dry_run=True,
    )  # fmt: skip
    answer = ask(wanted, is_long=True, quiet=True)
    if query and not (dry_run or yes or as_json) and is_terminal():
        wanted, answer = picked(wanted, answer)
    # A session or a project may hold events that no memory was made of yet. They can be forgotten, too.
    is_empty = not answer.memories and not answer.events
    if dry_run or is_empty:
        if as_json:
            print_json(answer)
        elif is_empty and project and not (query or ids):
            say(f"Nothing is remembered of {folder}. Nothing is forgotten.")
        else:
            say_selected(answer, "Would be forgotten")
        return
    if not yes:
        confirm(answer, as_json)
    elif query and not as_json:
        say_selected(answer, "Will be forgotten")
    if query:  # forget the memories that were shown, even if the search would find others by now
        wanted = wanted.changed(query="", ids=tuple(memory.id for memory in answer.memories if not memory.along))
    say_done(ask(wanted.changed(dry_run=False), as_json, is_long=True))


def picked(wanted: ops.Forget, answer: ops.Forgotten) -> tuple[ops.Forget, ops.Forgotten]:
    """Have a person choose among the found rows. Raises UserError for none."""
    rows = [memory for memory in answer.memories if not memory.along] + answer.near
    if len(rows) == 1 and not answer.near:
        return wanted, answer
    say(("With these words:" if answer.memories else NO_WORDS, "bold"))
    for number, memory in enumerate(rows, 1):
        say(f"{number:>3} ", *memory_title(memory), "  ", line(memory.text, 100), indent=2)
    numbers = click.prompt("Forget which? Numbers such as 1 3, or all", default="none").replace(",", " ").split()
    ids = [row.id for number, row in enumerate(rows, 1) if numbers == ["all"] or str(number) in numbers]
    if not ids:
        raise UserError("Nothing is forgotten")
    wanted = wanted.changed(query="", ids=tuple(ids))
    return wanted, ask(wanted, is_long=True, quiet=True)


def folder_of(project: str | None, all_projects: bool) -> str:
    """Return a folder as project_dir does, also where it never existed."""
    if project and not all_projects:
        return os.path.abspath(os.path.expanduser(project))
    return project_dir(project, all_projects)


def forget_typed(text: str, folder: str, keep_sources: bool, as_json: bool) -> None:
    """Forget the ids in a text, if all are known.

    It asks no question. With an unknown word among them the memories are only shown. Where no word is an id, the words
    are searched for.
    """
    wanted = ops.Forget(
        tuple(text.split()[:MAX_IDS]), project_dir=folder, keep_sources=keep_sources, dry_run=True, tolerant=True
    )
    answer = ask(wanted, is_long=True, quiet=True)
    unknown = [line(word, 80) for word in answer.unknown]
    if unknown and answer.memories:
        if not as_json:
            say(", ".join(f'"{word}"' for word in unknown) + (" is" if len(unknown) == 1 else " are") + " no citation.")
        say_found(answer, as_json)
    elif unknown:
        say_found(ask(wanted.changed(query=text, ids=(), tolerant=False), is_long=True, quiet=True), as_json)
    else:
        say_done(ask(wanted.changed(dry_run=False, tolerant=False), as_json, is_long=True))


def say_found(answer: ops.Forgotten, as_json: bool) -> None:
    """Print the memories that words select, and how to forget them."""
    if as_json:
        print_json(answer)
        return
    say_selected(answer, "Nothing is forgotten yet. This would go")
    if answer.memories:
        named = " ".join(line(memory.citation) for memory in answer.memories if not memory.along)
        say("To forget it, give these ids instead: " + named)


def say_done(done: ops.Forgotten) -> None:
    """Print the number of rows that were erased."""
    removed = done.removed
    if not any(getattr(removed, name) for name, _ in REMOVED):
        say(NOTHING)
    else:
        say("Forgotten: " + ", ".join(counted(getattr(removed, name), noun) for name, noun in REMOVED) + ".")
        if done.in_transcript:
            say(TRANSCRIPT)
    say_left(done.left)


def say_left(left: Sequence[str]) -> None:
    """Print memory files to be cleaned once they can be read."""
    for path in left:
        say(("It may still stand in ", "yellow"), line(path))


def confirm(answer: ops.Forgotten, as_json: bool) -> None:
    """Show the selection and ask. Raises UserError at a no."""
    rows = counted(len(answer.memories), "memory") if answer.memories else counted(answer.events, "event")
    agree(
        "Forget them for good?", would=f"This would forget {rows}. Add --yes, or --dry-run to see them",
        no="Nothing is forgotten", as_json=as_json, show=lambda: say_selected(answer, "Will be forgotten"),
    )  # fmt: skip


def say_selected(answer: ops.Forgotten, title: str) -> None:
    """Print the first SHOWN memories to be forgotten, else the near ones."""
    rows = answer.memories
    if rows or answer.events:
        with_events = f", with {counted(answer.events, 'event')}" if answer.events else ""
        say((f"{title}: {counted(len(rows), 'memory')}{with_events}", "bold"))
    else:
        rows = answer.near
        say(NO_WORDS if rows else NOTHING)
    for memory in rows[:SHOWN]:
        along = ("  drawn from the same turns", "yellow") if memory.along else ""
        say(*memory_title(memory), "  ", line(memory.text, 100), along, indent=2)
    if len(rows) > SHOWN:
        say(f"... and {len(rows) - SHOWN} more (--dry-run --json lists all)", indent=2)
