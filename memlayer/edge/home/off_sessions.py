"""Sessions that ran with MEMLAYER_DISABLE: their ids, and since when.

An import leaves them out.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.home import paths


def add(home: str, raw: bytes, at_ms: int) -> None:
    """Add the session of a hook's payload, where a home is.

    Raises OSError or ValueError.
    """
    payload = json.loads(raw.decode("utf-8", "replace"))
    session_id = payload.get("session_id") if isinstance(payload, dict) else ""
    if not (isinstance(session_id, str) and session_id.isascii() and session_id.isprintable()):
        return
    if " " in session_id or not session_id or os.stat(home).st_uid != os.getuid():
        return
    fd = paths.open_fd(paths.off_sessions(home), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(fd, ("%s %d\n" % (session_id[:200], at_ms)).encode())
    finally:
        os.close(fd)


def since(home: str) -> dict[str, int]:
    """Return session id -> when it was first switched off, in ms."""
    try:
        with paths.open_regular(paths.off_sessions(home), follow_links=False) as file:
            rows = [line.split() for line in file.read().decode("ascii", "ignore").splitlines()]
    except OSError:
        return {}
    return {row[0]: int(row[1]) for row in reversed(rows) if len(row) == 2 and row[1].isdigit()}
