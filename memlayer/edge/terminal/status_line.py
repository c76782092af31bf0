"""The host's status line: notes of the last prompt, turns waiting, trouble.

Standard library and files of the home only: the host runs this after each message, with or without a daemon.
"""

from __future__ import annotations

import json
import os
import sys
import time

from memlayer.edge.bootstrap import health, runtime
from memlayer.edge.capture import spool
from memlayer.edge.home import given_notes, paths, project
from memlayer.edge.home.project_env import is_disabled
from memlayer.edge.hook.main import read_object
from memlayer.edge.redaction.privacy import plain
from memlayer.edge.terminal import streams

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from typing import Any

MAX_READ = 200  # spool files that are looked into
ANSWER_S = 60.0  # a prompt without an answer is no backlog for so long: both are taken in together

StatusFacts = dict[str, object]


def main(argv: list[str]) -> int:
    """Print the line, or facts; return 0: errors would blank it."""
    try:
        status = facts(paths.home_of(), _host_json(), time.time())
    except OSError as bad:
        status = {"line": "memlayer: %s" % (bad.strerror or "unreadable")}
    line = json.dumps(status) if "--json" in argv else str(status["line"])
    try:
        sys.stdout.buffer.write(line.encode("utf-8", "replace") + b"\n")
        sys.stdout.flush()
    except OSError:  # nobody reads it
        streams.drop(1)
    return 0


def facts(home: str, host: dict[str, object], now_s: float) -> StatusFacts:
    """Return the line and its facts. notes: None without a session."""
    if not _is_on(host):
        return {"line": "memlayer: off", "on": False}
    session_id = host.get("session_id")
    entry = given_notes.newest(home, session_id) if isinstance(session_id, str) and session_id else None
    turns, has_more = _turns_waiting(home, now_s)
    status: StatusFacts = {
        "on": True,
        "notes": len(entry["given"]) if entry is not None else None,
        "delivered": bool(entry.get("delivered", True)) if entry is not None else None,
        "turns_waiting": turns,
        "is_reading": _is_reading(home),
        "trouble": _trouble(home, now_s),
    }
    parts = [_notes(entry)] if session_id else []
    if turns or has_more:
        parts.append("%d%s %s waiting" % (turns, "+" if has_more else "", "turn" if turns == 1 else "turns"))
    if status["is_reading"]:
        parts.append("reading")
    if status["trouble"]:
        parts.append("%s (/memory-doctor)" % status["trouble"])
    status["line"] = "memlayer: " + (", ".join(parts) or "ready")
    return status


def _host_json() -> dict[str, object]:
    """Return the host's JSON; {} on a terminal or for anything else."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    try:
        host = json.loads(read_object(0))
    except (ValueError, RecursionError):
        return {}
    return host if isinstance(host, dict) else {}


def _is_on(host: dict[str, object]) -> bool:
    """True if memory is on for the host's project."""
    if is_disabled(os.environ.get("MEMLAYER_DISABLE")):
        return False
    workspace = host.get("workspace")
    folder = workspace.get("project_dir") if isinstance(workspace, dict) else host.get("cwd")
    if not isinstance(folder, str) or not folder or "\0" in folder:
        return True
    return project.enabled(folder)


def _notes(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "no notes yet"
    if not entry.get("delivered", True):
        return "notes came too late"
    count = len(entry["given"])
    text = "1 note" if count == 1 else "%d notes" % count if count else "no notes"
    return text + (" at the start" if "start" in entry else "")


def _turns_waiting(home: str, now_s: float) -> tuple[int, bool]:
    """Return how many turns wait, and whether more files were unread."""
    waiting = spool.waiting(home)
    turns = set()
    for path in waiting[:MAX_READ]:
        try:
            event, _ = spool.load(path)
        except OSError:  # taken in meanwhile
            continue
        if event is None or not event["prompt_id"]:
            continue
        if event["kind"] == "assistant" or now_s - spool.at_ms_of(path) / 1000 > ANSWER_S:
            turns.add((event["session_id"], event["prompt_id"]))
    return len(turns), len(waiting) > MAX_READ


def _is_reading(home: str) -> bool:
    """Return whether a language model reads a session just now."""
    pid = paths.read_start(paths.reading_now(home), 20).decode("ascii", "replace")
    return bool(pid) and paths.runs(pid)


def _trouble(home: str, now_s: float) -> str:
    """Return the gravest trouble in a few words, or ""."""
    failure = runtime.setup_failure(home)
    if failure:
        return "setup failed: %s" % plain(failure)[:60]
    trouble = health.trouble(home, now_s)
    for count, noun, outcome in (
        (trouble.lost, "hook call", "failed"),
        (trouble.aside_new, "event", "set aside"),
        (trouble.stuck, "event", "stuck"),
        (trouble.late_prompts if trouble.late_prompts > health.FEW else 0, "prompt", "answered too late"),
    ):
        if count:
            return "%d %s%s %s" % (count, noun, "" if count == 1 else "s", outcome)
    return ""
