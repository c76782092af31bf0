"""The verb task."""

import time
from collections.abc import Sequence
from typing import Any

import click

from memlayer.cli.terminal.invocation import (
    Incomplete,
    all_projects_option,
    ask,
    begin_writing,
    end_with_json,
    json_option,
    project_dir,
    project_option,
    put_and_ask,
    words,
)
from memlayer.cli.terminal.output import line, say, table, when
from memlayer.edge.counting import counted
from memlayer.errors import UserError
from memlayer.tasks.events import persons_change
from memlayer.tasks.states import PRIORITIES, STATUSES
from memlayer.wire import tasks as ops

TITLE_CHARS, QUOTE_CHARS = 90, 200
NAME = "Give the task: its id as `memlayer task list` shows it, or its words"
NONE_YET = (
    'No task is known here yet. One comes from a prompt such as "todo: ..." or "할 일: ...", from Claude Code\'s own'
    " task list, or by `memlayer task add`."
)
task_argument = click.argument("task", metavar="TASK", nargs=-1)
blockers_option = click.option(
    "--by", "blockers", multiple=True, metavar="THING", help="An URL, an issue's key, a task, or words."
)
# Op of a step -> how a person reads it.
STEP_WORDS = {
    "task_created": "made",
    "task_priority_changed": "priority",
    "task_blockers_set": "waits for",
    "task_blocker_resolved": "its blocker became a task",
    "task_transition_rejected": "refused",
    "task_titled": "renamed",
    "task_mentioned": "spoken of",
    "task_reopened": "opened again",
    "task_step_taken_back": "an answer was taken back",
    "task_left": "its turns were taken back",
}


@click.group("task", invoke_without_command=True)
@click.pass_context
def task_verb(context: click.Context) -> None:
    """List, add, close, block or show tasks.

    Without another word it lists the open ones. TASK is a citation such as a7Bc3x, or words of its title. Words that
    may mean several tasks change none.

    \b
    Examples:
      memlayer task list
      memlayer task add "배포 문서 고치기" --priority high
      memlayer task block "배포 문서" --by PROJ-12
      memlayer task done a7Bc3x
      memlayer task show a7Bc3x
    """
    if context.invoked_subcommand is None:
        context.invoke(tasks_verb)


@task_verb.command("list")
@click.argument("status", metavar="[STATUS]", type=click.Choice(STATUSES, False), required=False)
@project_option
@all_projects_option
@json_option
def tasks_verb(status: str | None, project: str | None, all_projects: bool, as_json: bool) -> None:
    """List this project's open tasks, with the things that each waits for.

    They come from Claude Code's own task lists, from `memlayer task add`, from prompts ("todo: ...", "할 일: ..."), and
    from the model that reads sessions, if one is on. A task that nobody has spoken of for 14 days and five sessions
    rests. STATUS is pending, in_progress, blocked, done, cancelled, resting or all. Without it: open ones that do not
    rest.

    \b
    Examples:
      memlayer task list
      memlayer task list blocked
      memlayer task list done --json
    """
    folder = project_dir(project, all_projects)
    answer = ask(ops.Tasks(folder, status or ""), as_json)
    rows = answer.tasks or []
    if rows:
        table(("TASK", "STATUS", "SINCE", "TITLE"), [_row(row, all_projects) for row in rows])
    elif known := len(ask(ops.Tasks(folder, "all")).tasks):
        all_ = f"all {known} tasks" if known > 1 else "the one task"
        say(f"No task is {(status or 'open').replace('_', ' ')}. `memlayer task list all` shows {all_}.")
    else:
        say(NONE_YET)
    if answer.questions:
        asked = counted(answer.questions, "sentence")
        say(f"{asked} may be about a task, and closed none: `memlayer review`.")
    if answer.resting and status not in ("resting", "all"):
        say(f"{answer.resting} more at rest: `memlayer task list resting`.")


def _row(row: ops.TaskRow, with_project: bool) -> Sequence[str]:
    title = line(row.title, TITLE_CHARS)
    waits = ", ".join(line(blocker, 60) for blocker in row.waits_for or [])
    title += f" (waits for {waits})" if waits else ""
    title = f"{line(row.project, 24)}: {title}" if with_project else title
    return f"[mem:{line(row.citation)}]", line(row.status), when(row.created_ms)[:10], title


@task_verb.command("add")
@task_argument
@blockers_option
@click.option("--priority", type=click.Choice(PRIORITIES), help="Default: medium.")
@project_option
@json_option
def add_verb(
    task: tuple[str, ...], blockers: tuple[str, ...], priority: str | None, project: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Add a task to this project.

    One of that title that is closed is opened again.

    \b
    Examples:
      memlayer task add "write the migration guide"
      memlayer task add "배포" --by https://example.com/reviews/4
    """
    title = words(task, "Give the task's title, or - to read it from standard input")
    _change("add", title, as_json, project, blockers=blockers, priority=priority or "")


def _changing(name: str, help_: str, example: str) -> click.Command:
    """Return a verb that changes the status of a task."""

    @task_verb.command(name, help=f"{help_}\n\n\\b\nExamples:\n  memlayer task {name} {example}")
    @task_argument
    @json_option
    def verb(task: tuple[str, ...], as_json: bool, because: str = "") -> None:
        _change(name, words(task, NAME), as_json, reason=because)

    return verb


_changing("start", "Say that a task is being worked on.", "a7Bc3x")
_changing("done", "Close a task that is done.", '"migration guide"')
click.option("--because", default="", metavar="TEXT", help="Why, for its history.")(
    _changing("drop", "Close a task that nobody will do.", 'a7Bc3x --because "v2 replaces it"')
)
_changing("reopen", "Open a closed task again.", "a7Bc3x")


@task_verb.command("block")
@task_argument
@blockers_option
@json_option
def block_verb(task: tuple[str, ...], blockers: tuple[str, ...], as_json: bool) -> None:
    """Say that a task waits for something.

    \b
    Examples:
      memlayer task block a7Bc3x --by acme/core#42
      memlayer task block "배포" --by "보안 검토"
    """
    _change("block", words(task, NAME), as_json, blockers=blockers)


@task_verb.command("show")
@task_argument
@json_option
def show_task_verb(task: tuple[str, ...], as_json: bool) -> None:
    """Show a task: blockers, history, and the words behind each step.

    \b
    Examples:
      memlayer task show a7Bc3x
      memlayer task show "migration guide" --json
    """
    answer = ask(ops.TaskShow(words(task, NAME), project_dir(None)), as_json)
    for row in answer.tasks or []:
        _say_task(row)
        for step in row.history or []:
            _say_step(step)
        for near in row.neighbours:
            say((f"{line(near.rel)} ", "dim"), line(near.title, TITLE_CHARS), indent=2)


def _say_task(row: ops.TaskRow) -> None:
    say((f"[mem:{line(row.citation)}] ", "cyan"), line(row.title, 400))
    state = line(row.status) + (", at rest" if row.is_resting else "")
    say((f"{state}, priority {line(row.priority)}, since {when(row.created_ms)[:10]}", "dim"), indent=2)
    told = (("waits for", row.waits_for), ("was called", row.earlier_titles))
    for label, titles in told:
        for title in titles:
            say((f"{label} ", "yellow"), line(title, QUOTE_CHARS), indent=2)


def _say_step(step: ops.TaskStep) -> None:
    waits = ", ".join(line(blocker, 80) for blocker in step.waits_for)
    told = STEP_WORDS.get(str(step.op), "")
    told = " ".join(filter(None, (told, waits if waits else line(step.to, TITLE_CHARS))))
    reason = f": {line(step.reason, QUOTE_CHARS)}" if step.reason else ""
    say((f"{when(step.at_ms)} ", "dim"), f"{told}{reason}", (f" ({line(step.by)})", "dim"), indent=2)
    if step.quote:
        say((f'"{line(step.quote, QUOTE_CHARS)}"', "dim"), indent=4)


def taken_in(how: str, title: str, project: str | None, **more: Any) -> ops.TaskChanged:
    """Put a change on disk and have it taken in. Raises UserError."""
    folder = project_dir(project)
    begin_writing(folder)
    event = persons_change(how, title, project_dir=folder, at_ms=time.time_ns() // 1_000_000, **more)
    return put_and_ask(event, ops.TaskChange(str(event["id"])), "done")


def _change(how: str, title: str, as_json: bool, project: str | None = None, **more: Any) -> None:
    """Carry out a change of a person, and print it."""
    answer = taken_in(how, title, project, **more)
    changed, candidates = answer.tasks, answer.candidates
    if as_json and not answer.refusals:
        end_with_json(answer, 0 if changed else 1)
    if not changed and candidates:
        ids = ", ".join(f"{line(candidate.citation)} ({line(candidate.title, 60)})" for candidate in candidates)
        raise UserError(f"Nothing is changed: that may mean {ids}. Give the id")
    if not changed:
        raise UserError(f"No task is known by {title[:80]!r}. `memlayer task list all` lists them")
    for task in () if as_json else changed:
        _say_task(task)
    for task in answer.freed:
        freed = f"[mem:{line(task.citation)}] {line(task.title, QUOTE_CHARS)}"
        say(("waits no more: ", "green"), freed, indent=2)
    for why in answer.refusals:
        raise Incomplete(f"Refused: {line(why)}. `memlayer task reopen` opens a closed task again")
