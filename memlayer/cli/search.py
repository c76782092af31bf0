"""The verbs that ask the memory: search, and recall as the hook would."""

from __future__ import annotations

import sys
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
    words,
)
from memlayer.cli.output import line, memory_title, number, print_json, say

SNIPPET_CHARS = 400


@click.command("search")
@click.argument("query", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the query from stdin.")
@project_option
@all_projects_option
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Hits at most.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Only hits this relevant: what recall admits by, not the score that orders them.",
)
@json_option
def search_verb(
    query: tuple[str, ...],
    from_stdin: bool,
    project: str | None,
    all_projects: bool,
    limit: int,
    min_score: float,
    as_json: bool,
) -> None:
    """Search what was said and decided in earlier sessions.

    \b
    Examples:
      memlayer search order events
      memlayer search 결제 모듈 --all-projects --limit 3
      echo "it's normalize_cart()" | memlayer search --stdin
    """
    text = words(query, from_stdin, "query")
    folder = project_dir(project, all_projects)
    asked = {"query": text, "project_dir": folder, "limit": limit, "min_score": min_score}
    found = client().call("search", asked, deadline_s=ASK_S, project_dir=folder)
    if as_json:
        print_json(found)
        return
    say_mode(found)
    hits = found.get("hits") or []
    done = found.get("done") or []
    if not hits and not done:
        where = "in any project" if all_projects else f"in this project ({folder}); --all-projects searches every one"
        say(f"Nothing found for {line(text, 120)!r} {where}.")
        return
    for place, hit in enumerate(hits, 1):
        if place > 1:
            say("")
        say(f"{place}. ", *memory_title(hit), "  ", (f"score {number(hit.get('score'))}", "green"))
        if hit.get("lines"):
            say((line(hit.get("lines")), "cyan"), indent=3)
        say(line(hit.get("snippet"), SNIPPET_CHARS), indent=3)
        say((score_parts(hit.get("parts")), "dim"), indent=3)
    if done:
        say("")
        say(("Done in", "bold"))
    for turn in done:
        say(*memory_title(turn), indent=2)
        say(line(turn.get("snippet"), SNIPPET_CHARS), indent=4)


@click.command("recall")
@click.argument("prompt", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the prompt from stdin.")
@project_option
@click.option("--session", default="", metavar="ID", help="As if asked in this session: what it knows is left out.")
@click.option("--explain", is_flag=True, help="Say for every candidate why it was kept or dropped.")
@json_option
def recall_verb(
    prompt: tuple[str, ...], from_stdin: bool, project: str | None, session: str, explain: bool, as_json: bool
) -> None:
    """Print exactly what the hook would add to a prompt; nothing when it would add nothing.

    \b
    Examples:
      memlayer recall "which database holds order events?"
      memlayer recall "과제 제출은 어떻게 하기로 했지?" --project ~/src/shop --explain
    """
    text = words(prompt, from_stdin, "prompt")
    folder = project_dir(project)
    asked = {"prompt": text, "project_dir": folder, "session_id": session}
    found = client().call("recall", asked, deadline_s=ASK_S, project_dir=folder)
    if as_json:
        print_json(found)
        return
    block = str(found.get("block") or "")
    if not explain:
        sys.stdout.write(block + ("\n" if block and sys.stdout.isatty() else ""))
        return
    say_explanation(found)
    say(("Block", "bold"), f" ({len(block)} characters)" if block else ": none, the prompt goes on unchanged")
    if block:
        print(block)


def say_explanation(found: Mapping[str, Any]) -> None:
    """Everything about a recall but its block."""
    say_mode(found)
    took = found.get("took_ms")
    say(
        ("Gate", "bold"),
        f" {line(found.get('gate')) or 'open'}",
        f", {number(took, 0)} ms" if took is not None else "",
    )
    for query in found.get("queries") or []:
        say(("Query", "bold"), f" {line(query)}")
    candidates = found.get("candidates") or []
    say(("Candidates", "bold"), f" {len(candidates)}")
    for candidate in candidates:
        kept = bool(candidate.get("kept"))
        reason = line(candidate.get("reason"))
        say(
            ("kept    " if kept else "dropped ", "green" if kept else "yellow"),
            *memory_title(candidate),
            f"  score {number(candidate.get('score'))}",
            f"  {reason}" if reason else "",
            indent=2,
        )
        say((score_parts(candidate.get("parts")), "dim"), indent=10)
        say(line(candidate.get("snippet"), SNIPPET_CHARS), indent=10)


def say_mode(found: Mapping[str, Any]) -> None:
    """A line when the search went without meaning, and why."""
    if found.get("mode") == "lexical":
        why = line(found.get("why"))
        say(("Full-text search only", "yellow"), f": {why}" if why else "")


def score_parts(parts: object) -> str:
    """What a score is made of."""
    if not isinstance(parts, dict):
        return ""
    got = {str(name): number(value) for name, value in parts.items()}
    legs = ", ".join(f"{name} {got.pop(name)}" for name in ("lexical", "vector") if name in got)
    relevance = f"relevance {got.pop('relevance', '-')}" + (f" ({legs})" if legs else "")
    return ", ".join([relevance, *(f"{name} {value}" for name, value in got.items())])
