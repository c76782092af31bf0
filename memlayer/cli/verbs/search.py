"""The verbs of recall: search, recall, given, statusline."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from memlayer import kinds
from memlayer.cli.terminal.invocation import (
    Incomplete,
    all_projects_option,
    ask,
    complete_file,
    end_ms,
    form_option,
    json_option,
    moment_ms,
    not_empty,
    project_dir,
    project_option,
    words,
)
from memlayer.cli.terminal.output import (
    line,
    memory_title,
    number,
    say,
    say_body,
    session_name,
    short_path,
    when,
)
from memlayer.cli.verbs.browse import CATEGORIES, say_for_model
from memlayer.edge.counting import counted
from memlayer.text.context_block import quoted
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire import tools as tool_ops
from memlayer.wire.sessions import GivenNote, GivenPrompt

SNIPPET_CHARS = 400
NO_WORDS = "Give words to search for, or - to read them from standard input"
NO_PROMPT = "Give a prompt's text, or - to read it from standard input"

PROMPT_CHARS = 100
NOTE_CHARS = 160
LEFT_OUT_SHOWN = 3  # --json prints up to ten


@click.command("search")
@click.argument("query", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the query from stdin.")
@project_option
@all_projects_option
@click.option("--since", metavar="DATE", help="Only memories from 2026-11-19 on, or of the last 30d.")
@click.option("--until", metavar="DATE", help="Only memories until 2026-11-19 (included), or older than 30d.")
@click.option("--day", metavar="DATE", help="Only memories of this day.")
@click.option("--category", type=click.Choice(CATEGORIES), default=None, help="Only memories of this category.")
@click.option("--kind", default="", metavar="KIND", help="Only this kind: decision, preference, fact, turn, ...")
@click.option("--session", metavar="ID", callback=not_empty, help="Only memories of this session, of any project.")
@click.option(
    "--file",
    default="",
    metavar="NAME",
    shell_complete=complete_file,
    help="Only memories from this file, or that name it: MEMORY.md, checkout.py, docs/*.md.",
)
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Hits at most.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    default=0.0,
    show_default=True,
    help="Only hits of at least this relevance, which is not the score that orders them.",
)
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--brief", is_flag=True, help="Print the index that a model gets: a line a hit, 20 at most.")
@form_option("--error", "What worked after this error in earlier sessions.")
@form_option("--as-prompt", "The block that the hook would add to this prompt.")
@json_option
def search_verb(
    query: tuple[str, ...],
    from_stdin: bool,
    project: str | None,
    all_projects: bool,
    since: str | None,
    until: str | None,
    day: str | None,
    category: str | None,
    kind: str,
    session: str | None,
    file: str,
    limit: int,
    min_score: float,
    explain: bool,
    brief: bool,
    as_json: bool,
) -> None:
    """Search memories of earlier sessions.

    \b
    Examples:
      memlayer search order events
      memlayer search 결제 모듈 --all-projects --limit 3
      memlayer search 배포 --category core --since 30d
      memlayer search order events --brief
      echo "it's normalize_cart()" | memlayer search -
    """
    text = words(query, from_stdin, NO_WORDS)
    folder = "" if session and not project else project_dir(project, all_projects)
    if brief:
        if any((since, until, day, kind, file, min_score, explain)):
            raise Incomplete("--brief goes with --category, --session and --limit alone")
        called = kinds.CATEGORIES[kinds.Category(category)].name if category else ""
        index = tool_ops.MemSearch(text, limit, session or "", called, project_dir=folder)
        say_for_model(ask(index, as_json))
        return
    span = span_of(since, until, day)
    wanted = memory_ops.Search(text, folder, limit, min_score, *span, category or "", kind, session or "", file)
    answer = ask(wanted, as_json)
    say_mode(answer)
    hits, done = answer.hits, answer.done
    if not hits and not done:
        is_filtered = any((since, until, day, category, kind, session, file))
        rest = " with these filters" if is_filtered else ""
        where = "in any project" if not folder else f"in this project ({folder}). Try other words, or --all-projects"
        say(f"Nothing found for {quoted(text, 120)}{rest} {where}.")
        return
    for place, hit in enumerate(hits, 1):
        if place > 1:
            say("")
        say(f"{place}. ", *memory_title(hit), "  ", (f"score {number(hit.score)}", "green"))
        if hit.path:
            lines = f":{hit.start_line}-{hit.end_line}"
            say((short_path(line(hit.path)) + lines, "cyan"), indent=3)
        say_body(hit.snippet, SNIPPET_CHARS, indent=3)
        if explain:
            say((score_parts(hit.parts), "dim"), indent=3)
    if done:
        say("")
        say(("Done in", "bold"))
    for turn in done:
        say(*memory_title(turn), indent=2)
        say(line(turn.snippet, SNIPPET_CHARS), indent=4)
    first = line((hits or done)[0].citation)
    say("")
    say((f"All of a hit: `memlayer show {first}`; the turns around it: `memlayer show --around {first}`.", "dim"))


def span_of(since: str | None, until: str | None, day: str | None) -> tuple[int, int]:
    """Return the time bounds in ms, 0 for none. Raises Incomplete."""
    if day and (since or until):
        raise Incomplete("Give --day, or --since and --until, not both")
    start, end = day or since, day or until
    return moment_ms(start) if start else 0, end_ms(end) if end else 0


@click.command("recall")
@click.argument("prompt", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the prompt from stdin.")
@project_option
@click.option("--session", metavar="ID", callback=not_empty, help="As in this session: leave out memories that it has.")
@click.option("--explain", is_flag=True, help="Show for every candidate why it was kept or dropped.")
@json_option
def recall_verb(
    prompt: tuple[str, ...], from_stdin: bool, project: str | None, session: str | None, explain: bool, as_json: bool
) -> None:
    """Print the block that the hook would add to a prompt.

    Prints nothing where the hook would add none.

    \b
    Examples:
      memlayer search --as-prompt "which database holds order events?"
      memlayer search --as-prompt "과제 제출은 어떻게 하기로 했지?" --project ~/src/shop --explain
    """
    text = words(prompt, from_stdin, NO_PROMPT)
    folder = project_dir(project)
    answer = ask(memory_ops.Recall(text, folder, session or "", explain or as_json), as_json)
    block = answer.block
    if not explain:
        sys.stdout.write(block + ("\n" if block and sys.stdout.isatty() else ""))
        return
    say_explanation(answer)
    say(("Block", "bold"), f" ({len(block)} characters)" if block else ": none, the prompt goes on unchanged")
    if block:
        print(block)


def say_explanation(answer: memory_ops.Recalled) -> None:
    """Print everything about a recall except its block."""
    say_mode(answer)
    say(("Gate", "bold"), f" {line(answer.gate) or 'open'}, {number(answer.took_ms, 0)} ms")
    for name, query in zip(("Query", "Terms"), answer.queries, strict=False):
        say((name, "bold"), f" {line(query)}")
    candidates = answer.candidates
    say(("Candidates", "bold"), f" {len(candidates)}")
    for candidate in candidates:
        kept = candidate.kept
        reason = line(candidate.reason)
        say(
            ("kept    " if kept else "dropped ", "green" if kept else "yellow"),
            *memory_title(candidate),
            f"  score {number(candidate.score)}",
            f"  {reason}" if reason else "",
            indent=2,
        )
        say((score_parts(candidate.parts), "dim"), indent=10)
        say(line(candidate.snippet, SNIPPET_CHARS), indent=10)


def say_mode(answer: memory_ops.SearchMode) -> None:
    """Print the reason if the search was by full text only."""
    if answer.mode == "lexical":
        why = line(answer.why)
        say(("Full-text search only", "yellow"), f": {why}" if why else "")


def score_parts(parts: Mapping[str, float | None]) -> str:
    """Return the parts of a score on one line."""
    scores = {name: number(value) for name, value in parts.items()}
    legs = ", ".join(f"{name} {scores.pop(name)}" for name in ("lexical", "vector") if name in scores)
    relevance = f"relevance {scores.pop('relevance', '-')}" + (f" ({legs})" if legs else "")
    return ", ".join([relevance, *(f"{name} {value}" for name, value in scores.items())])


@click.command("given")
@click.option("--last", type=click.IntRange(1, 500), default=5, show_default=True, help="Prompts and starts at most.")
@click.option("--session", metavar="ID", callback=not_empty, help="Only prompts of this session, of any project.")
@project_option
@all_projects_option
@json_option
def given_verb(last: int, session: str | None, project: str | None, all_projects: bool, as_json: bool) -> None:
    """Show the notes that the last prompts were given, and why.

    For each prompt, newest first: its notes with their scores, and the best of the notes left out, with the reason
    (--json prints up to ten). Chance is the estimated probability that the prompt needs the note, from 0 to 1. The
    record holds ids and scores of at least the last hundred prompts. A note that was forgotten since is shown as
    forgotten.

    \b
    Examples:
      memlayer given
      memlayer given --last 1
      memlayer given --session 8f3a12cd --json
    """
    folder = "" if session and not project else project_dir(project, all_projects)
    answer = ask(session_ops.Given(last, session or "", folder), as_json)
    prompts = answer.prompts
    if not prompts:
        where = f"session {line(session)}" if session else f"this project ({folder})" if folder else "any project"
        say(f"No prompt is on record in {where}.")
    for place, prompt in enumerate(prompts):
        if place:
            say("")
        say_prompt(prompt)


def say_prompt(prompt: GivenPrompt) -> None:
    """Print a prompt or session start, its notes, and those left out."""
    given, left_out = prompt.given, prompt.left_out[: None if prompt.start else LEFT_OUT_SHOWN]
    say(
        (when(prompt.at_ms), "dim"),
        "  ",
        (_title(prompt), "bold"),
        (f"  {line(prompt.project)}  session {session_name(prompt.session_id)}", "dim"),
    )
    if not prompt.delivered:
        say(("too late", "yellow"), ": the host went on without these notes", indent=2)
    if given:
        facts = [counted(len(given), "note"), f"{prompt.chars} characters"]
        facts += [f"{number(prompt.took_ms, 0)} ms"] if prompt.took_ms or prompt.took_ms == 0 else []
        facts += [line(prompt.place)] if prompt.place else []
        facts += ["by words alone"] if prompt.mode == "lexical" else []
        say(("given", "green"), f"  {', '.join(facts)}", indent=2)
    else:
        say(("nothing given", "yellow"), f": {line(prompt.silence)}", indent=2)
    for note in given:
        say_note(note)
    if left_out:
        count = prompt.left_out_count or 0
        most = "first" if prompt.start else "best"
        say(("left out", "dim"), f"  the {most} {len(left_out)} of {count}" if count > len(left_out) else "", indent=2)
    for note in left_out:
        say_note(note)


def say_note(note: GivenNote) -> None:
    """Print a note, and below it the reason for its choice."""
    memory = note.memory
    if memory is None:
        say(("forgotten since", "yellow"), indent=4)
    else:
        citation = f"[mem:{line(memory.citation)}]"
        say((citation, "cyan"), f" {when(memory.at_ms)[:10]}: {line(memory.text, NOTE_CHARS)}", indent=4)
    why = _why(note)
    if why:
        say((why, "dim"), indent=6)


def _title(prompt: GivenPrompt) -> str:
    if prompt.start:
        return f"session start ({line(prompt.start)})"
    text = prompt.prompt
    return line(text, PROMPT_CHARS) if text else "(prompt not kept, or forgotten)"


def _why(note: GivenNote) -> str:
    """Return the scores and the reason in words."""
    facts = []
    if note.chance is not None:
        scores = [("words", note.lexical), ("meaning", note.vector)]
        parts = ", ".join(f"{name} {number(value)}" for name, value in scores if value is not None)
        facts.append(f"chance {number(note.chance)}" + (f" ({parts})" if parts else ""))
    reason = line(note.reason)
    if reason not in ("", "kept"):
        facts.append(reason)
    if note.why:
        facts.append(line(note.why))
    if note.newer:
        facts.append(f"older than [mem:{line(note.newer)}]")
    return "; ".join(facts)


@click.command("statusline")
@json_option
def statusline_verb(as_json: bool) -> None:
    """Print Claude Code's status line: notes given, turns waiting, errors.

    Reads the host's status line JSON on stdin and files of the memlayer home only: it needs no daemon and starts none.
    In ~/.claude/settings.json:

    \b
      {"statusLine": {"type": "command", "command": "memlayer statusline"}}
    \b
    Examples:
      echo '{"session_id": "8f3a12cd"}' | memlayer statusline
    """
    from memlayer.edge.terminal import status_line

    sys.exit(status_line.main(["--json"] if as_json else []))
