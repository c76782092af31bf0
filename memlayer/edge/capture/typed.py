"""Words typed after a slash command, from the hook that sees them to the command that runs.

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
