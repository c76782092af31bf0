"""The plugin's own slash commands, and the words typed after them.

The host puts `$ARGUMENTS` into a command's shell lines as text: a "```" ends them, and it refuses a backslash. The
UserPromptExpansion hook sees the words as they were typed, always before the command runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import time

from memlayer.edge.capture.spool import event_id
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import redact

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
    """Return an own command's bare name; "" for any other."""
    bare = name.rpartition(":")[2]
    return bare if bare in VERB_OF and name in (bare, "memlayer:" + bare) else ""


KEPT_S = 600.0  # a command that the host refused never takes its words


def keep_typed(raw: bytes, home_raw: bytes, project_raw: bytes) -> None:
    """Keep the words of a UserPromptExpansion payload, redacted.

    Only for the plugin's own commands. Raises OSError, and ValueError for anything but JSON.
    """
    payload = json.loads(raw.decode("utf-8", "replace"))
    command, words, session_id = (payload.get(name) for name in ("command_name", "command_args", "session_id"))
    command = own_command(command) if isinstance(command, str) else ""
    if not (command and isinstance(words, str) and isinstance(session_id, str) and session_id):
        return
    os.umask(0o077)
    home = os.fsdecode(home_raw)
    paths.make_folder(home)
    if os.stat(home).st_uid != os.getuid():
        return
    is_too_long = len(words) > MAX_TYPED_CHARS
    folder = os.fsdecode(project_raw) or payload.get("cwd")
    put(
        home,
        session_id,
        command,
        {
            "text": "" if is_too_long else redact(words),
            "problem": "%d characters" % len(words) if is_too_long else "",
            "project_dir": folder if isinstance(folder, str) else "",
        },
    )


def put(home: str, session_id: str, command: str, words: dict[str, str]) -> None:
    """Keep the words for `command` in this session. words: redacted. Raises OSError."""
    path = _path(home, session_id, command)
    sweep(home, time.time())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # even if the disk refuses the new words, the old ones are not taken for them
    paths.write_whole(path, json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def take(home: str, session_id: str, command: str) -> dict[str, str] | None:
    """Return the words for `command`, once; None without. Raises OSError."""
    path = _path(home, session_id, command)
    sweep(home, time.time())
    try:
        if os.path.islink(path):
            return None
        with open(path, "rb") as file:
            words = json.load(file)
        os.unlink(path)
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(words, dict):
        return None
    return {name: value for name, value in words.items() if isinstance(value, str)}


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
