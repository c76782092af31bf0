"""The verb review: memories to look at, one by one."""

import sys
from collections.abc import Sequence
from functools import partial

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    ask,
    json_option,
    memory_id,
    memory_ids,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, memory_title, say, say_body, when
from memlayer.cli.terminal.typist import mark_of_model
from memlayer.edge.redaction.privacy import plain
from memlayer.wire import curation as ops

TEXT_CHARS = 1000
KEYS = {"k": "keep", "e": "edit", "m": "merge", "d": "drop", "u": "undo", "s": "skip", "q": "quit"}
ASKED = "[k]eep, [e]dit, [m]erge, [d]rop, [u]ndo, [s]kip or [q]uit"
DONE = {"keep": "Kept", "edit": "Changed", "merge": "Merged into", "drop": "Dropped", "no": "No task"}
DECISIONS = ("keep", "edit", "merge", "drop", "yes", "no", "undo")
OF_SEVERAL = ("keep", "drop")  # the line about a prompt's rules names all of them
NO_NEW_TEXT = "Give the new text after the ID"
NOTHING = (
    "Nothing to review: no memory is doubtful, contradicts another, is stale or was never used, no task is unclear."
)
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


@click.command("review")
@click.argument("words", metavar="[DECISION ID...]", nargs=-1)
@project_option
@json_option
def review_verb(words: tuple[str, ...], project: str | None, as_json: bool) -> None:
    """Go through memories that are doubtful, stale or unused.

    Before them, sentences that may say that a task is done. On a terminal one by one, else a list. Asked: a wish in a
    prompt that may be somebody else's, no rule until you keep it. Doubtful: a cause that nobody confirmed, a note whose
    quote is only similar. Contradicting: a newer memory says otherwise, also where
    a reading model speaks against a memory of yours. Stale: its day is over, or its files are gone. Never used: for 30
    days and 10 sessions. A dropped memory is not forgotten: undo or `memlayer edit --restore` brings it back.

    \b
    A DECISION:
      keep ID...             as it is; a wish that memlayer asked about becomes a rule of yours
      edit ID TEXT           another text
      merge ID OTHER [TEXT]  the first replaces the other; without TEXT it says both texts
      drop ID...             a core memory holds no more; the one that contradicts it takes its place
      yes QUESTION [TASK]    a sentence is about TASK, or its only candidate
      no QUESTION            a sentence is about no task
      undo                   takes the last decision back; again: the one before it
    \b
    Examples:
      memlayer review
      memlayer review keep a7Bc3x
      memlayer review merge a7Bc3x x9Yz2w "배포는 화요일 오전 10시에 한다"
      memlayer review yes k3Lm9p x9Yz2w
    """
    folder = project_dir(project)
    if words:
        decide(words[0], words[1:], folder, as_json)
        return
    found = ask(ops.Review(folder), as_json)
    if not found.items and not found.task_questions:
        say(NOTHING)
    elif mark_of_model() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _list(found)
    else:
        _walk(found, folder)


def decide(how: str, named: Sequence[str], folder: str, as_json: bool) -> None:
    """Carry out a typed decision. Raises Incomplete."""
    if how not in DECISIONS:
        raise Incomplete(f"{how[:40]!r} is not known here. Give one of {', '.join(sorted(DECISIONS))}")
    if how == "undo":
        _undo(folder, as_json)
    elif how in OF_SEVERAL:
        for id_ in memory_ids(named):
            _decide(how, id_, folder=folder, as_json=as_json)
    else:
        id_, rest = memory_id(named[:1]), named[1:]
        other = rest[0] if how in ("merge", "yes") and rest else ""
        text = " ".join(rest[1:] if how == "merge" else rest) if how in ("edit", "merge") else ""
        if how == "edit" and not text.strip():
            raise Incomplete(NO_NEW_TEXT)
        _decide(how, id_, plain(other), plain(text), folder, as_json)
    if how not in ("keep", "undo"):
        say(("`memlayer review undo` takes the last decision back; again: the one before it.", "dim"))


def _decide(how: str, named: str, other: str = "", text: str = "", folder: str = "", as_json: bool = False) -> None:
    done = ask(ops.Decide(how, named, other, text, folder), as_json)
    memory = done.memory
    told = f"Now {line(done.status).replace('_', ' ')}:" if done.status else DONE[how]
    say(told, *([" ", *memory_title(memory)] if memory else []))
    if memory and how != "keep":
        say_body(memory.text, TEXT_CHARS)


def _undo(folder: str, as_json: bool) -> None:
    done = ask(ops.UndoReview(folder), as_json)
    memory = done.memory
    say(f"Undone: {line(done.how)}", *([" ", *memory_title(memory)] if memory else []))
    if memory:
        say_body(memory.text, TEXT_CHARS)


def _say_item(item: ops.ReviewItem, place: str = "") -> None:
    memory = item.memory
    say(place, (line(item.reason), "yellow"), f" ({line(item.why)})  ", *memory_title(memory))
    say_body(memory.text, TEXT_CHARS)
    if item.against:
        say(("against ", "yellow"), *memory_title(item.against), indent=2)
        say_body(item.against.text, TEXT_CHARS, indent=4)


def _list(found: ops.ReviewList) -> None:
    for row in found.task_questions:
        say_question(row)
    if found.task_questions:
        say(("`memlayer review yes QUESTION TASK`, `no QUESTION`, `undo`", "dim"))
    for item in found.items:
        _say_item(item)
    if found.total > len(found.items):
        say((f"{found.total - len(found.items)} more, once these are decided", "dim"))
    if found.items:
        say(("`memlayer review keep ID`, `edit ID TEXT`, `merge ID OTHER [TEXT]`, `drop ID`, `undo`", "dim"))


def _walk(found: ops.ReviewList, folder: str) -> None:
    """Walk through questions and memories, and do as the person says."""
    steps = [partial(_ask_task, row, folder) for row in found.task_questions]
    steps += [partial(_ask_memory, item, folder) for item in found.items]
    place = 0
    while place < len(steps):
        how = steps[place](f"{place + 1}/{len(steps)}  ")
        if how == "quit":
            return
        if how == "undo":
            _undo(folder, False)
        place = max(0, place - 1) if how == "undo" else place + 1


def say_question(row: ops.TaskAsked, place: str = "") -> None:
    """Print a question, the sentence that raised it, and the tasks."""
    candidates = row.candidates
    question = QUESTIONS[row.wish][len(candidates) > 1]
    say(place, (question, "yellow"), "  ", (line(row.id), "bold"), f"  {when(row.at_ms)}")
    say(f'"{line(row.quote, QUOTE_CHARS)}"', indent=2)
    for number, task in enumerate(candidates, 1):
        citation = (f"[mem:{line(task.citation)}]", "cyan")
        say(f"{number} ", citation, f" {line(task.title, TITLE_CHARS)} (", (line(task.status), "dim"), ")", indent=2)


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


def _ask_task(row: ops.TaskAsked, folder: str, place: str) -> str:
    say_question(row, place)
    how, task = choice(row)
    if how in ("yes", "no"):
        _decide(how, row.id, task, folder=folder)
    return how


def _ask_memory(item: ops.ReviewItem, folder: str, place: str) -> str:
    _say_item(item, place)
    key = click.prompt(ASKED, type=click.Choice(list(KEYS)), show_choices=False, default="s", show_default=False)
    how = KEYS[key]
    if how not in ("quit", "undo", "skip"):
        _asked(how, item, folder)
    return how


def _asked(how: str, item: ops.ReviewItem, folder: str) -> None:
    """Ask for the words that a decision needs, and carry it out."""
    memory, other, text = item.memory, "", ""
    if how == "merge" and not item.against:
        other = click.prompt("with (citation)", type=str)
    if how == "edit":
        text = plain(click.prompt("new text", type=str))
    elif how == "merge":
        text = plain(
            click.prompt("text of both (empty: one after the other)", type=str, default="", show_default=False)
        )
    _decide(how, memory.id, other, text, folder)
