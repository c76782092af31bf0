"""The verbs that display memories: show, list, rules."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    all_projects_option,
    ask,
    end_with_json,
    form_option,
    global_option,
    json_option,
    memory_ids,
    not_empty,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import (
    line,
    memory_title,
    number,
    say,
    say_body,
    say_headline,
    session_name,
    when,
)
from memlayer.cli.terminal.typist import mark_of_model
from memlayer.edge.counting import counted
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import UserError
from memlayer.kinds import Category, Kind
from memlayer.text.context_block import quoted
from memlayer.wire import memories as memory_ops
from memlayer.wire import tools as tool_ops

MAX_RULES = 600
# State of a memory that holds no more -> how a person reads it.
CATEGORIES = tuple(category.value for category in Category)


@click.command("show")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the IDs from stdin.")
@click.option("--brief", is_flag=True, help="Print the text that a model gets: 5,000 tokens at most.")
@form_option("--around", "The turns around it, a line each.")
@form_option("--history", "Every version of it, the current one first.")
@form_option("--file", "Notes, failed attempts and sessions of a file, in place of the ID.")
@json_option
def show_verb(ids: tuple[str, ...], from_stdin: bool, brief: bool, as_json: bool) -> None:
    """Show memories, their sources and the turns around them.

    ID is a citation, a key, or the id itself. Two memories may share a citation. Then both are shown.

    \b
    Examples:
      memlayer show a7Bc3x x9Yz2w
      memlayer show "[mem:a7Bc3x]."
      memlayer show turn_2026-11-19_81d2
    """
    wanted = memory_ids(ids, from_stdin)
    if brief:
        end_with_text(ask(tool_ops.MemDetails(tuple(wanted))), as_json)
    answer = ask(memory_ops.Show(tuple(wanted)))
    matches = answer.matches
    unknown = [line(id_, 80) for id_ in answer.unknown or ([] if matches else wanted)]
    if as_json and matches:
        end_with_json(answer, 1 if unknown else 0)
    for place, match in enumerate(matches):
        if place:
            say("")
        say_match(match)
    if unknown:
        which = "No memory of this project" if mark_of_model() else "No memory"
        raise UserError(f"{which} has the id {', '.join(map(repr, unknown))}. `memlayer search` shows citations")


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
    older = match.older
    if older:
        say(("Replaces", "bold"))
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
    for row in match.quotes:
        say(
            ("Rests on", "bold"),
            f" the {'person' if row.speaker == 'user' else 'model'}'s words, {when(row.at_ms)}",
            (f", {line(row.method)} {row.confidence:.2f}", "dim"),
        )
        say_text(row.quote)


def say_text(text: str) -> None:
    """Print a text in full, with its lines."""
    for part in plain(text).split("\n"):
        say(part, indent=2, is_ours=False)


@click.command("list")
@click.argument("only", metavar="[CATEGORY]", type=click.Choice(CATEGORIES), required=False)
@project_option
@all_projects_option
@global_option
@click.option("--session", metavar="ID", callback=not_empty, help="Only memories of this session, of any project.")
@click.option("--category", type=click.Choice(CATEGORIES), default=None, help="Only memories of this category.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Memories at most.")
@click.option("--all", "with_superseded", is_flag=True, help="Also memories that hold no more.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the category from stdin; an empty line means all.")
@form_option("--cited", "Those that answers cited, the newest citation first.")
@json_option
def list_verb(
    only: str | None,
    project: str | None,
    all_projects: bool,
    is_global: bool,
    session: str | None,
    category: str | None,
    limit: int,
    with_superseded: bool,
    from_stdin: bool,
    as_json: bool,
) -> None:
    """List memories, newest first, with those for every project.

    Memories that hold no more are left out, unless --all is given. It says why: replaced by another one, an earlier
    wording of one, or retired.

    \b
    Examples:
      memlayer list
      memlayer list core --all-projects --limit 50
    """
    if only and category not in (None, only):
        raise Incomplete("Give one category")
    category = category or only
    folder = "" if session and not project else project_dir(project, all_projects, is_global)
    if from_stdin:
        category = plain(sys.stdin.read(1000)).strip().lower()
        if category not in ("", *CATEGORIES):
            raise UserError(f"{quoted(category, 40)} is no category. Give one of {', '.join(CATEGORIES)}")
    answer = ask(memory_ops.List(folder, is_global, session or "", category or "", limit, with_superseded), as_json)
    memories = answer.memories
    if not memories:
        of_session = f" of session {line(session)}" if session else " yet"
        place = f" in this project ({folder}). Try --all-projects" if folder else of_session
        say(f"No memories{place}.")
    for memory in memories:
        mark = line(memory.ended_because) or ("pinned" if memory.pinned else "")
        kind = "" if memory.kind == Kind.TURN else line(memory.kind)
        say(*memory_title(memory), ("  " + kind if kind else "", "bold"), ("  " + mark if mark else "", "yellow"))
        say_headline(memory)
        say_body(memory.text, 200)


@click.command("rules")
@project_option
@json_option
def rules_verb(project: str | None, as_json: bool) -> None:
    """Print your rules in force, as lines for CLAUDE.md.

    Those of this project and of every project: pinned ones first, then the proven, then the newest.

    \b
    Examples:
      memlayer rules
      memlayer rules >> CLAUDE.md
    """
    rules = ask(memory_ops.List(project_dir(project), limit=MAX_RULES, rules=True), as_json).memories
    for rule in rules:
        click.echo(f"- {line(rule.text)}")
    if not rules:
        say("No rule of yours is in force here. `memlayer remember` takes one.", to_stderr=True)


@click.command("timeline")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--session", metavar="ID", callback=not_empty, help="All turns of this session instead.")
@click.option("--window", type=click.IntRange(1, 10), default=3, show_default=True, help="Turns on either side.")
@project_option
@all_projects_option
@json_option
def timeline_verb(
    ids: tuple[str, ...], session: str | None, window: int, project: str | None, all_projects: bool, as_json: bool
) -> None:
    """Show the turns around memories, or of a session, a line each.

    \b
    Examples:
      memlayer show --around a7Bc3x
      memlayer show --around a7Bc3x --window 6
      memlayer show --around --session 8f3a12cd
    """
    if session:
        if ids:
            raise Incomplete("Give ids of memories or --session, not both")
        folder = project_dir(project, all_projects) if project else ""
        end_with_text(ask(tool_ops.MemTimeline(project_dir=folder, session=session)), as_json)
    folder = project_dir(project, all_projects)
    end_with_text(ask(tool_ops.MemTimeline(tuple(memory_ids(ids)), window, folder)), as_json)


def end_with_text(answer: tool_ops.TextForModel, as_json: bool) -> NoReturn:
    """Print the text about named memories; exit code 1 for none known."""
    code = 0 if answer.ids else 1
    if as_json:
        end_with_json(answer, code)
    say_for_model(answer)
    sys.exit(code)


def say_for_model(answer: tool_ops.TextForModel) -> None:
    """Print the text of an answer of the model's tools."""
    for shown in answer.text.split("\n"):
        say(plain(shown))


@click.command("citations")
@click.option("--popular", is_flag=True, help="The most cited first.")
@click.option("--unused", is_flag=True, help="Shown to at least three sessions, and cited by none.")
@click.option(
    "--days", type=click.IntRange(1, 3650), help="Only the last days; default with --popular and --unused: 30."
)
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="Memories at most.")
@project_option
@all_projects_option
@json_option
def citations_verb(
    popular: bool, unused: bool, days: int | None, limit: int, project: str | None, all_projects: bool, as_json: bool
) -> None:
    """List the memories that answers cited, the newest citation first.

    \b
    Examples:
      memlayer list --cited
      memlayer list --cited --popular --days 30 --limit 10
      memlayer list --cited --unused --all-projects
    """
    if popular and unused:
        raise Incomplete("Give --popular or --unused, not both")
    folder = project_dir(project, all_projects)
    order = "popular" if popular else "unused" if unused else ""
    answer = ask(memory_ops.Citations(order, days or 0, limit, folder), as_json)
    memories = answer.memories
    if not memories:
        say("No memory was shown often and never cited." if unused else "No answer has cited a memory yet.")
    for memory in memories:
        say(*memory_title(memory))
        told = f"cited {counted(memory.cited, 'time')} in {counted(memory.cited_sessions, 'session')}"
        last = f", last {when(memory.last_cited_ms)[:10]}" if memory.last_cited_ms else ""
        say((f"{told}{last}, shown to {counted(memory.shown_sessions, 'session')}", "dim"), indent=2)
        say_body(memory.text, 160)
