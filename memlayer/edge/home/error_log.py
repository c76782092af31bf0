"""Logs of errors: of hooks, of the tools' server, of the agent.

A JSON line an error, in logs/hook.log, logs/mcp.log or logs/agent.log: never memory text, never the environment.
"""

from __future__ import annotations

import json
import os
import sys
import time

from memlayer.edge.home import paths

MAX_LOG_BYTES = 1_000_000


def write(path: str, message: str, **fields: object) -> None:
    """Append one JSON line. Raises OSError.

    fields: `hook`, `tool` or `provider`, and numbers. A file that has grown too long is rotated once.
    """
    paths.make_folder(os.path.dirname(path))
    entry = {"at_ms": time.time_ns() // 1_000_000, "what": message, **fields}
    line = json.dumps(entry, ensure_ascii=False)
    try:
        if os.stat(path).st_size > MAX_LOG_BYTES:
            os.replace(path, path + ".1")
    except FileNotFoundError:
        pass
    fd = paths.open_fd(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(fd, line.encode("utf-8", "replace") + b"\n")
    finally:
        os.close(fd)


def write_traceback(path: str, **fields: object) -> None:
    """Log the exception being handled: its type and place. Raises OSError.

    Not its message, which may hold text of the prompt.
    """
    import traceback  # slow to import, and seldom needed

    kind, _, where = sys.exc_info()
    frames = [
        "%s:%d %s" % (os.path.basename(frame.filename), frame.lineno or 0, frame.name)
        for frame in traceback.extract_tb(where)
    ]
    write(path, "failed", **fields, error=kind.__name__ if kind else "?", at=frames[-6:])
