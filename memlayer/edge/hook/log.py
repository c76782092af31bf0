"""logs/hook.log: errors that hooks swallowed. Never memory text, never the environment."""

from __future__ import annotations

import json
import os
import sys
import time

from memlayer.edge.home import paths

MAX_LOG_BYTES = 1_000_000


def write(home: str, hook: str, message: str, **numbers: object) -> None:
    """Append one JSON line; rotate a long file once. Raises OSError."""
    path = paths.hook_log(home)
    paths.make_folder(os.path.dirname(path))
    entry = {"at_ms": time.time_ns() // 1_000_000, "hook": hook, "what": message, **numbers}
    line = json.dumps(entry, ensure_ascii=False)
    try:
        if os.stat(path).st_size > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
    except FileNotFoundError:
        pass
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), paths.FILE_MODE)
    try:
        os.write(fd, line.encode("utf-8", "replace") + b"\n")
    finally:
        os.close(fd)


def write_traceback(hook: str) -> None:
    """Log the exception's type and place; its message may hold text."""
    import traceback  # slow to import, and seldom needed

    kind, _, where = sys.exc_info()
    frames = [
        "%s:%d %s" % (os.path.basename(frame.filename), frame.lineno or 0, frame.name)
        for frame in traceback.extract_tb(where)
    ]
    write(paths.home_of(), hook, "failed", error=kind.__name__ if kind else "?", at=frames[-6:])
