"""The verb store, and `stats --files`."""

from __future__ import annotations

import os

import click

from memlayer.cli.terminal.invocation import (
    ask,
    end_with_json,
    global_option,
    home,
    json_option,
    project_dir,
    project_option,
)
from memlayer.cli.terminal.output import line, pairs, print_json, say, when
from memlayer.cli.verbs.forget import say_left
from memlayer.edge.capture import spool
from memlayer.edge.counting import counted
from memlayer.edge.home import paths
from memlayer.errors import UserError
from memlayer.kinds import CATEGORIES
from memlayer.wire import curation as curation_ops
from memlayer.wire import upkeep as upkeep_ops

# Nouns for rows, by a memory's category or an event's kind.
NAMES = {
    **{category.value: row.noun for category, row in CATEGORIES.items()},
    "user": "prompt",
    "assistant": "answer",
    "tool": "tool call",
}

names_argument = click.argument("names", nargs=-1, metavar="[NAME]...")


@click.group("store")
def store_verb() -> None:
    """Flush, index, repair or shrink the store.

    \b
    Examples:
      memlayer store flush --wait
      memlayer store repair
      memlayer store quarantine list
    """


@store_verb.command("flush")
@click.option("--wait", is_flag=True, help="Wait until everything is stored, indexed and on disk.")
@json_option
def flush_verb(wait: bool, as_json: bool) -> None:
    """Store the events that wait on disk, and consolidate and index them.

    \b
    Examples:
      memlayer store flush --wait
    """
    done = ask(upkeep_ops.Flush(wait), as_json, is_long=True)
    say(f"Stored {counted(done.taken, 'event')}.", f" Waiting: {done.waiting}.")
    unembedded = done.unembedded
    if unembedded > 0:  # below 0: not counted, because --wait was not given
        say(f"Not yet searched by meaning: {counted(unembedded, 'chunk')}. Their words are found already.")


@store_verb.command("reindex")
@json_option
def reindex_verb(as_json: bool) -> None:
    """Rebuild the search index from events and memories.

    Turns that older rules consolidated are read again first: core memories that the current rules would not keep are
    retired. Nothing is lost, and recall works meanwhile, by full text at first.

    \b
    Examples:
      memlayer store reindex
    """
    done = ask(upkeep_ops.Reindex(), as_json, is_long=True)
    if done.consolidated:
        say(f"Read {counted(done.consolidated, 'turn')} again.")
    say(f"The search index holds {counted(done.chunks, 'chunk')}.")


@store_verb.command("repair")
@json_option
def repair_verb(as_json: bool) -> None:
    """Repair a damaged store as far as its contents can be recovered.

    Events are restored from the host's transcripts, memories from events, older versions and the search index, the
    index from both. Memories that may lack their last change are listed. Damaged files are moved to store/damaged.
    Harmless on an undamaged store.

    \b
    Examples:
      memlayer store repair
    """
    done = ask(upkeep_ops.Repair(), as_json, is_long=True)
    for note in done.damage:
        say(("Was damaged", "yellow"), f": {line(note)}")
    say(
        f"Brought back: {counted(done.events, 'event')}, {counted(done.memories, 'memory')};",
        f" {counted(done.indexed, 'memory')} indexed anew.",
    )
    if done.missing:
        say(("Gone", "yellow"), f": {counted(done.missing, 'event')}. The turns are still remembered.")
    in_doubt = [f"[mem:{line(citation)}]" for citation in done.in_doubt]
    if in_doubt:
        say(
            ("Look at these", "yellow"),
            f": {', '.join(in_doubt)} may lack their last change (a pin, an edit, a replacement);",
            " `memlayer show --history <citation>` shows each, `memlayer edit --restore <citation>` brings it back.",
        )
    if done.aside:
        say(f"Damaged files are kept in {line(done.aside)}. Remove that folder when you no longer need it.")


@store_verb.command("gc")
@click.option("--dry-run", is_flag=True, help="Only show the rows that would be removed.")
@json_option
def gc_verb(dry_run: bool, as_json: bool) -> None:
    """Remove everything older than the retention settings allow.

    The daemon does so once a day. Turns are removed with their words. Memories drawn from them stay, with a note about
    the removed source. Also drops old versions of the store and compacts its files.

    \b
    Examples:
      memlayer store gc --dry-run
      memlayer config set retention.conversation_days 90
    """
    answer = ask(curation_ops.Gc(dry_run), as_json, is_long=True)
    days = {name: count for name, count in answer.days.items() if count}
    if not days:
        say("Nothing is removed by age. To change that: `memlayer config set retention.conversation_days 90`.")
    else:
        say("Kept: " + ", ".join(f"{line(name).removesuffix('_days')} {counted(n, 'day')}" for name, n in days.items()))
    rows = answer.rows
    if days:
        say((("Would go" if dry_run else "Gone") + ("" if rows else ": nothing"), "bold"))
    for row in rows:
        say_row(row)
    say_left(answer.left)
    if not dry_run and not days:
        say("The store is compacted.")


def say_row(row: curation_ops.AgedRows) -> None:
    """Print the number of rows of a kind in a project."""
    noun = NAMES.get(row.kind, line(row.kind).replace("_", " "))
    project = line(row.project) or line(row.project_id)
    say(counted(row.rows, noun), "  ", (project, "cyan"), f"  since {when(row.oldest_ms)[:10]}", indent=2)


@click.command("files")
@project_option
@global_option
@click.option("--now", is_flag=True, help="Read your changes and write the files now instead of within seconds.")
@json_option
def files_verb(project: str | None, is_global: bool, now: bool, as_json: bool) -> None:
    """Show the paths of a project's memory files.

    These are MEMORY.md, and a file for each day in memory/. They may be edited: a changed line changes its memory, a
    deleted line retires it, a new line is remembered.

    \b
    Examples:
      memlayer stats --files
      memlayer stats --files --now
    """
    folder = project_dir(project, is_global=is_global)
    answer = ask(upkeep_ops.Files(folder, is_global, now), as_json, is_long=True)
    say_files(answer)


def say_files(answer: upkeep_ops.MemoryFiles) -> None:
    """Print the paths of memory files, and changes read back."""
    changes = answer.taken_back or {}
    if any(changes.values()):
        counts = ", ".join(f"{changes[name]} {name}" for name in ("added", "edited", "removed") if changes.get(name))
        say(f"Read back: {counts}.")
    if not answer.folder:
        say("No memory files: files.enabled is false, or the project is switched off. See `memlayer config`.")
    elif not answer.files:
        say(line(answer.folder), "  (empty: nothing is remembered yet)")
    for path in answer.files or []:
        say(line(path))
    for path, count in sorted((answer.extra or {}).items()):
        say(line(path), f"  also searched: {counted(count, 'file')}")
    for notice in answer.notices or []:
        say(("Note", "yellow"), f": {line(notice)}")


@store_verb.group("quarantine")
def quarantine_verb() -> None:
    """Show, retry or remove events that could not be read.

    \b
    Examples:
      memlayer store quarantine list
      memlayer store quarantine retry
      memlayer store quarantine drop --all
    """


@quarantine_verb.command("list")
@json_option
def list_verb(as_json: bool) -> None:
    """List the events with time and reason. Does not start the daemon."""
    events = [_described(name, reason) for name, reason in spool.quarantined(home())]
    if as_json:
        print_json({"folder": paths.quarantine(home()), "events": events})
    elif not events:
        say("The quarantine is empty.")
    else:
        rows = [(str(event["name"]), f"{when(event['at_ms'])}  {line(event['reason'])}".strip()) for event in events]
        pairs(f"{len(events)} set aside in {line(paths.quarantine(home()))}", rows)


@quarantine_verb.command("retry")
@names_argument
@json_option
def retry_verb(names: tuple[str, ...], as_json: bool) -> None:
    """Read the named events again, or all.

    Events that still cannot be read go back into quarantine.

    \b
    Examples:
      memlayer store quarantine retry
    """
    chosen = _chosen(names)
    for name in chosen:
        spool.give_back(home(), name)
    if chosen:
        ask(upkeep_ops.Flush(wait=True), is_long=True, quiet=as_json)
    left = [_described(name, reason) for name, reason in spool.quarantined(home()) if name in chosen]
    if as_json:
        end_with_json({"taken": len(chosen) - len(left), "left": left})
    say(f"Stored: {len(chosen) - len(left)}. Still set aside: {len(left)}.")
    for event in left:
        say(str(event["name"]), f": {line(event['reason'])}", indent=2)


@quarantine_verb.command("drop")
@names_argument
@click.option("--all", "everything", is_flag=True, help="All events in quarantine.")
@json_option
def drop_verb(names: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Remove the named events, or all, with their texts for good.

    \b
    Examples:
      memlayer store quarantine drop --all
    """
    if bool(names) == everything:
        raise click.UsageError("Give the names that `memlayer store quarantine list` shows, or --all")
    chosen = _chosen(names)
    for name in chosen:
        spool.drop_quarantined(home(), name)
    if as_json:
        print_json({"dropped": len(chosen)})
    else:
        say(f"Removed: {len(chosen)}.")


def _chosen(names: tuple[str, ...]) -> list[str]:
    """Return the names, or all. Raises UserError for an unknown name."""
    known = [name for name, _ in spool.quarantined(home())]
    for name in names:
        if name not in known:
            raise UserError(f"{name} is not in quarantine; `memlayer store quarantine list` shows the names")
    return list(dict.fromkeys(names)) or known


def _described(name: str, reason: str) -> dict[str, object]:
    try:
        event, _ = spool.load(os.path.join(paths.quarantine(home()), name))
    except OSError:
        event = None
    return {
        "name": name,
        "at_ms": spool.at_ms_of(name),
        "kind": str(event["kind"]) if event else "",
        "session_id": str(event["session_id"]) if event else "",
        "reason": reason,
    }
