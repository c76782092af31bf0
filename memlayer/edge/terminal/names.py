"""Old names of verbs, accepted until November 2027."""

from __future__ import annotations

from memlayer.edge.terminal.streams import tell_line

PRESENT = {
    "blame": "show --file",
    "citations": "list --cited",
    "files --accept": "project accept",
    "files": "stats --files",
    "fix": "search --error",
    "flush": "store flush",
    "gc": "store gc",
    "history": "show --history",
    "mode": "project mode",
    "pin": "edit --pin",
    "promote": "team promote",
    "quarantine": "store quarantine",
    "recall": "search --as-prompt",
    "reindex": "store reindex",
    "repair": "store repair",
    "restore": "edit --restore",
    "tasks": "task list",
    "timeline": "show --around",
    "topics": "project topics",
    "version": "--version",
    "work": "project",
}


def in_present_names(typed: list[str], *, tells: bool = True) -> list[str]:
    """Return a command line in present names, telling of earlier ones."""
    for old, new in PRESENT.items():
        verb, *options = old.split()
        if typed[:1] == [verb] and set(options) <= set(typed):
            if tells:
                tell_line("`memlayer %s` is now `memlayer %s`" % (old, new))
            return [*new.split(), *(word for word in typed[1:] if word not in options)]
    return typed
