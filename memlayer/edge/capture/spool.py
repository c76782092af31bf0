"""Keep one file per event until the store has it.

On disk before a hook returns.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.home import paths

SUFFIX = ".json"
TEMPORARY_KEPT_S = 3600  # of a hook that lives: the machine may sleep in the middle of it
TEMPORARY_OF_DEAD_KEPT_S = 3
LATEST_MS = 253_370_764_800_000  # the year 9999, the last that a date can name
_REQUIRED = ("id", "kind", "session_id", "prompt_id", "text", "detail", "project_dir", "transcript_path", "source")
KINDS = ("user", "assistant", "tool", "remember", "session_start", "session_end", "pre_compact", "post_compact")


def event_id(session_id: str, prompt_id: str, kind: str, extra: str = "") -> str:
    """Return 32 hex characters made of session, prompt id and kind.

    extra tells apart events with the same three: the text of a prompt from a host that sends no prompt id, the answer
    of a continued Stop, the moment of a session event.
    """
    # _sha2/_sha256 would be cheaper than hashlib, but their names changed between the Pythons we support.
    from hashlib import sha256

    return sha256("\0".join((session_id, prompt_id, kind, extra)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def put(home: str, event: dict[str, object]) -> str:
    """Write a captured event, already redacted; return the file's path.

    event: edge.capture.payload.SPOOL_FIELDS. The name is the moment and the event's id: the same event from the daemon
    and from the hook is the same file. Raises OSError when the disk refuses.
    """
    path = os.path.join(paths.spool(home), "%s-%s%s" % (str(event["at_ms"]).zfill(13), event["id"], SUFFIX))
    paths.write_whole(path, json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
    return path


def waiting(home: str) -> list[str]:
    """Return the paths of the spool files, oldest first."""
    folder = paths.spool(home)
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.endswith(SUFFIX) and name[0] != "."]


def id_of(path: str) -> str:
    """Return the event's id from its name; "" for a foreign name."""
    at_ms, _, rest = os.path.basename(path).partition("-")
    return rest.partition(".")[0] if at_ms.isdigit() else ""


def at_ms_of(path: str) -> int:
    """Return the event's Unix time in ms from its name, or 0."""
    at_ms = os.path.basename(path).partition("-")[0]
    return int(at_ms) if at_ms.isdigit() else 0


def load(path: str) -> tuple[dict[str, object] | None, str]:
    """Return (event, "") or (None, problem), no link followed. Raises OSError."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None, "not a regular file"
    with open(path, "rb") as file:
        raw = file.read()
    try:
        event = json.loads(raw)
    except (ValueError, RecursionError):
        return None, "torn: not JSON"
    if not isinstance(event, dict):
        return None, "foreign: not an object"
    if event.get("v") != 1:
        return None, "written by another version: v=%r" % (event.get("v"),)
    for name in _REQUIRED:
        if not isinstance(event.get(name), str):
            return None, "foreign: no %s" % name
    at_ms = event.get("at_ms")
    if isinstance(at_ms, bool) or not isinstance(at_ms, int) or not 0 <= at_ms < LATEST_MS:
        return None, "foreign: no at_ms"
    if event["kind"] not in KINDS:
        return None, "foreign: kind %r" % (event["kind"],)
    if not (event["id"] and event["session_id"]):
        return None, "foreign: empty id"
    return event, ""


def quarantine(home: str, path: str, reason: str) -> None:
    """Move a file to quarantine, with its reason beside it. Raises OSError."""
    folder = paths.make_folder(paths.quarantine(home))
    name = os.path.basename(path)
    paths.write_whole(os.path.join(folder, name + ".reason"), reason.encode("utf-8", "replace") + b"\n")
    os.rename(path, os.path.join(folder, name))
    paths.sync_folder(folder)


def quarantined(home: str) -> list[tuple[str, str]]:
    """Return (file name, reason) of each file in quarantine."""
    folder = paths.quarantine(home)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    found = []
    for name in names:
        if name.endswith(".reason"):
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                found.append((name[: -len(".reason")], file.read().strip()))
    return found


def give_back(home: str, name: str) -> None:
    """Move a file from quarantine to the spool again. Raises OSError."""
    aside = os.path.join(paths.quarantine(home), name)
    os.rename(aside, os.path.join(paths.make_folder(paths.spool(home)), name))
    paths.sync_folder(paths.spool(home))
    drop([aside + ".reason"])


def drop_quarantined(home: str, name: str) -> None:
    """Remove a file from quarantine, and its reason. Raises OSError."""
    aside = os.path.join(paths.quarantine(home), name)
    drop([aside, aside + ".reason"])
    paths.sync_folder(paths.quarantine(home))


def drop(taken: list[str]) -> None:
    """Remove spool files whose events are in the store and on disk."""
    for path in taken:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def sweep(home: str, now_s: float) -> int:
    """Remove temporary files of a crash, with their words; return how many."""
    return paths.sweep(paths.spool(home), now_s, TEMPORARY_KEPT_S, TEMPORARY_OF_DEAD_KEPT_S)
