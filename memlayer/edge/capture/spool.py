"""Files that hooks leave: events for the store, words for commands.

A file per event is on disk before its hook returns, and goes once the store has it. The words typed after one of the
plugin's own slash commands are kept until it runs: the host puts `$ARGUMENTS` into a command's shell lines as text (a
"```" ends them, and it refuses a backslash), but the UserPromptExpansion hook, which always runs before, sees them as
they were typed.
"""

from __future__ import annotations

import contextlib
import json
import os
import time

from memlayer.edge import HOOKS
from memlayer.edge.home import paths
from memlayer.edge.redaction import own_patterns
from memlayer.edge.redaction.privacy import redact

SUFFIX = ".json"
TEMPORARY_KEPT_S = 3600  # of a hook that lives: the machine may sleep in the middle of it
TEMPORARY_OF_DEAD_KEPT_S = 3
LATEST_MS = 253_370_764_800_000  # the year 9999, the last that a date can name
_REQUIRED = ("id", "kind", "session_id", "prompt_id", "text", "detail", "project_dir", "transcript_path", "source")
KINDS = ("remember", *dict.fromkeys(hook.kind for hook in HOOKS.values() if hook.kind))

# Command -> verb. `memory-stats` takes no words, and those of `memory-import` are for the model.
VERB_OF = {
    "memory-forget": "forget",
    "memory-history": "show --history",
    "memory-list": "list",
    "memory-notes": "notes",
    "memory-remember": "remember",
    "memory-review": "review",
    "memory-search": "search",
    "memory-show": "show",
    "memory-tasks": "task list",
    "memory-team": "team",
    "memory-view": "view",
}
MAX_TYPED_CHARS = 100_000

TYPED_KEPT_S = 600.0  # a command that the host refused never takes its words


def event_id(session_id: str, prompt_id: str, kind: str, extra: str = "") -> str:
    """Return 32 hex characters made of session, prompt id and kind.

    extra tells apart events with the same three: the text of a prompt from a host that sends no prompt id, the answer
    of a continued Stop, the moment of a session event.
    """
    # _sha2/_sha256 would be cheaper than hashlib, but their names changed between the Pythons we support.
    from hashlib import sha256

    return sha256("\0".join((session_id, prompt_id, kind, extra)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def put(home: str, event: dict[str, object]) -> str:
    """Write a captured event, already redacted. Return the file's path.

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
    with paths.open_regular(path) as file:
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
    listed = []
    for name in names:
        if name.endswith(".reason"):
            reason = paths.read_start(os.path.join(folder, name), 4096).decode("utf-8", "replace")
            listed.append((name[: -len(".reason")], reason.strip()))
    return listed


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


def own_command(name: str) -> str:
    """Return an own command's bare name; "" for any other."""
    bare = name.rpartition(":")[2]
    return bare if bare in VERB_OF and name in (bare, "memlayer:" + bare) else ""


def keep_typed(raw: bytes, home_raw: bytes, project_raw: bytes) -> None:
    """Keep an own command's words, redacted. Raises OSError, or ValueError without JSON."""
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
    own_patterns.use_file(paths.own_patterns(home))
    is_too_long = len(words) > MAX_TYPED_CHARS
    folder = os.fsdecode(project_raw) or payload.get("cwd")
    put_typed(
        home,
        session_id,
        command,
        {
            "text": "" if is_too_long else redact(words),
            "problem": "%d characters" % len(words) if is_too_long else "",
            "project_dir": folder if isinstance(folder, str) else "",
        },
    )


def put_typed(home: str, session_id: str, command: str, words: dict[str, str]) -> None:
    """Keep the words for `command` in this session. words: redacted. Raises OSError."""
    path = _typed_path(home, session_id, command)
    sweep_typed(home, time.time())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)  # even if the disk refuses the new words, the old ones are not taken for them
    paths.write_whole(path, json.dumps(words, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def take_typed(home: str, session_id: str, command: str) -> dict[str, str] | None:
    """Return the words for `command`, once; None without. Raises OSError."""
    path = _typed_path(home, session_id, command)
    sweep_typed(home, time.time())
    try:
        if os.path.islink(path):
            return None
        with paths.open_regular(path) as file:
            words = json.load(file)
        os.unlink(path)
    except (FileNotFoundError, ValueError):
        return None
    if not isinstance(words, dict):
        return None
    return {name: value for name, value in words.items() if isinstance(value, str)}


def sweep_typed(home: str, now_s: float, kept_s: float = TYPED_KEPT_S) -> None:
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


def _typed_path(home: str, session_id: str, command: str) -> str:
    return os.path.join(paths.typed(home), event_id(session_id, "", command) + ".json")
