"""The verbs of recall: search, given, statusline."""

import sys
from collections.abc import Mapping

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    all_projects_option,
    ask,
    complete_file,
    end_ms,
    json_option,
    moment_ms,
    none_here,
    not_empty,
    project_dir,
    project_option,
    words,
)
from memlayer.cli.terminal.output import line, memory_title, number, say, say_body, session_name, short_path, when
from memlayer.cli.verbs.browse import CATEGORIES, say_rows
from memlayer.edge.counting import counted
from memlayer.text.context_block import quoted
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire.sessions import GivenNote, GivenPrompt

SNIPPET_CHARS, COMMAND_CHARS = 400, 240
NO_WORDS = "Give words to search for, or - to read them from standard input"

PROMPT_CHARS = 100
NOTE_CHARS = 160
LEFT_OUT_SHOWN = 3  # --json prints up to ten


@click.command("search")
@click.argument("query", nargs=-1)
@project_option
@all_projects_option
@click.option("--since", metavar="DATE", help="Only memories from 2026-11-19 on, or of the last 30d.")
@click.option("--until", metavar="DATE", help="Only memories until 2026-11-19 (included), or older than 30d.")
@click.option("--kind", metavar="KIND", default="", help="Only core, daily, conversation, or decision, fact, ...")
@click.option("--session", metavar="ID", callback=not_empty, help="Only memories of this session, of any project.")
@click.option(
    "--file",
    default="",
    metavar="NAME",
    shell_complete=complete_file,
    help="Only memories from this file, or that name it: MEMORY.md, checkout.py, docs/*.md.",
)
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Hits at most.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--error", "is_error", is_flag=True, help="QUERY is an error: what worked after it in earlier sessions.")
@click.option("--as-prompt", is_flag=True, help="QUERY is a prompt: the block that the hook would add to it.")
@json_option
def search_verb(
    query: tuple[str, ...],
    project: str | None,
    all_projects: bool,
    since: str | None,
    until: str | None,
    kind: str,
    session: str | None,
    file: str,
    limit: int,
    explain: bool,
    is_error: bool,
    as_prompt: bool,
    as_json: bool,
) -> None:
    """Search memories of earlier sessions.

    An error is a line of it, a part of one, or all of its output. Quotes, paths, numbers and hashes do not matter.

    \b
    Examples:
      memlayer search order events
      memlayer search 결제 모듈 --all-projects --limit 3
      memlayer search 배포 --kind core --since 30d
      echo "it's normalize_cart()" | memlayer search -
      memlayer search --error "오류: 샌드박스 상점에 접속할 권한이 없습니다"
      memlayer search --as-prompt "which database holds order events?" --explain
    """
    text = words(query, NO_WORDS)
    filters = (since, until, kind, file)
    if (is_error or as_prompt) and (any(filters) or all_projects or (is_error and (session or as_prompt or explain))):
        raise Incomplete("--error and --as-prompt go with no filter, and not together")
    if is_error:
        say_cures(ask(session_ops.Fix(text, project_dir(project), limit), as_json))
        return
    if as_prompt:
        show_block(text, project_dir(project), session or "", explain=explain, as_json=as_json)
        return
    folder = "" if session and not project else project_dir(project, all_projects)
    category, kind = (kind, "") if kind in CATEGORIES else ("", kind)
    span = moment_ms(since) if since else 0, end_ms(until) if until else 0
    answer = ask(memory_ops.Search(text, folder, limit, 0.0, *span, category, kind, session or "", file), as_json)
    say_mode(answer)
    if answer.hits or answer.done:
        say_hits(answer, explain)
        return
    rest = " with these filters" if any((*filters, session)) else ""
    where = "in any project" if not folder else f"in this project ({folder}). Try other words, or --all-projects"
    say(none_here(f"Nothing found for {quoted(text, 120)}{rest} {where}."))


def say_hits(answer: memory_ops.Hits, explain: bool) -> None:
    """Print the hits, and the turns whose tool calls hold the words."""
    hits, done = answer.hits, answer.done
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
    say("")
    say((f"All of a hit, and the turns around it: `memlayer show {line((hits or done)[0].citation)}`.", "dim"))


def say_cures(answer: session_ops.Cures) -> None:
    """Print the cures of an error in earlier sessions."""
    say_rows("Notes", answer.memories)
    if answer.cures:
        say(("Worked afterwards", "bold"))
    for row in answer.cures:
        command = line(row.command, COMMAND_CHARS)
        say((f"[mem:{line(row.citation)}]", "cyan"), f" {when(row.at_ms)[:10]}: {command}", indent=2)
    if not answer.memories and not answer.cures:
        known = f"It came in {counted(answer.met, 'session')}" if answer.met else "No session has met this error"
        say(f"{known}, and nothing is known to have worked." if answer.met else f"{known}.")


def show_block(prompt: str, folder: str, session: str, *, explain: bool, as_json: bool) -> None:
    """Print the block that the hook would add to a prompt."""
    answer = ask(memory_ops.Recall(prompt, folder, session, explain or as_json), as_json)
    block = answer.block
    if not explain:
        print(block, end="\n" if block else "")
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
    signals = [f"{name} {'yes' if value is True else number(value)}" for name, value in answer.signals.items() if value]
    say(("Need", "bold"), f" {number(answer.need)}" + f" ({', '.join(signals)})" * bool(signals))
    candidates = answer.candidates
    say(("Candidates", "bold"), f" {len(candidates)}")
    for candidate in candidates:
        kept = candidate.kept
        reason = line(candidate.reason)
        say(
            ("kept    " if kept else "dropped ", "green" if kept else "yellow"),
            *memory_title(candidate),
            f"  chance {number(candidate.chance)}",
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
@json_option
def given_verb(last: int, session: str | None, project: str | None, as_json: bool) -> None:
    """Show the notes that the last prompts were given, and why.

    For each prompt, newest first: its notes with their scores, and the best of the notes left out, with the reason
    (--json prints up to ten). Chance is the estimated probability that the prompt needs the note, from 0 to 1. The
    record holds ids and scores of at least the last hundred prompts. A forgotten prompt is in it no more, a
    note that was forgotten since is shown as that.

    \b
    Examples:
      memlayer given
      memlayer given --last 1
      memlayer given --session 8f3a12cd --json
    """
    folder = "" if session and not project else project_dir(project)
    answer = ask(session_ops.Given(last, session or "", folder), as_json)
    prompts = answer.prompts
    if not prompts:
        where = f"session {line(session)}" if session else f"this project ({folder})"
        say(none_here(f"No prompt is on record in {where}."))
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
        (f"  {line(prompt.project)}  session {session_name(prompt.session_id, prompt.host)}", "dim"),
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
    if prompt.action:
        return f"{line(prompt.action)} a call"
    text = prompt.prompt
    return line(text, PROMPT_CHARS) if text else "(prompt not kept)"


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
