"""The verbs that display memories: show, list."""

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    all_projects_option,
    ask,
    end_with_json,
    json_option,
    memory_id,
    memory_ids,
    none_here,
    not_empty,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, memory_title, number, say, say_body, say_headline, session_name, when
from memlayer.cli.terminal.typist import mark_of_model
from memlayer.edge.counting import counted
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.kinds import Category, Ended, Kind
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops

NEWEST = "newest"
CITED = (NEWEST, "popular", "unused")
ROW_CHARS = 240
PAST_SHOWN = 10  # rows of each kind about a file
TURNS_SHOWN = 6
CATEGORIES = tuple(category.value for category in Category)


@click.command("show")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--history", "is_history", is_flag=True, help="Every version of a memory, the current one first.")
@click.option("--file", "is_file", is_flag=True, help="ID is a file: its notes, failed attempts and sessions.")
@json_option
def show_verb(ids: tuple[str, ...], is_history: bool, is_file: bool, as_json: bool) -> None:
    """Show memories, their sources and the turns around them.

    ID is a citation, a key, or the id itself. Two memories may share a citation. Then both are shown. A file is an
    absolute path, or the end of a path by whole folders.

    \b
    Examples:
      memlayer show a7Bc3x x9Yz2w
      memlayer show turn_2026-11-19_81d2
      memlayer show --history a7Bc3x
      memlayer show --file src/결제/정산.py
    """
    if is_history and is_file:
        raise Incomplete("Give --history or --file, not both")
    if is_file:
        if len(ids) != 1:
            raise Incomplete("Give one file")
        say_past_of_file(ids[0], ask(session_ops.Blame(ids[0], project_dir(None), PAST_SHOWN), as_json))
        return
    if is_history:
        answer = ask(memory_ops.History(memory_id(ids)), as_json)
        for version in answer.versions:
            say_version(version, version.id == answer.asked)
        return
    show_memories(memory_ids(ids), as_json)


def show_memories(ids: list[str], as_json: bool) -> None:
    """Print memories in full. Raises UserError for an unknown id."""
    answer = ask(memory_ops.Show(tuple(ids)))
    matches = answer.matches
    unknown = [line(id_, 80) for id_ in answer.unknown or ([] if matches else ids)]
    if as_json and matches:
        end_with_json(answer, 1 if unknown else 0)
    for place, match in enumerate(matches):
        if place:
            say("")
        say_match(match)
    if unknown:
        which = "No memory of this project" if mark_of_model() else "No memory"
        raise UserError(f"{which} has the id {', '.join(map(repr, unknown))}. `memlayer search` shows citations")


def say_past_of_file(path: str, answer: session_ops.FileHistory) -> None:
    """Print a file's notes, failed attempts on it, and its sessions."""
    notes, attempts, sessions = answer.memories, answer.attempts, answer.sessions
    if not (notes or attempts or sessions):
        say(f"Nothing is kept about {line(path)} in this project.")
    say_rows("Notes", notes)
    say_rows("Attempts that did not hold", attempts)
    if sessions:
        say(("Sessions that changed it", "bold"))
    for row in sessions:
        turns = " ".join(f"[mem:{line(name)}]" for name in row.turns[:TURNS_SHOWN])
        head = f"{when(row.at_ms)}  {session_name(row.session_id)}  {counted(row.edits, 'edit')}  "
        say(head, (turns, "cyan"), indent=2)


def say_rows(title: str, rows: list[memory_ops.MemoryRow]) -> None:
    """Print memories below a title, a line each."""
    if rows:
        say((title, "bold"))
    for row in rows:
        head = f"[mem:{line(row.citation)}]"
        say((head, "cyan"), f" {when(row.at_ms)[:10]}: {line(row.text, ROW_CHARS)}", indent=2)


def say_version(version: memory_ops.Version, is_asked: bool) -> None:
    """Print a version of a memory, its writer and its sources."""
    ended = when(version.ended_ms) if version.ended_because else ""
    colour = "yellow" if version.ended_because else "green"
    say(
        "> " if is_asked else "  ",
        (line(version.ended_because) or "in force", colour),
        f" {ended}  " if ended else "  ",
        *memory_title(version),
    )
    say_text(version.text)
    say((f"by {line(version.by)}", "dim"), indent=2)
    sources = [
        f"{line(source.kind)} {when(source.at_ms)} {session_name(source.session_id)}" for source in version.sources
    ]
    if sources:
        say(("from " + ", ".join(sources), "dim"), indent=2)


def say_match(match: memory_ops.Shown) -> None:
    """Print a memory in full."""
    memory = match.memory
    say(*memory_title(memory))
    say(
        (f"{line(memory.category)} {line(memory.kind)}, ", "dim"),
        (f"importance {number(memory.importance)}, id {line(memory.id)}", "dim"),
    )
    if memory.pinned:
        say(("pinned", "green"))
    say_headline(memory)
    say_text(memory.text)
    newer = match.newer
    if memory.ended_because:
        lost = ", by a memory that was forgotten since" if memory.superseded_by and not newer else ""
        say((line(memory.ended_because), "yellow"), f" {when(memory.ended_ms)}{lost}")
        for successor in newer:
            say("by ", *memory_title(successor), "  ", line(successor.text, 120), indent=2)
    for heading, is_own in (("Worded before", True), ("Replaces", False)):
        older = [row for row in match.older if (row.ended_because == Ended.REWORDED) is is_own]
        if older:
            say((heading, "bold"))
        for predecessor in older:
            say(*memory_title(predecessor), "  ", line(predecessor.text, 120), indent=2)
    say_proof(match)
    for event in match.events:
        say((f"{line(event.kind)}, {when(event.at_ms)}, {line(event.source)}", "bold"))
        say_text(event.text)
    cited = match.cited_in
    if cited:
        sessions = ", ".join(f"{session_name(use.session_id)} ({when(use.at_ms)[:10]})" for use in cited[:12])
        say((f"Cited in {counted(len(cited), 'session')}", "bold"), f": {sessions}")
    for source in match.missing:
        since = when(source.at_ms)[:10]
        removal = f"source {line(source.why)}" + (f" on {since}" if since else "")
        say((removal, "yellow"), (f", id {line(source.id, 12)}", "dim"))
    for turn in match.said_again[:12]:
        say(("Said again ", "bold"), *memory_title(turn))
    beside = match.beside
    if beside:
        say(("Beside", "bold"), ": " + ", ".join(line(told, 100) for told in beside[:12]))
    neighbours = match.neighbours
    if neighbours:
        say(("In the same session", "bold"))
    for neighbour in neighbours:
        mark = "> " if neighbour.mine else "  "
        say(mark, *memory_title(neighbour), "  ", line(neighbour.text, 120))


def say_proof(match: memory_ops.Shown) -> None:
    """Print a statement's level and the words that it rests on."""
    growth = match.growth
    if growth:
        parts = [
            f"level L{growth['level']} ({line(growth['name'])})",
            f"{counted(growth['accesses'], 'use')}, confidence {growth['confidence']:.2f}",
            *([f"said in {growth['said']} sessions"] if growth["said"] > 1 else []),
            *([f"not {line(growth['reason'])}"] if growth["reason"] else []),
        ]
        say((", ".join(parts), "dim"))
    was_edited = any(row.ended_because == Ended.REWORDED for row in match.older)
    for row in match.quotes:
        say(
            ("Rested on" if was_edited else "Rests on", "bold"),
            f" the {'person' if row.speaker == 'user' else 'model'}'s words, {when(row.at_ms)}",
            (", before it was edited" if was_edited else "", "dim"),
            ("" if row.confidence == 1 else f", similar ones: {row.confidence:.0%}", "dim"),
        )
        say_text(row.quote)


def say_text(text: str) -> None:
    """Print a text in full, with its lines."""
    for part in plain(text).split("\n"):
        say(part, indent=2, is_ours=False)


@click.command("list")
@click.argument("category", metavar="[CATEGORY]", type=click.Choice(CATEGORIES, False), required=False)
@project_option
@all_projects_option
@click.option("--session", metavar="ID", callback=not_empty, help="Only memories of this session, of any project.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Memories at most.")
@click.option("--all", "with_superseded", is_flag=True, help="Also memories that hold no more.")
@click.option("--cited", type=click.Choice(CITED), help="Those that answers cited; unused: those that none cited.")
@json_option
def list_verb(
    category: str | None,
    project: str | None,
    all_projects: bool,
    session: str | None,
    limit: int,
    with_superseded: bool,
    cited: str | None,
    as_json: bool,
) -> None:
    """List memories, newest first, with those for every project.

    Without a category core memories stand first. Those that hold no more are left out, unless --all is given. It says
    why: replaced by another one, an earlier wording of one, or retired. --cited popular and unused: of the last 30
    days. Your rules alone: `memlayer rules`.

    \b
    Examples:
      memlayer list
      memlayer list core --all-projects --limit 50
      memlayer list --cited popular
    """
    folder = "" if session and not project else project_dir(project, all_projects)
    if cited:
        order = "" if cited == NEWEST else cited
        say_cited(ask(memory_ops.Citations(order, limit, folder), as_json).memories, order)
    else:
        wanted = memory_ops.List(folder, session or "", category or "", limit, with_superseded)
        rows = ask(wanted, as_json).memories
        if not (category or session or with_superseded):  # core memories first
            held = ask(memory_ops.List(folder, "", Category.CORE, limit)).memories
            rows = [*held, *(row for row in rows if row not in held and row.category != Category.CORE)][:limit]
        say_memories(rows, folder, session or "")


def say_memories(memories: list[memory_ops.MemoryRow], folder: str, session: str) -> None:
    """Print memories, the kind and state of each."""
    if not memories:
        of_session = f" of session {line(session)}" if session else " yet"
        place = f" in this project ({folder}). Try --all-projects" if folder else of_session
        say(none_here(f"No memories{place}."))
    for memory in memories:
        mark = line(memory.ended_because) or ("pinned" if memory.pinned else "")
        kind = "" if memory.kind == Kind.TURN else line(memory.kind)
        say(*memory_title(memory), ("  " + kind if kind else "", "bold"), ("  " + mark if mark else "", "yellow"))
        say_headline(memory)
        say_body(memory.text, 200)


def say_cited(memories: list[memory_ops.CitedMemory], order: str) -> None:
    """Print memories with the uses of each."""
    if not memories:
        say("No memory was shown often and never cited." if order == "unused" else "No answer has cited a memory yet.")
    for memory in memories:
        say(*memory_title(memory))
        told = f"cited {counted(memory.cited, 'time')} in {counted(memory.cited_sessions, 'session')}"
        last = f", last {when(memory.last_cited_ms)[:10]}" if memory.last_cited_ms else ""
        say((f"{told}{last}, shown to {counted(memory.shown_sessions, 'session')}", "dim"), indent=2)
        say_body(memory.text, 160)
