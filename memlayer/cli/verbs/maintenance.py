"""Work on the store, behind `doctor`, and the memory files."""

import os

from memlayer.cli.terminal.invocation import ask, end_with_json, home
from memlayer.cli.terminal.output import line, pairs, print_json, say, when
from memlayer.cli.verbs.forget import say_left
from memlayer.edge.capture import spool
from memlayer.edge.counting import counted
from memlayer.edge.home import paths
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


def flush(as_json: bool) -> None:
    """Store, consolidate and index the events that wait on disk."""
    done = ask(upkeep_ops.Flush(), as_json, is_long=True)
    say(f"Stored {counted(done.taken, 'event')}.", f" Waiting: {done.waiting}.")
    if done.unembedded > 0:  # below 0: not counted
        say(f"Not yet searched by meaning: {counted(done.unembedded, 'chunk')}. Their words are found already.")


def reindex(as_json: bool) -> None:
    """Rebuild the search index from events and memories."""
    done = ask(upkeep_ops.Reindex(), as_json, is_long=True)
    if done.consolidated:
        say(f"Read {counted(done.consolidated, 'turn')} again.")
    say(f"The search index holds {counted(done.chunks, 'chunk')}.")


def repair(as_json: bool) -> None:
    """Repair a damaged store, and read the events in quarantine again."""
    names = [name for name, _ in spool.quarantined(home())]
    for name in names:
        spool.give_back(home(), name)
    done = ask(upkeep_ops.Repair(), is_long=True, quiet=as_json)
    left = [_described(name, reason) for name, reason in spool.quarantined(home())]
    if as_json:
        end_with_json({**done.fields(), "set_aside": left})
    for note in done.damage:
        say(("Was damaged", "yellow"), f": {line(note)}")
    _say_repaired(done, bool(names))
    if done.aside:
        say(f"Damaged files are kept in {line(done.aside)}. Remove that folder when you no longer need it.")
    if names:
        say(f"{counted(len(names), 'event')} of the quarantine tried again, {len(left)} still cannot be read.")


def _say_repaired(done: upkeep_ops.Repaired, has_quarantine: bool) -> None:
    """Print the outcome of a repair."""
    if done.events or done.memories or done.indexed:
        say(
            f"Brought back: {counted(done.events, 'event')}, {counted(done.memories, 'memory')};",
            f" {counted(done.indexed, 'memory')} indexed anew.",
        )
    elif not (done.damage or done.missing or has_quarantine):
        say("Nothing to repair.")
    if done.unknown_rules:
        say(
            ("Look at these", "yellow"),
            f": {counted(done.unknown_rules, 'rule')} could not be brought back: nothing tells any more that the words",
            " are yours. `memlayer review` asks about each.",
        )
    if done.missing:
        say(("Gone", "yellow"), f": {counted(done.missing, 'event')}. The turns are still remembered.")
    in_doubt = [f"[mem:{line(citation)}]" for citation in done.in_doubt]
    if in_doubt:
        say(
            ("Look at these", "yellow"),
            f": {', '.join(in_doubt)} may lack their last change (a pin, an edit, a replacement);",
            " `memlayer show --history <citation>` shows each, `memlayer edit <citation> --restore` brings it back.",
        )


def collect(dry_run: bool, as_json: bool) -> None:
    """Remove everything older than the retention settings allow, or show it."""
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


def quarantine(drop: bool, as_json: bool) -> None:
    """List the events that could not be read, or remove them."""
    events = [_described(name, reason) for name, reason in spool.quarantined(home())]
    if drop:
        for event in events:
            spool.drop_quarantined(home(), str(event["name"]))
    if as_json:
        print_json(
            {"folder": paths.quarantine(home()), "events": [] if drop else events, "dropped": len(events) * drop}
        )
    elif drop:
        say(f"Removed: {len(events)}.")
    elif not events:
        say("The quarantine is empty.")
    else:
        rows = [(str(event["name"]), f"{when(event['at_ms'])}  {line(event['reason'])}".strip()) for event in events]
        pairs(f"{len(events)} set aside in {line(paths.quarantine(home()))}", rows)


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


def say_files(answer: upkeep_ops.MemoryFiles) -> None:
    """Print the paths of memory files, and changes read back."""
    counts = ", ".join(f"{count} {name}" for name, count in answer.taken_back.fields().items() if count)
    if counts:
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
