"""The verbs that count: sessions, stats."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.doctor.bare import daemon_line
from memlayer.cli.terminal.invocation import (
    all_projects_option,
    ask,
    end_with_json,
    form_option,
    home,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, number, pairs, say, sent_line, session_name, table, when
from memlayer.edge.bootstrap import health
from memlayer.edge.capture import spool
from memlayer.edge.counting import counted, size
from memlayer.edge.home import paths, registry
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import MemlayerError
from memlayer.wire import sessions as session_ops
from memlayer.wire import upkeep as upkeep_ops
from memlayer.wire.sessions import SessionRow

HEAD = ("session", "last active", "state", "turns", "tokens", "compactions", "flushes", "project")

PROJECTS_SHOWN = 10
NOUNS = {"memories": "memory", "events": "event"}


@click.command("sessions")
@click.argument("id_", metavar="[ID]", default="")
@project_option
@all_projects_option
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="Sessions at most.")
@json_option
def sessions_verb(id_: str, project: str | None, all_projects: bool, limit: int, as_json: bool) -> None:
    """List sessions, newest first, with turns and tokens.

    With an ID, or the beginning of an ID, show all details of that session, whatever its project.

    \b
    Examples:
      memlayer sessions
      memlayer sessions --all-projects --limit 50
      memlayer sessions 8f3a12cd
    """
    folder = "" if id_ else project_dir(project, all_projects)
    answer = ask(session_ops.Sessions(id_, folder, limit), as_json)
    sessions = answer.sessions
    if not sessions:
        say(f"No sessions in this project ({folder}); try --all-projects." if folder else "No sessions.")
    elif id_ and len(sessions) == 1:
        say_session(sessions[0])
    else:
        table(HEAD, [row_of(session) for session in sessions])
        if answer.total > len(sessions):
            say((f"{answer.total - len(sessions)} more: --limit", "dim"))


def row_of(session: SessionRow) -> list[str]:
    """Return a session's row of the table."""
    counts = [session.turns, session.total_tokens or None, session.compaction_count, session.flush_count]
    state = "ended" if session.ended else "open"
    return [
        session_name(session.id),
        when(session.last_ms),
        state,
        *map(_figure, counts),
        _project_of(session),
    ]


def say_session(session: SessionRow) -> None:
    """Print all details of a session."""
    given = session.given
    flushed = when(session.memory_flush_at)
    pairs(
        f"Session {line(session.id)}",
        [
            ("project", _project_of(session)),
            ("folder", line(session.project_dir)),
            ("transcript", line(session.transcript_path)),
            ("began", when(session.since_ms)),
            ("last active", when(session.last_ms)),
            ("state", f"ended ({line(session.ended)})" if session.ended else "open"),
            ("begun by", "`claude -p`" if session.is_run else ""),
            ("model", line(session.model)),
            ("turns", _figure(session.turns)),
            ("events", _figure(session.events or 0)),
            ("core memories drawn", _figure(session.core or 0)),
            ("tokens in the context", _figure(session.total_tokens or None)),
            ("compactions", _figure(session.compaction_count)),
            ("flushes", _figure(session.flush_count) + (f", the last {flushed}" if flushed else "")),
            (
                "notes given",
                f"{given.notes} for {given.answered} of {counted(given.prompts, 'prompt')}" if given else "",
            ),
        ],
    )
    if session.summary:
        say(("Summary", "bold"))
        for part in plain(session.summary).split("\n"):
            say(line(part), indent=2)


def _project_of(session: SessionRow) -> str:
    return line(session.project) or line(session.project_id)


def _figure(value: int | None) -> str:
    """Return a count; None: not measured yet."""
    return "-" if value is None else f"{value:,}"


@click.command("stats")
@form_option("--files", "The paths of a project's memory files.")
@json_option
def stats_verb(as_json: bool) -> None:
    """Show counts, disk use, index, model, daemon and hook timings.

    When no daemon can be started, it shows the figures that files contain.

    \b
    Examples:
      memlayer stats
      memlayer stats --json
    """
    try:
        counts = ask(upkeep_ops.Stats())
        stats = counts.fields()
    except MemlayerError as error:
        stats = from_files(home(), str(error))
    stats["trouble"] = hook_errors(home())
    if as_json:
        end_with_json(stats)
    if stats.get("unavailable"):
        say(("No answer from the daemon", "red"), f": {line(stats['unavailable'])}. From files alone:")
    elif stats.get("mode") == "lexical":
        say(("Full-text search only", "yellow"), f": {line(stats.get('why'))}")
    say_holdings(stats)
    say_machinery(stats)


def from_files(home_: str, why: str) -> dict[str, Any]:
    """Return figures without a daemon; unavailable: why there is none."""
    stored = _stats_below(paths.store(home_))
    return {
        "unavailable": why,
        "spool_waiting": len(spool.waiting(home_)),
        "quarantined": len(spool.quarantined(home_)),
        "projects": len(registry.load(home_)),
        "disk_bytes": sum(info.st_size for info in stored),
        "saved": when(int(max((info.st_mtime for info in stored), default=0.0) * 1000)),
    }


def _stats_below(folder: str) -> list[os.stat_result]:
    infos = []
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                infos.append(os.lstat(os.path.join(at, name)))
            except FileNotFoundError:  # the daemon compacts meanwhile
                continue
    return infos


def hook_errors(home_: str) -> dict[str, int]:
    """Count hook calls of the last day that went wrong, by outcome."""
    seen = health.trouble(home_, time.time())
    return {
        "failed": seen.lost,
        "late": seen.late,
        "late_prompts": seen.late_prompts,
        "without_daemon": seen.alone,
        "without_event": seen.unread,
    }


def say_holdings(stats: Mapping[str, Any]) -> None:
    """Print counts of memories, events and recalls, and the projects."""
    by_category = stats.get("by_category") or {}
    kinds = stats.get("core_by_kind") or {}
    categories = ", ".join(f"{line(name)} {count}" for name, count in sorted(by_category.items()))
    chunks, embedded = stats.get("chunks"), stats.get("embedded")
    recall = stats.get("recall") or {}
    redacted = dict(stats.get("redacted") or {})
    answered = f"{recall.get('answered', 0)} of {counted(recall.get('prompts'), 'prompt')}"
    given = f"{counted(recall.get('entries'), 'entry')} for {answered}"
    pairs(
        "Memory",
        [
            ("memories", _count(stats, "memories") + (f" ({categories})" if categories else "")),
            ("core", ", ".join(f"{line(kind)} {count}" for kind, count in sorted(kinds.items()))),
            ("ended", _count(stats, "ended") if stats.get("ended") else ""),
            ("turns consolidated", _consolidated(stats)),
            ("events", _count(stats, "events")),
            ("sessions", _count(stats, "sessions")),
            ("projects", _count(stats, "projects")),
            ("chunks", "" if chunks is None else f"{chunks}, {embedded or 0} with a vector"),
            ("on disk", size(stats.get("disk_bytes"))),
            ("last written", line(stats.get("saved"))),
            ("waiting on disk", _count(stats, "spool_waiting")),
            ("set aside (quarantine)", _count(stats, "quarantined") if stats.get("quarantined") else ""),
            ("recalled", given if recall else ""),
            ("used", _used(stats.get("used") or {})),
            ("private spans taken out", str(redacted.pop("private")) if redacted.get("private") else ""),
            ("secrets taken out", _secrets(redacted)),
        ],
    )
    projects = stats.get("by_project") or []
    rows = [
        (
            line(project["project"]) or line(project["project_id"]),
            ", ".join(counted(project[name], noun) for name, noun in NOUNS.items() if project.get(name) is not None),
        )
        for project in projects[:PROJECTS_SHOWN]
    ]
    if len(projects) > PROJECTS_SHOWN:
        rows.append(("...", f"{len(projects) - PROJECTS_SHOWN} more"))
    pairs("Projects", rows)


def say_machinery(stats: Mapping[str, Any]) -> None:
    """Print search, models, daemon, tables and hooks."""
    model, daemon, tables = stats.get("model") or {}, stats.get("daemon") or {}, stats.get("tables") or {}
    name = line(model.get("name")) if model.get("provider") != "none" else "none"
    state = "" if model.get("fingerprint") or name == "none" else " (not loaded)"
    schema = stats.get("schema_version")
    pairs(
        "Machinery",
        [
            ("search", {"hybrid": "full text and meaning", "lexical": "full text"}.get(str(stats.get("mode")), "")),
            ("model", line(model.get("place")) or (name + state if model else "")),
            ("calibrated", line(model.get("calibrated")) if model.get("place") else ""),
            ("tokens for it", _tokens_sent(stats.get("embedding_use") or {})),
            ("embedding", _embedding(stats.get("embedding") or {})),
            ("daemon", daemon_line(daemon) if daemon else ""),
            ("sends", sent_line(stats.get("sends"))),
            ("rebuilding", line(daemon.get("rebuilding"))),
            ("schema", "" if schema is None else f"version {schema}"),
            *((f"table {line(table)}", _facts(facts)) for table, facts in tables.items()),
        ],
    )
    say_language_model(stats.get("language_model") or {})
    notes = stats.get("memory_notes") or {}
    if notes.get("is_on") or notes.get("read"):
        rows = (
            ("sessions read", "read"), ("nothing to read in", "bare"), ("waiting", "waiting"), ("notes", "notes"),
            ("refused", "refused_notes"), ("earlier memories retired", "retired_notes"),
        )  # fmt: skip
        pairs("Memory notes", [(name, f"{notes.get(key, 0):,}") for name, key in rows])
    hooks = stats.get("hooks") or {}
    trouble = stats.get("trouble") or {}
    pairs(
        "Hooks",
        [
            ("events brought", _count(stats, "arrived")),
            ("not kept", ", ".join(f"{count} {line(why)}" for why, count in (stats.get("refused") or {}).items())),
            ("in the last day", ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in trouble.items() if n)),
        ],
    )
    pairs("Answered", [(line(op), _timing(timing)) for op, timing in hooks.items()])


def say_language_model(use: Mapping[str, Any]) -> None:
    """Print calls and tokens of the language model, if one was on."""
    if not use:
        return
    today, ever = use["today"], use["all"]
    spent = f"{today['calls']} of {use['daily_calls']} calls"
    spent += f", {today['tokens']:,} of {use['daily_tokens']:,} tokens"
    if use["is_on"] and use["is_over"]:
        spent += " (spent: sessions wait)"
    reads = "reads sessions" if use.get("reads") == "session" else "reads each turn"
    pairs(
        "Language model",
        [
            (reads, f"{line(use['provider'])} {line(use['model'])}" if use["is_on"] else "none any more"),
            ("today", spent),
            ("in all", f"{ever['calls']} calls, {ever['tokens']:,} tokens"),
            ("cost as told", f"{ever['cost_usd']:.4f} USD" if ever["cost_usd"] else ""),
            ("sessions wait", line(use["missing"] or use["problem"], 300) if use["is_on"] else ""),
        ],
    )


def _used(usage: Mapping[str, Any]) -> str:
    shown, cited = usage.get("shown") or 0, usage.get("cited") or 0
    if not shown and not cited:
        return ""
    share = f" ({100 * usage['cited_of_shown'] / shown:.0f} % of those shown)" if shown else ""
    shown_cited = f"{shown} shown at prompts, {cited} cited{share}"
    return f"in {usage.get('window_days')} days {shown_cited}, {usage.get('opened')} opened"


def _secrets(by_kind: Mapping[str, int]) -> str:
    kinds = ", ".join(f"{line(kind)} {count}" for kind, count in sorted(by_kind.items(), key=lambda item: -item[1]))
    return f"{sum(by_kind.values())} ({kinds})" if kinds else ""


def _embedding(times: Mapping[str, Any]) -> str:
    """Return mean times of the model, over restarts."""
    legs = (("query_ms", "queries", "a prompt"), ("passage_ms", "passages", "a passage"))
    return ", ".join(
        f"{number(times.get(mean), 1)} ms {unit} ({times.get(count)})" for mean, count, unit in legs if times.get(count)
    )


def _tokens_sent(use: Mapping[str, Any]) -> str:
    """Return a provider's tokens for embeddings; "" without one."""
    if not use:
        return ""
    of_budget = f" of {use['daily_tokens']:,}" if use["is_on"] else ""
    return f"{use['today']['tokens']:,}{of_budget} today, {use['all']['tokens']:,} in all"


def _count(stats: Mapping[str, Any], name: str) -> str:
    return "" if stats.get(name) is None else str(stats[name])


def _consolidated(stats: Mapping[str, Any]) -> str:
    waiting = stats.get("to_consolidate")
    return _count(stats, "consolidated") + (f", {waiting} waiting" if waiting else "")


def _facts(facts: object) -> str:
    if not isinstance(facts, dict):
        return line(facts)
    return ", ".join(
        f"{line(name)} {line(' '.join(map(str, value)) if isinstance(value, list) else value)}"
        for name, value in facts.items()
    )


def _timing(timing: Mapping[str, Any]) -> str:
    """Return a hook's count and its times, measured since the daemon began."""
    measured = [(name, timing.get(name + "_ms")) for name in ("p50", "p95")]
    times = [f"{name} {number(took_ms, 1)} ms" for name, took_ms in measured if took_ms is not None]
    late = [f"{timing['late']} late"] if timing.get("late") else []
    return ", ".join([counted(timing.get("count"), "time"), *times, *late])
