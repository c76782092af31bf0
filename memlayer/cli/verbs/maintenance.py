"""The verbs that maintain the store: flush, reindex, repair, gc."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import LONG_S, client, json_option
from memlayer.cli.terminal.output import counted, line, print_json, progress, say, when
from memlayer.cli.verbs.forget import say_left


@click.command("flush")
@click.option("--wait", is_flag=True, help="Wait until everything is stored, indexed and on disk.")
@json_option
def flush_verb(wait: bool, as_json: bool) -> None:
    """Store the events in the spool, and consolidate and index them.

    \b
    Examples:
      memlayer flush --wait
    """
    with progress(as_json) as show:
        done = client().call("flush", {"wait": wait}, deadline_s=LONG_S, on_progress=show)
    if as_json:
        print_json(done)
        return
    say(f"Stored {counted(done.get('taken'), 'event')}.", f" Waiting: {done.get('waiting', 0)}.")
    unembedded = done.get("unembedded")
    if isinstance(unembedded, int) and unembedded > 0:  # below 0: not counted, because --wait was not given
        say(f"Not yet searched by meaning: {counted(unembedded, 'chunk')}. Their words are found already.")


@click.command("reindex")
@json_option
def reindex_verb(as_json: bool) -> None:
    """Rebuild the search index from events and memories.

    Turns that older rules consolidated are read again first: core memories that the current rules would not keep are
    retired. Nothing is lost, and recall works meanwhile, by full text at first.

    \b
    Examples:
      memlayer reindex
    """
    with progress(as_json) as show:
        done = client().call("reindex", {}, deadline_s=LONG_S, on_progress=show)
    if as_json:
        print_json(done)
        return
    if done.get("consolidated"):
        say(f"Read {counted(done['consolidated'], 'turn')} again.")
    say(f"The search index holds {counted(done.get('chunks'), 'chunk')}.")


@click.command("repair")
@json_option
def repair_verb(as_json: bool) -> None:
    """Repair a damaged store as far as its contents can be recovered.

    Events are restored from the host's transcripts, memories from events, older versions and the search index, the
    index from both. Memories that may lack their last change are listed. Damaged files are moved to store/damaged.
    Harmless on an undamaged store.

    \b
    Examples:
      memlayer repair
    """
    with progress(as_json) as show:
        done = client().call("repair", {}, deadline_s=LONG_S, on_progress=show)
    done["folder"] = done.pop("aside", "")
    if as_json:
        print_json(done)
        return
    for note in done.get("damage") or []:
        say(("Was damaged", "yellow"), f": {line(note)}")
    say(
        f"Brought back: {counted(done.get('events'), 'event')}, {counted(done.get('memories'), 'memory')};",
        f" {counted(done.get('indexed'), 'memory')} indexed anew.",
    )
    if done.get("missing"):
        say(("Gone", "yellow"), f": {counted(done['missing'], 'event')}, whose turns are still remembered.")
    in_doubt = [f"[mem:{line(citation)}]" for citation in done.get("in_doubt") or []]
    if in_doubt:
        say(
            ("Look at these", "yellow"),
            f": {', '.join(in_doubt)} may lack their last change (a pin, an edit, a replacement);",
            " `memlayer history <citation>` shows each, `memlayer restore <citation>` brings it back.",
        )
    if done["folder"]:
        say(f"Damaged files are kept in {line(done['folder'])}. Remove that folder when you no longer need it.")


# Nouns for rows, by a memory's category or an event's kind.
NAMES = {
    "conversation": "turn",
    "daily": "daily entry",
    "core": "core memory",
    "custom": "note",
    "user": "prompt",
    "assistant": "answer",
    "tool": "tool call",
}


@click.command("gc")
@click.option("--dry-run", is_flag=True, help="Only show the rows that would be removed.")
@json_option
def gc_verb(dry_run: bool, as_json: bool) -> None:
    """Remove everything older than the retention settings allow.

    The daemon does so once a day. Turns are removed with their words; memories drawn from them stay, with a note about
    the removed source. Also drops old versions of the store and compacts its files.

    \b
    Examples:
      memlayer gc --dry-run
      MEMLAYER_RETENTION__CONVERSATION_DAYS=90 memlayer config
    """
    found = client().call("gc", {"dry_run": dry_run}, deadline_s=LONG_S)
    if as_json:
        print_json(found)
        return
    days = {name: count for name, count in (found.get("days") or {}).items() if count}
    if not days:
        say("Nothing is removed by age. To change that: `memlayer config set retention.conversation_days 90`.")
    else:
        say("Kept: " + ", ".join(f"{line(name).removesuffix('_days')} {counted(n, 'day')}" for name, n in days.items()))
    rows = found.get("rows") or []
    if days:
        say((("Would go" if dry_run else "Gone") + ("" if rows else ": nothing"), "bold"))
    for row in rows:
        say_row(row)
    say_left(found)
    if not dry_run and not days:
        say("The store is compacted.")


def say_row(row: Mapping[str, Any]) -> None:
    """Print the number of rows of a kind in a project."""
    noun = NAMES.get(str(row.get("what")), line(row.get("what")).replace("_", " "))
    project = line(row.get("project")) or line(row.get("project_id"))
    say(counted(row.get("rows"), noun), "  ", (project, "cyan"), f"  since {when(row.get('oldest_ms'))[:10]}", indent=2)
