"""The verb that mends a damaged store."""

from __future__ import annotations

import click

from memlayer.cli.terminal.invocation import LONG_S, client, json_option
from memlayer.cli.terminal.output import counted, line, print_json, say
from memlayer.cli.terminal.progress import progress


@click.command("repair")
@json_option
def repair_verb(as_json: bool) -> None:
    """Mend a damaged store, as far as anything that is left tells what was in it.

    Events come back from the host's transcripts, memories from events, older versions and the search index, the index
    from both. What may lack its last change is named. Damaged files are set aside in store/damaged. Harmless on a store
    that is well.

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
    in_doubt = [f"[mem:{line(one)}]" for one in done.get("in_doubt") or []]
    if in_doubt:
        say(
            ("Look at these", "yellow"),
            f": {', '.join(in_doubt)} may lack their last change (a pin, an edit, what replaced them);",
            " `memlayer history <citation>` shows each, `memlayer restore <citation>` has it hold again.",
        )
    if done["folder"]:
        say(f"Damaged files are kept in {line(done['folder'])}. Remove that folder when you no longer need it.")
