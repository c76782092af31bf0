"""Record of the notes given to prompts and session starts.

Ids and scores, no text. A JSON line per prompt, appended by the daemon after its answer. The status line reads the end
of it without a daemon. Texts are looked up when a person asks, so a forgotten memory needs no change here.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.home import paths

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from typing import Any

NAME = "given.jsonl"
MAX_BYTES = 1_000_000  # some hundred prompts. Then the older half goes
TAIL_BYTES = 100_000  # how far back the newest entry of a session is looked for
NEWEST_LINES = 8  # parsed at most. The last may be torn


def path_of(home: str) -> str:
    """The record's file."""
    return os.path.join(home, NAME)


def put(home: str, entry: dict[str, Any]) -> None:
    """Append one entry, for this user alone. Raises OSError.

    Drops the older half of a full record. Only one process may write.
    """
    path = path_of(home)
    fd = paths.open_fd(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    with open(fd, "r+b", buffering=0) as file:
        size = os.fstat(fd).st_size
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        if size and os.pread(fd, 1, size - 1) != b"\n":
            line = b"\n" + line  # a crash has torn the line before
        file.write(line)
    if size + len(line) > MAX_BYTES:
        paths.write_whole(path, paths.read_end(path, MAX_BYTES // 2))


def entries(home: str) -> list[dict[str, Any]]:
    """Return every whole entry, newest first."""
    return _parsed(paths.read_end(path_of(home), MAX_BYTES * 2))


def newest(home: str, session_id: str) -> dict[str, Any] | None:
    """Return the newest entry of a session; None without a recent one."""
    named = json.dumps(session_id, ensure_ascii=False).encode("utf-8", "replace")
    lines = [line for line in paths.read_end(path_of(home), TAIL_BYTES).splitlines() if named in line]
    parsed = _parsed(b"\n".join(lines[-NEWEST_LINES:]))
    return next((entry for entry in parsed if entry["session_id"] == session_id), None)


def _parsed(lines: bytes) -> list[dict[str, Any]]:
    """Return the entries of these lines, newest first."""
    parsed = []
    for line in reversed(lines.splitlines()):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and _is_whole(entry):
            parsed.append(entry)
    return parsed


def _is_whole(entry: dict[str, Any]) -> bool:
    rows = [entry.get("given", []), entry.get("left_out", [])]
    return (
        isinstance(entry.get("at_ms"), int)
        and all(isinstance(entry.get(name), str) for name in ("session_id", "project_id", "event_id"))
        and all(isinstance(part, list) and all(isinstance(row, dict) for row in part) for part in rows)
    )
