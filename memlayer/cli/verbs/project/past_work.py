"""Verbs on past work: blame of a file, fix of an error."""

from __future__ import annotations

import click

from memlayer.cli.terminal.invocation import ask, complete_file, json_option, project_dir, project_option
from memlayer.cli.terminal.output import line, say, session_name, when
from memlayer.edge.counting import counted
from memlayer.wire import memories as memory_ops
from memlayer.wire import sessions as session_ops

TEXT_CHARS = 240
TURNS_SHOWN = 6


@click.command("blame")
@click.argument("path", shell_complete=complete_file)
@project_option
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Rows of each kind at most.")
@json_option
def blame_verb(path: str, project: str | None, limit: int, as_json: bool) -> None:
    """Show a file's notes, failed attempts on it, and its sessions.

    PATH is absolute, or the end of a path by whole folders. Notes name their files where a language model wrote them.

    \b
    Examples:
      memlayer show --file checkout.py
      memlayer show --file src/결제/정산.py --json
    """
    answer = ask(session_ops.Blame(path, project_dir(project, False), limit), as_json)
    notes, attempts, sessions = answer.memories, answer.attempts, answer.sessions
    if not (notes or attempts or sessions):
        say(f"Nothing is kept about {line(path)} in this project.")
    _say_rows("Notes", notes)
    _say_rows("Attempts that did not hold", attempts)
    if sessions:
        say(("Sessions that changed it", "bold"))
    for row in sessions:
        turns = " ".join(f"[mem:{line(name)}]" for name in row.turns[:TURNS_SHOWN])
        say(
            f"{when(row.at_ms)}  {session_name(row.session_id)}  {counted(row.edits, 'edit')}  ",
            (turns, "cyan"),
            indent=2,
        )


@click.command("fix")
@click.argument("error")
@project_option
@click.option("--limit", type=click.IntRange(1, 200), default=10, show_default=True, help="Rows of each kind at most.")
@json_option
def fix_verb(error: str, project: str | None, limit: int, as_json: bool) -> None:
    """Show what worked after this error in earlier sessions.

    ERROR is a line of the error, or all of its output. Quotes, paths, numbers and hashes in it do not matter.

    \b
    Examples:
      memlayer search --error "testenv.go:40:26: undefined: defaultAgent"
      memlayer search --error "오류: 샌드박스 상점에 접속할 권한이 없습니다"
    """
    answer = ask(session_ops.Fix(error, project_dir(project, False), limit), as_json)
    notes, cures, met = answer.memories, answer.cures, answer.met
    _say_rows("Notes", notes)
    if cures:
        say(("Worked afterwards", "bold"))
    for row in cures:
        say((f"[mem:{line(row.citation)}]", "cyan"), f" {when(row.at_ms)[:10]}: ", indent=2)
        say(line(row.command, TEXT_CHARS), indent=4)
    if not notes and not cures:
        known = f"It came in {counted(met, 'session')}" if met else "No session has met this error"
        say(f"{known}, and nothing is known to have worked." if met else f"{known}.")


def _say_rows(title: str, rows: list[memory_ops.MemoryRow]) -> None:
    if rows:
        say((title, "bold"))
    for row in rows:
        head = f"[mem:{line(row.citation)}]"
        say((head, "cyan"), f" {when(row.at_ms)[:10]}: {line(row.text, TEXT_CHARS)}", indent=2)
