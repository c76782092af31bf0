"""The verbs project topics and project mode."""

import click

from memlayer.cli.terminal.invocation import ask, end_with_json, home, json_option, project_dir, project_option
from memlayer.cli.terminal.output import line, number, pairs, say, session_name, when
from memlayer.edge.counting import counted
from memlayer.wire import tasks as ops

MODES = ("session", "endless")


@click.command("topics", hidden=True)
@project_option
@json_option
def topics_verb(project: str | None, as_json: bool) -> None:
    """Show a month's work as topics of sessions that share words.

    No model is asked. Each line tells how its newest session ended, and has the citations of its sessions.

    \b
    Examples:
      memlayer project topics
    """
    answer = ask(ops.Topics(project_dir(project)), as_json)
    rows = answer.topics or []
    if not rows:
        say("No sessions in the last 30 days. `memlayer import` reads earlier ones.")
    for row in rows:
        say_topic(row)


def say_topic(row: ops.TopicRow) -> None:
    """Print a topic's line, and its sessions."""
    say(("- ", "dim"), line(row.text, 400))
    for session in row.members or []:
        day = when(session.at_ms)[:10]
        say(
            (f"[mem:{line(session.citation)}] {session_name(session.session_id)} {day}", "dim"),
            f" {line(session.text, 120)}",
            indent=2,
        )


@click.command("mode", hidden=True)
@click.argument("mode", type=click.Choice(MODES), required=False)
@json_option
def mode_verb(mode: str | None, as_json: bool) -> None:
    """Show or choose the mode: session, or endless.

    In endless mode a start also tells where the last day's work stopped, over all its sessions, and topics of a month
    are kept with the day's memories. Going back to session changes nothing that is stored.

    \b
    Examples:
      memlayer project mode
      memlayer project mode endless
      memlayer project mode session
    """
    if mode is not None:
        from memlayer.config.edit import set_settings

        set_settings(home(), {"memory.mode": [mode]})
    state = ask(ops.Mode(project_dir(None), mode or ""))
    if as_json:
        end_with_json(state)
    score, turns = state.score, state.turns or 0
    since = f" since {when(state.first_ms)}" if turns else ""
    rows = [
        ("mode", line(state.mode)),
        ("last day", counted(turns, "turn") + since),
        ("continuity", f"{number(score)} ({line(state.transition)})" if score is not None else ""),
        ("topics kept", str(state.kept_topics or 0)),
        ("last made", when(state.renewed_ms) if state.renewed_ms else ""),
        ("about", ", ".join(line(name) for name in state.words or [])),
        ("files", ", ".join(line(name) for name in state.files or [])),
    ]
    pairs("Mode", rows)
