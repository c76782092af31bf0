"""The verb notes: consent to a reading model, its state, refusals."""

import click

from memlayer.cli.terminal.invocation import (
    LANGUAGE_MODELS,
    Incomplete,
    agree,
    all_projects_option,
    ask,
    client,
    end_with_json,
    home,
    json_option,
    not_empty,
    project_dir,
    project_option,
    restart_daemon,
    settings,
    start_daemon,
    yes_option,
)
from memlayer.cli.terminal.output import line, pairs, say, table, when
from memlayer.cli.terminal.typist import BY_PERSON
from memlayer.cli.verbs.curation import readers
from memlayer.edge.counting import counted
from memlayer.errors import UserError
from memlayer.wire import notes as ops
from memlayer.wire.notes import NotesState, SessionsRead

OWN_OFF = "off: its own model is not asked; `memlayer notes on --by session` turns it on"
TEXT_CHARS, UNREAD_SHOWN = 100, 30
TOOL = "mcp__plugin_memlayer_memlayer__mem-remember"
BESIDE = {
    True: "Beside it the session's own model writes, as you said before.",
    False: "Beside it the session's own model may write two notes, without a call of its own (some 150 tokens each): "
    "`memlayer notes on --by session`.",
}


@click.group("notes", invoke_without_command=True)
@click.pass_context
def notes_verb(context: click.Context) -> None:
    """Have a language model read finished sessions and write notes.

    Off until you turn it on. Without another word it shows the state. docs/notes.md says what is read and sent, and has
    examples of notes.

    \b
    Examples:
      memlayer notes on
      memlayer notes on --provider openai --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
      memlayer notes read --last 30 --dry-run
      memlayer notes refused
      memlayer notes off
    """
    if context.invoked_subcommand is None:
        context.invoke(status_verb)


@notes_verb.command("on")
@click.option("--provider", type=LANGUAGE_MODELS, help="Who reads. Default: claude-cli, with its small model.")
@click.option("--base-url", callback=not_empty, metavar="URL", help="A server of the same interface, such as Ollama.")
@click.option("--model", callback=not_empty, metavar="NAME", help="Needed for openai; else its small model.")
@click.option("--by", type=click.Choice(("reader", "session")), default="reader", help="session: its own model writes.")
@yes_option
@json_option
def on_verb(provider: str | None, base_url: str | None, model: str | None, by: str, yes: bool, as_json: bool) -> None:
    """Have each session read once, when it is over.

    Tells the price first, and asks. Restarts the daemon, and has the model answer a word. Sessions from before are read
    only by `memlayer notes read`.

    \b
    Examples:
      memlayer notes on
      memlayer notes on --by session
      memlayer notes on --provider anthropic
      memlayer notes on --provider openai --base-url http://127.0.0.1:11434/v1 --model qwen3:8b
    """
    from memlayer.config.edit import set_settings

    is_own = by == "session"
    if is_own and (provider or base_url or model):
        raise Incomplete("--by session has the session's own model write: it goes with no other model")
    changes = readers.changes_for_own() if is_own else readers.changes_for(provider, base_url, model)
    set_settings(home(), changes, dry_run=True)  # nobody is asked about a refused change
    if not as_json:
        for text in (readers.BY_SESSION,) if is_own else readers.work_and_price(readers.planned(changes)):
            say(text)
    if not yes and click.get_current_context().obj is not BY_PERSON:  # who typed the slash command said it
        agree("Turn it on?", would="Nothing is changed: add --yes to agree", no="Nothing is changed", as_json=as_json)
    set_settings(home(), changes)
    restart_daemon()
    state = ask(ops.Notes(project_dir(None), is_tried=not is_own), is_long=True, quiet=True)
    if as_json:
        end_with_json(state)
    if not (state.by_session if is_own else state.is_on):
        say(("Not in force", "yellow"), ": another setting says no; see `memlayer config`.")
        return
    if is_own:
        say_by_session()
        return
    problem = line(state.use.lacks or state.use.problem, 300)
    say((f"On, but it cannot be asked yet: {problem}. Sessions wait until it can.", "yellow") if problem else "On.")
    say(
        "Its notes: `memlayer list core`. Refused ones: `memlayer notes refused`. Earlier sessions: "
        "`memlayer notes read --last 30 --dry-run`. Off: `memlayer notes off`."
    )
    say(BESIDE[state.by_session])


def say_by_session() -> None:
    """Say how the session's own model is allowed to write."""
    say(
        ("On", "green"),
        ". Claude Code asks you before each note. To allow its tool for good, add to ~/.claude/settings.json yourself:",
    )
    say('{"permissions": {"allow": ["%s"]}}' % TOOL, indent=2)
    say("Off: `memlayer notes off`, which ends the reading, too.")


@notes_verb.command("off")
@json_option
def off_verb(as_json: bool) -> None:
    """Stop it: nothing more is read or sent, no model asked.

    You are not asked again. The notes stay. `memlayer forget` removes them.
    """
    from memlayer.config.edit import set_settings

    is_own = settings().consolidation.by_session
    set_settings(
        home(), {"consolidation.provider": ["rules"], **({"consolidation.by_session": ["false"]} if is_own else {})}
    )
    if client().stop():
        start_daemon()
    if as_json:
        end_with_json({"is_on": False})
    say("Off: no session is read, and nothing is sent. The notes stay; `memlayer forget` removes them.")


@notes_verb.command("status")
@json_option
def status_verb(as_json: bool) -> None:
    """Show who reads sessions, how many wait and why, and tokens.

    \b
    Examples:
      memlayer notes status
      memlayer notes status --json
    """
    state = ask(ops.Notes(project_dir(None)), as_json)
    pairs("Memory notes", status_rows(state))
    if not state.is_on:
        unread = ask(ops.ReadSessions(UNREAD_SHOWN, dry_run=True), is_long=True, quiet=True)
        pairs("If you turn it on", readers.offer_rows(state, unread))


def status_rows(state: NotesState) -> list[tuple[str, str]]:
    """Return the state as (name, value), without counts of nothing."""
    is_on, waiting, use = state.is_on, state.waiting, state.use
    is_used = is_on or state.read
    own = f"on: its own model may write two notes; {counted(state.own_notes, 'note')} so far"
    waits_for = state.why or ("until that one is read" if state.reading else "read next, within a minute")
    return [
        ("state", state_line(state)),
        ("by the session", own if state.by_session else OWN_OFF),
        (
            "here",
            "" if state.is_allowed or not (is_on or state.by_session) else "this project's .memlayer.yaml says no",
        ),
        ("reading now", f"session {line(state.reading)[:8]}" if state.reading else ""),
        ("sessions read", f"{state.read:,}" if is_used else ""),
        (
            "nothing to read",
            f"in {counted(state.bare, 'session')}: greetings, or turns without work" if state.bare else "",
        ),
        ("given up", f"{counted(state.gave_up, 'part')}: no usable answer" if state.gave_up else ""),
        ("waiting", (f"{waiting:,}" + (f": {line(waits_for, 300)}" if waiting else "")) if is_on else ""),
        ("notes written", f"{state.notes:,}, {state.refused_notes:,} refused" if is_used else ""),
        ("earlier memories retired", f"{state.retired_notes:,}" if state.retired_notes else ""),
        ("tokens today", f"{use.today.tokens:,} of {use.daily_tokens:,}" if is_on else ""),
        ("tokens in all", f"{use.all.tokens:,}" if use.all.tokens else ""),
        ("last error", f"{line(use.problem, 300)} ({when(use.problem_ms)})" if use.problem and is_on else ""),
    ]


def state_line(state: NotesState) -> str:
    """Return who reads, or how to turn it on."""
    if state.is_on:
        when_read = "once, when it is over" if state.use.reads == "session" else "after each turn (consolidation.reads)"
        return f"on: {readers.reader_of(state.use)[0]} reads each session {when_read}"
    if state.use.provider != "rules" and not state.is_enabled:
        return "off by notes.enabled: nothing is read or sent; `memlayer notes on` turns it on"
    return "off: nothing is read or sent; `memlayer notes on` turns it on"


@notes_verb.command("refused")
@project_option
@all_projects_option
@json_option
def refused_verb(project: str | None, all_projects: bool, as_json: bool) -> None:
    """Show refused notes of the model, and memories that it ended.

    \b
    Examples:
      memlayer notes refused
      memlayer notes refused --all-projects --json
    """
    answer = ask(ops.RefusedNotes(project_dir(project, all_projects)), as_json)
    rows = answer.refusals
    if not rows:
        say("No note was refused." if all_projects else "No note was refused in this project; try --all-projects.")
    reasons = [f"ended: {row.ended_because}, by {row.by}" if row.ended_because else row.reason for row in rows]
    told = zip(rows, map(line, reasons), strict=True)
    cells = [[when(row.at_ms), reason, line(row.kind), line(row.text, TEXT_CHARS)] for row, reason in told]
    table(("when", "reason", "kind", "note"), cells)
    if answer.total > len(rows):
        say((f"{answer.total - len(rows)} earlier ones", "dim"))


@notes_verb.command("read")
@click.option("--last", type=click.IntRange(1, 10_000), default=30, show_default=True, help="Sessions at most.")
@click.option("--project", callback=not_empty, metavar="PATH", help="Only sessions of this folder's project.")
@click.option("--dry-run", is_flag=True, help="Only show how many sessions and tokens it would be.")
@yes_option
@json_option
def read_verb(last: int, project: str | None, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Have earlier sessions read, the oldest first.

    Shows the estimate and asks before. Ctrl-C stops it: what was read stays read, and the same command goes on with the
    rest. Where the day's budget ends or the model fails, the rest wait and are read later.

    \b
    Examples:
      memlayer notes read --last 30 --dry-run
      memlayer notes read --last 5 --project ~/src/shop --yes
    """
    wanted = ops.ReadSessions(last, project_dir(project) if project else "", dry_run=True)
    plan = ask(wanted, is_long=True, quiet=as_json)
    count, estimate = plan.sessions, readers.estimate_of(plan)
    if as_json and (dry_run or not count):
        end_with_json(plan)
    if not count:
        say("There is no session that is over and not yet read.")
        return
    if not as_json:
        say_plan(plan, estimate)
    if dry_run:
        return
    if not plan.is_on:
        raise UserError("No model reads sessions. `memlayer notes on` turns it on")
    if not yes:
        confirm("read", estimate, as_json)
    try:
        done = ask(ops.ReadSessions(last, wanted.project_dir), as_json, is_long=True)
    except KeyboardInterrupt:
        say("Stopped. What was read stays read; the same command goes on with the rest.", to_stderr=True)
        raise
    say(
        f"Read {done.read:,} of {counted(count, 'session')}: {counted(done.notes, 'note')}, {done.refused_notes:,} "
        f"refused, {counted(done.tokens, 'token')}."
    )
    if done.problem:
        say(("The rest wait", "yellow"), f": {line(done.problem, 300)}. `memlayer notes status` says more.")


def say_plan(plan: SessionsRead, estimate: str) -> None:
    """Print the sessions to be read, by project, and the estimate."""
    cells = [
        [line(row.project) or line(row.project_id), f"{row.sessions:,}", f"{row.tokens:,}"] for row in plan.projects
    ]
    table(("project", "sessions", "tokens"), cells)
    say((f"Would be read: {estimate}", "bold"), ", estimated high.")


def confirm(verb: str, work: str, as_json: bool) -> None:
    """Ask before a model does work. Raises UserError at a no."""
    would = f"A model would {verb} {work}. Nothing is sent yet. Add --yes to agree, or --dry-run to see more"
    agree(f"Have a model {verb} {work}?", would=would, no="Nothing is sent", as_json=as_json)
