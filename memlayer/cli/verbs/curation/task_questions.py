"""Questions on tasks in the verb review."""

from __future__ import annotations

import click

from memlayer.cli.terminal.output import line, say, when
from memlayer.wire import curation as ops

QUOTE_CHARS, TITLE_CHARS = 200, 90
NONE, SKIP, UNDO, QUIT = "n", "s", "u", "q"
# Status that a sentence reports -> the question about one task, about several.
QUESTIONS = {
    "done": ("Is this task done?", "Is one of these tasks done?"),
    "cancelled": ("Is this task dropped?", "Is one of these tasks dropped?"),
    "blocked": ("Is this task blocked?", "Is one of these tasks blocked?"),
    "in_progress": ("Is this task being worked on?", "Is one of these tasks being worked on?"),
    "pending": ("Is this task open?", "Is one of these tasks open?"),
}


def say_question(row: ops.TaskAsked, place: str = "") -> None:
    """Print a question, the sentence that raised it, and the tasks."""
    candidates = row.candidates
    question = QUESTIONS[row.wish][len(candidates) > 1]
    say(place, (question, "yellow"), "  ", (line(row.id), "bold"), f"  {when(row.at_ms)}")
    say(f'"{line(row.quote, QUOTE_CHARS)}"', indent=2)
    for number, task in enumerate(candidates, 1):
        citation = (f"[mem:{line(task.citation)}]", "cyan")
        say(f"{number} ", citation, f" {line(task.title, TITLE_CHARS)} ", (line(task.status), "dim"), indent=2)


def choice(row: ops.TaskAsked) -> tuple[str, str]:
    """Ask a person on a terminal.

    Return ("yes", citation), or ("no" | "skip" | "undo" | "quit", "").
    """
    numbers = {str(number): task.citation for number, task in enumerate(row.candidates, 1)}
    keys = {NONE: "no", SKIP: "skip", UNDO: "undo", QUIT: "quit"}
    asked = f"the task's number, [{NONE}]one of them, [{SKIP}]kip, [{UNDO}]ndo or [{QUIT}]uit"
    typed = click.Choice([*numbers, *keys])
    key = click.prompt(asked, type=typed, show_choices=False, default=SKIP, show_default=False)
    return ("yes", numbers[key]) if key in numbers else (keys[key], "")
