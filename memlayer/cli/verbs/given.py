"""The verbs about notes given to prompts: given, statusline."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import (
    all_projects_option,
    ask,
    json_option,
    not_empty,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import counted, line, number, say, when
from memlayer.edge.ipc import ops
from memlayer.edge.terminal import status_line

PROMPT_CHARS = 100
NOTE_CHARS = 160
LEFT_OUT_SHOWN = 3  # --json prints up to ten


@click.command("given")
@click.option("--last", type=click.IntRange(1, 500), default=5, show_default=True, help="Prompts at most.")
@click.option("--session", metavar="ID", callback=not_empty, help="Only prompts of this session, of any project.")
@project_option
@all_projects_option
@json_option
def given_verb(last: int, session: str | None, project: str | None, all_projects: bool, as_json: bool) -> None:
    """Show the notes that the last prompts were given, and why.

    For each prompt, newest first: its notes with their scores, and the best of the notes left out, with the reason
    (--json prints up to ten). Chance is the estimated probability that the prompt needs the note, from 0 to 1. The
    record holds ids and scores of at least the last hundred prompts; a note that was forgotten since is shown as
    forgotten.

    \b
    Examples:
      memlayer given
      memlayer given --last 1
      memlayer given --session 8f3a12cd --json
    """
    folder = "" if session and not project else project_dir(project, all_projects)
    found = ask(ops.Given(last, session or "", folder), as_json)
    prompts = found.get("prompts") or []
    if not prompts:
        where = f"session {line(session)}" if session else f"this project ({folder})" if folder else "any project"
        say(f"No prompt is on record in {where}.")
    for place, prompt in enumerate(prompts):
        if place:
            say("")
        say_prompt(prompt)


def say_prompt(prompt: Mapping[str, Any]) -> None:
    """Print a prompt or session start, its notes, and those left out."""
    given, left_out = prompt.get("given") or [], (prompt.get("left_out") or [])[:LEFT_OUT_SHOWN]
    say(
        (when(prompt.get("at_ms")), "dim"),
        "  ",
        (_title(prompt), "bold"),
        (f"  {line(prompt.get('project'))}  session {line(prompt.get('session_id'))[:8]}", "dim"),
    )
    if not prompt.get("delivered", True):
        say(("too late", "yellow"), ": the host went on without these notes", indent=2)
    if given:
        facts = [counted(len(given), "note"), f"{prompt.get('chars', 0)} characters"]
        facts += [f"{number(prompt['took_ms'], 0)} ms"] if "took_ms" in prompt else []
        facts += ["by words alone"] if prompt.get("mode") == "lexical" else []
        say(("given", "green"), f"  {', '.join(facts)}", indent=2)
    else:
        say(("nothing given", "yellow"), f": {_silence(prompt)}", indent=2)
    for note in given:
        say_note(note)
    if left_out:
        count = int(prompt.get("left_out_count") or 0)
        say(("left out", "dim"), f"  the best {len(left_out)} of {count}" if count > len(left_out) else "", indent=2)
    for note in left_out:
        say_note(note)


def say_note(note: Mapping[str, Any]) -> None:
    """Print a note, and below it the reason for its choice."""
    if note.get("forgotten"):
        say(("forgotten since", "yellow"), indent=4)
    else:
        citation = f"[mem:{line(note.get('citation'))}]"
        say((citation, "cyan"), f" {line(note.get('day'))}: {line(note.get('text'), NOTE_CHARS)}", indent=4)
    why = _why(note)
    if why:
        say((why, "dim"), indent=6)


def _title(prompt: Mapping[str, Any]) -> str:
    if "start" in prompt:
        return f"session start ({line(prompt.get('start'))})"
    text = prompt.get("prompt")
    return line(text, PROMPT_CHARS) if text else "(prompt not kept, or forgotten)"


def _why(note: Mapping[str, Any]) -> str:
    """Return the scores and the reason in words."""
    facts = []
    if note.get("chance") is not None:
        scores = [("words", note.get("lexical")), ("meaning", note.get("vector"))]
        parts = ", ".join(f"{name} {number(value)}" for name, value in scores if value is not None)
        facts.append(f"chance {number(note['chance'])}" + (f" ({parts})" if parts else ""))
    reason = line(note.get("reason"))
    if reason not in ("", "kept"):
        facts.append(reason)
    if note.get("newer"):
        facts.append(f"older than [mem:{line(note['newer'])}]")
    return "; ".join(facts)


def _silence(prompt: Mapping[str, Any]) -> str:
    """Return the reason why a prompt was given no note."""
    if prompt.get("gate"):
        return line(prompt["gate"])
    count = int(prompt.get("left_out_count") or 0)
    return f"none of {counted(count, 'memory')} was fit" if count else "no memory resembles it"


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
    sys.exit(status_line.main(["--json"] if as_json else []))
