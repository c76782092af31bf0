"""The verb that shows the record of each session: how full it is, and whether it was flushed in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import (
    ASK_S,
    all_projects_option,
    client,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, pairs, print_json, say, table, when
from memlayer.edge.redaction.privacy import plain

HEAD = ("session", "last heard of", "state", "turns", "tokens", "compactions", "flushes", "project")


@click.command("sessions")
@click.argument("id_", metavar="[ID]", default="")
@project_option
@all_projects_option
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Sessions at most.")
@json_option
def sessions_verb(id_: str, project: str | None, all_projects: bool, limit: int, as_json: bool) -> None:
    """List sessions, newest first: turns, tokens in the context, compactions, flushes.

    With an ID, or the beginning of one, all that is known of that session, whatever its project.

    \b
    Examples:
      memlayer sessions
      memlayer sessions --all-projects --limit 50
      memlayer sessions 8f3a12cd
    """
    folder = "" if id_ else project_dir(project, all_projects)
    asked = {"id": id_, "project_dir": folder, "limit": limit}
    found = client().call("sessions", asked, deadline_s=ASK_S, project_dir=folder)
    if as_json:
        print_json(found)
        return
    sessions = found.get("sessions") or []
    if not sessions:
        say(f"No sessions in this project ({folder}); try --all-projects." if folder else "No sessions.")
    elif id_ and len(sessions) == 1:
        say_session(sessions[0])
    else:
        table(HEAD, [row_of(one) for one in sessions])
        if found.get("total", 0) > len(sessions):
            say((f"{found['total'] - len(sessions)} more: --limit", "dim"))


def row_of(session: Mapping[str, Any]) -> list[str]:
    """A session's line of the table."""
    counts = [_figure(session, name) for name in ("turns", "total_tokens", "compaction_count", "flush_count")]
    state = "ended" if session.get("ended") else "open"
    return [line(session.get("id"))[:8], when(session.get("last_ms")), state, *counts, _project(session)]


def say_session(session: Mapping[str, Any]) -> None:
    """All that is known of a session."""
    given = session.get("given") or {}
    flushed = when(session.get("memory_flush_at"))
    pairs(
        f"Session {line(session.get('id'))}",
        [
            ("project", _project(session)),
            ("folder", line(session.get("project_dir"))),
            ("transcript", line(session.get("transcript_path"))),
            ("began", when(session.get("since_ms"))),
            ("last heard of", when(session.get("last_ms"))),
            ("state", f"ended ({line(session['ended'])})" if session.get("ended") else "open"),
            ("model", line(session.get("model"))),
            ("turns", _figure(session, "turns")),
            ("events", _figure(session, "events")),
            ("core memories drawn", _figure(session, "core")),
            ("tokens in the context", _figure(session, "total_tokens")),
            ("compactions", _figure(session, "compaction_count")),
            ("flushes", _figure(session, "flush_count") + (f", the last {flushed}" if flushed else "")),
            (
                "notes given",
                f"{given.get('notes', 0)} for {given.get('answered', 0)} of {given.get('prompts', 0)} prompts",
            ),
        ],
    )
    if session.get("summary"):
        say(("Summary", "bold"))
        for part in plain(str(session["summary"])).split("\n"):
            say(line(part), indent=2)


def _project(session: Mapping[str, Any]) -> str:
    return line(session.get("project")) or line(session.get("project_id"))


def _figure(session: Mapping[str, Any], name: str) -> str:
    value = session.get(name)
    is_known = isinstance(value, int) and (value or name != "total_tokens")  # 0 tokens: not measured yet
    return f"{value:,}" if is_known else "-"
