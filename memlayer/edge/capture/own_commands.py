"""memlayer's slash commands that take words, and the verb that each of them runs."""

from __future__ import annotations

# Command -> verb. `memory-stats` takes no words, and those of `memory-import` are for the model.
VERB_OF = {
    "memory-forget": "forget",
    "memory-history": "history",
    "memory-list": "list",
    "memory-remember": "remember",
    "memory-search": "search",
    "memory-show": "show",
}
MAX_TYPED_CHARS = 100_000


def own_command(name: str) -> str:
    """The command in the name that the host calls it by (`memlayer:memory-search`); "" for any other."""
    bare = name.rpartition(":")[2]
    return bare if bare in VERB_OF and name in (bare, "memlayer:" + bare) else ""
