"""The verb that lets go of what the settings call too old."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from memlayer.cli.terminal.invocation import LONG_S, client, json_option
from memlayer.cli.terminal.output import counted, line, print_json, say, when
from memlayer.cli.verbs.forget import say_left

# What the rows are called: a memory's category, or an event's kind.
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
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@json_option
def gc_verb(dry_run: bool, as_json: bool) -> None:
    """Remove what is older than the retention settings allow; the daemon does so by itself once a day.

    Turns go with their words; memories drawn from them stay, with a note of their source. Also drops old versions of
    the store and packs its files.

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
        say("Everything is kept. To change that: `memlayer config set retention.conversation_days 90`.")
    else:
        say("Kept: " + ", ".join(f"{line(name).removesuffix('_days')} {counted(n, 'day')}" for name, n in days.items()))
    rows = found.get("rows") or []
    if days:
        say((("Would go" if dry_run else "Gone") + ("" if rows else ": nothing"), "bold"))
    for row in rows:
        say_row(row)
    say_left(found)
    if not dry_run and not days:
        say("The store is packed.")


def say_row(row: Mapping[str, Any]) -> None:
    """One kind of one project."""
    noun = NAMES.get(str(row.get("what")), line(row.get("what")).replace("_", " "))
    project = line(row.get("project")) or line(row.get("project_id"))
    say(counted(row.get("rows"), noun), "  ", (project, "cyan"), f"  since {when(row.get('oldest_ms'))[:10]}", indent=2)
