"""The verbs that count: sessions, stats."""

import os
import time
from collections.abc import Iterable, Mapping

import click

from memlayer.cli.doctor.bare import daemon_line
from memlayer.cli.terminal.invocation import (
    all_projects_option,
    ask,
    end_with_json,
    home,
    json_option,
    none_here,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, pairs, say, sent_line, session_name, table, when
from memlayer.cli.verbs.maintenance import say_files as say_memory_files
from memlayer.edge.bootstrap import health
from memlayer.edge.capture import hosts, spool
from memlayer.edge.counting import counted, size
from memlayer.edge.home import paths, registry
from memlayer.edge.redaction.privacy import plain
from memlayer.errors import MemlayerError
from memlayer.wire import sessions as session_ops
from memlayer.wire import upkeep as upkeep_ops
from memlayer.wire.memories import UsageShare
from memlayer.wire.notes import ModelUse
from memlayer.wire.sessions import SessionRow
from memlayer.wire.upkeep import StatsFound

HEAD = ("session", "last active", "state", "turns", "tokens", "compactions", "flushes", "project")

PROJECTS_SHOWN = 10


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
        say(none_here(f"No sessions in this project ({folder}); try --all-projects." if folder else "No sessions."))
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
        session_name(session.id, session.host),
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
            ("typed by", f"nobody ({line(session.run_by) or 'a run'})" if session.is_run else ""),
            ("host", hosts.named(session.host).title),
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
@click.option("--files", "is_files", is_flag=True, help="The paths of a project's memory files, read back and written.")
@json_option
def stats_verb(is_files: bool, as_json: bool) -> None:
    """Show counts, disk use, search, model and daemon.

    With --json also tables, index and times. When no daemon can be started, it shows the figures that files contain.
    --files: MEMORY.md, and a file for each day in memory/. They may be edited: a changed line changes its memory, a
    deleted line retires it, a new line is remembered, within seconds or by --files at once.

    \b
    Examples:
      memlayer stats
      memlayer stats --files
    """
    if is_files:
        say_memory_files(ask(upkeep_ops.Files(project_dir(None)), as_json, is_long=True))
        return
    try:
        stats = ask(upkeep_ops.Stats())
    except MemlayerError as error:
        say_files(str(error), as_json)
        return
    trouble = hook_errors(home())
    if as_json:
        end_with_json({**stats.fields(), "trouble": trouble})
    if stats.daemon.mode == "lexical":
        say(("Full-text search only", "yellow"), f": {line(stats.daemon.why)}")
    say_holdings(stats)
    say_machinery(stats, trouble)


def say_files(why: str, as_json: bool) -> None:
    """Print the figures that files contain; why: there is no daemon."""
    stored = _stats_below(paths.store(home()))
    projects, disk_bytes = len(registry.load(home())), sum(info.st_size for info in stored)
    saved_ms = int(max((info.st_mtime for info in stored), default=0.0) * 1000)
    waiting, quarantined = len(spool.waiting(home())), len(spool.quarantined(home()))
    if as_json:
        end_with_json({
            "unavailable": why, "projects": projects, "disk_bytes": disk_bytes, "saved_ms": saved_ms,
            "spool_waiting": waiting, "quarantined": quarantined, "trouble": hook_errors(home()),
        })  # fmt: skip
    say(("No answer from the daemon", "red"), f": {line(why)}. From files alone:")
    pairs("Memory", [
        ("projects", str(projects)), ("on disk", size(disk_bytes)), ("last written", when(saved_ms)),
        ("waiting on disk", str(waiting)), ("set aside (quarantine)", str(quarantined or "")),
    ])  # fmt: skip
    pairs("Hooks", [("in the last day", _trouble(hook_errors(home())))])


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


def _trouble(errors: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in errors.items() if count)


def say_holdings(stats: StatsFound) -> None:
    """Print counts of memories, events and recalls, and the projects."""
    recall, redacted = stats.recall, dict(stats.redacted)
    private, answered = redacted.pop("private", 0), f"{recall.answered} of {counted(recall.prompts, 'prompt')}"
    categories = _counts(sorted(stats.by_category.items()))
    secrets = _counts(sorted(redacted.items(), key=lambda item: -item[1]))
    waiting = f", {stats.to_consolidate} waiting" if stats.to_consolidate else ""
    pairs(
        "Memory",
        [
            ("memories", f"{stats.memories}" + (f" ({categories})" if categories else "")),
            ("core", _counts(sorted(stats.core_by_kind.items()))),
            ("ended", str(stats.ended_count or "")),
            ("turns consolidated", f"{stats.consolidated}{waiting}"),
            ("events", str(stats.events)),
            ("sessions", str(stats.sessions)),
            ("projects", str(stats.projects)),
            ("chunks", f"{stats.chunks}, {stats.embedded} with a vector"),
            ("on disk", size(stats.disk_bytes)),
            ("waiting on disk", str(stats.daemon.spool_waiting)),
            ("set aside (quarantine)", str(stats.quarantined or "")),
            ("recalled", f"{counted(recall.entries, 'entry')} for {answered}"),
            ("used", _used(stats.used)),
            ("private spans taken out", str(private or "")),
            ("secrets taken out", f"{sum(redacted.values())} ({secrets})" if secrets else ""),
        ],
    )
    names = {id_: str(row.get("name") or id_) for id_, row in registry.load(home()).items()}
    projects = sorted(stats.by_project.items(), key=lambda row: -row[1])
    rows = [(line(names.get(id_, id_)), counted(memories, "memory")) for id_, memories in projects]
    more = [("...", f"{len(rows) - PROJECTS_SHOWN} more")] if len(rows) > PROJECTS_SHOWN else []
    pairs("Projects", [*rows[:PROJECTS_SHOWN], *more])


def say_machinery(stats: StatsFound, trouble: Mapping[str, int]) -> None:
    """Print search, models, daemon, and the hooks' failures."""
    daemon, notes, sent = stats.daemon, stats.memory_notes, stats.embedding_use
    model = daemon.model
    name = line(model.name) if model.provider != "none" else "none"
    state = "" if model.fingerprint or name == "none" else " (not loaded)"
    of_budget = f" of {sent.daily_tokens:,}" if sent.is_on else ""
    tokens = f"{sent.today.tokens:,}{of_budget} today, {sent.all.tokens:,} in all"
    pairs(
        "Machinery",
        [
            ("search", {"hybrid": "full text and meaning", "lexical": "full text"}.get(daemon.mode, "")),
            ("model", line(model.place) or name + state),
            ("calibrated", line(model.calibrated) if model.place else ""),
            ("tokens for it", tokens if sent.all.tokens else ""),
            ("daemon", daemon_line(daemon.fields())),
            ("sends", sent_line(daemon.sends)),
            ("rebuilding", line(daemon.rebuilding)),
        ],
    )
    say_language_model(daemon.language_model)
    if notes.is_on or notes.read:
        rows = (
            ("sessions read", notes.read), ("nothing to read in", notes.bare), ("waiting", notes.waiting),
            ("notes", notes.notes), ("refused", notes.refused_notes),
            ("earlier memories retired", notes.retired_notes),
        )  # fmt: skip
        pairs("Memory notes", [(name, f"{count:,}") for name, count in rows])
    pairs(
        "Hooks",
        [
            ("not kept", ", ".join(f"{count} {line(why)}" for why, count in stats.refused.items())),
            ("in the last day", _trouble(trouble)),
        ],
    )


def say_language_model(use: ModelUse) -> None:
    """Print calls and tokens of the language model, if one was on."""
    if not use.is_on and not use.all.calls:
        return
    spent = f"{use.today.calls} of {use.daily_calls} calls, {use.today.tokens:,} of {use.daily_tokens:,} tokens"
    if use.is_on and use.is_over:
        spent += " (spent: sessions wait)"
    pairs(
        "Language model",
        [
            (
                "reads sessions" if use.reads == "session" else "reads each turn",
                f"{line(use.provider)} {line(use.model)}" if use.is_on else "none any more",
            ),
            ("today", spent),
            ("in all", f"{use.all.calls} calls, {use.all.tokens:,} tokens"),
            ("cost as told", f"{use.all.cost_usd:.4f} USD" if use.all.cost_usd else ""),
            ("sessions wait", line(use.lacks or use.problem, 300) if use.is_on else ""),
        ],
    )


def _counts(rows: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{line(name)} {count}" for name, count in rows)


def _used(use: UsageShare) -> str:
    if not use.shown and not use.cited:
        return ""
    share = f" ({100 * use.cited_of_shown / use.shown:.0f} % of those shown)" if use.shown else ""
    shown_cited = f"{use.shown} shown at prompts, {use.cited} cited{share}"
    return f"in {use.window_days} days {shown_cited}, {use.opened} looked up by the model"
