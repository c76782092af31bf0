"""The plugin's own slash commands, and the words typed after them.

The host puts `$ARGUMENTS` into a command's shell lines as text: a "```" ends them, a backslash has them refused. The
UserPromptExpansion hook sees the words as they were typed, always before the command runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import time

from memlayer.edge.home import paths
from memlayer.edge.home.ids import event_id

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


KEPT_S = 600.0  # a command that the host refused never takes its words


def put(home: str, session_id: str, command: str, said: dict[str, str]) -> None:
    """Keep what `command` is to be given in this session. said: redacted. Raises OSError."""
    path = _path(home, session_id, command)
    sweep(home, time.time())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # even if the disk refuses the new words, the old ones are not taken for them
    paths.write_whole(path, json.dumps(said, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def take(home: str, session_id: str, command: str) -> dict[str, str] | None:
    """What `command` was given in this session, once; None when no hook has said. Raises OSError."""
    path = _path(home, session_id, command)
    sweep(home, time.time())
    try:
        if os.path.islink(path):
            return None
        with open(path, "rb") as file:
            said = json.load(file)
        os.unlink(path)
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(said, dict):
        return None
    return {name: value for name, value in said.items() if isinstance(value, str)}


def sweep(home: str, now_s: float, kept_s: float = KEPT_S) -> None:
    """Remove words that no command has taken within kept_s seconds."""
    folder = paths.typed(home)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            if abs(now_s - os.lstat(path).st_mtime) >= kept_s:  # also when the clock was set back
                os.unlink(path)


def _path(home: str, session_id: str, command: str) -> str:
    return os.path.join(paths.typed(home), event_id(session_id, "", command) + ".json")


NO_REPLY = "NO_REPLY"
_MARK = "memlayer asks, before this conversation is compacted:"
REQUEST = (
    _MARK + " if it has brought up facts, decisions, preferences or commitments that later sessions will need and that"
    ' you have not stored yet, store each of them now with the Bash command `memlayer remember "..."`: one sentence'
    " that can be understood without this conversation, with its exact names, values and paths, in the user's language;"
    " at most five. Then, or if there is nothing to store, answer with exactly " + NO_REPLY + " and nothing else."
)
_MOST_CHARS = len(NO_REPLY) + 8


def continuation() -> bytes:
    """What the Stop hook prints to have the model go on with REQUEST."""
    return json.dumps({"decision": "block", "reason": REQUEST}).encode()


def is_request(text: str) -> bool:
    """True for the message by which the host tells the model of REQUEST."""
    return _MARK in text[:400]


def is_no_reply(text: str) -> bool:
    """True for an answer that says it is none."""
    return len(text) <= _MOST_CHARS and text.strip(" \t\r\n`*\"'.").upper() == NO_REPLY
