"""The verbs that make the daemon work things off: flush, reindex."""

from __future__ import annotations

import click

from memlayer.cli.terminal.invocation import LONG_S, client, json_option
from memlayer.cli.terminal.output import counted, print_json, say
from memlayer.cli.terminal.progress import progress


@click.command("flush")
@click.option("--wait", is_flag=True, help="Wait until everything is stored, indexed and on disk.")
@json_option
def flush_verb(wait: bool, as_json: bool) -> None:
    """Store what the hooks have spooled, and settle it.

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
    if isinstance(unembedded, int) and unembedded > 0:  # below 0: not counted, because nobody waits for it
        say(f"Not yet searched by meaning: {counted(unembedded, 'chunk')}. Their words are found already.")


@click.command("reindex")
@json_option
def reindex_verb(as_json: bool) -> None:
    """Rebuild the search index from events and memories.

    Turns that older rules consolidated are read again first: what they kept and the rules of today would not keep is
    retired. Nothing is lost by it, and recall goes on meanwhile, by full text at first.

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
