"""Paths under the memlayer home, as plain strings, and durable writes."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from _thread import get_ident  # `threading` costs a hook milliseconds

from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, BinaryIO

FILE_MODE = 0o600
FOLDER_MODE = 0o700
TEMPORARY = ".tmp-"

# Relative names: client and daemon both chdir into the home first, so that a home with a long path still fits into the
# 104 to 108 bytes that a unix socket address may have.
SOCKET_NAME = "daemon.sock"


def home_of() -> str:
    """Return MEMLAYER_HOME, else ~/.memlayer. Raises UserError for relative paths."""
    home = os.path.expanduser(os.environ.get("MEMLAYER_HOME") or "~/.memlayer")
    if not os.path.isabs(home):  # it would be another home in every folder, and in repositories that others read
        raise UserError("MEMLAYER_HOME is not absolute: '%s'. Set it to a path that begins with / or ~" % home)
    return os.path.normpath(home)


def under(*names: str) -> Callable[[str], str]:
    """Return a function of the home that returns a path in it."""
    return lambda home: os.path.join(home, *names)


spool = under("spool")
typed = under("typed")
quarantine = under("quarantine")
off_sessions = under("off_sessions")  # that ran with MEMLAYER_DISABLE, ids alone
store = under("store")
cache = under("cache")
sessions = under("sessions")
notes_offered = under("notes.offered")  # how often a model's notes were offered
reading_now = under("reading.pid")  # while a language model reads a session: the daemon's process id
readings = under("readings")  # what a language model was shown of each session
reviewed = under("reviewed.json")  # decisions of `memlayer review`, ids alone
untold_rules = under("untold_rules.json")  # whose line the person has not seen, ids alone
working_sets = under("working_sets")
noted_names = under("noted_names")  # names of code in notes, by which they are checked
projects = under("projects.json")
settings = under("config.yaml")
model_use = under("model_use.json")  # tokens spent by the language model, once one was turned on
agent_use = under("agent_use.json")  # tokens spent in talks with the agent
embedding_use = under("embedding_use.json")  # tokens spent on embeddings, once a provider was chosen
tool_findings = under("cache", "tool_findings.json")  # whether servers of the agent take tools
model_since = under("model_since.json")  # moment when the language model was turned on
actions = under("actions")  # words of calls that have a lesson
daemon_variables = under("daemon_variables")  # names, no values, of further variables for the daemon
share = under("share")  # of memories with other machines: record, key, ledger
former_key = under("share.key")  # of a share that was stopped
former_share = under("share.stopped.json")  # its record: its log is still this home's to delete
team = under("team")  # a project's team: what was promoted, ids alone
own_patterns = under("own_patterns.json")  # of secrets, for hooks without a daemon
logs = under("logs")
hook_log = under("logs", "hook.log")
mcp_log = under("logs", "mcp.log")
continuity = under("logs", "continuity.jsonl")
agent_log = under("logs", "agent.log")
daemon_log = under("logs", "daemon.log")
lock = under("daemon.lock")
wake_stamp = under("wake.stamp")  # when a hook last started a daemon
socket = under(SOCKET_NAME)


def make_folder(path: str) -> str:
    """Make a folder and its missing parents for this user only.

    Returns the path. Raises OSError. A folder that is made here is on disk: a file that is fsynced in a folder is lost
    when a power cut takes the folder's own name.
    """
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileNotFoundError:
        make_folder(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):  # another hook has made it meanwhile
            os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return path
    with contextlib.suppress(PermissionError):  # a folder may be writable and not readable
        sync_folder(os.path.dirname(path))
    return path


def write_whole(path: str, data: bytes) -> None:
    """Write a file atomically: old bytes or new, after any crash.

    Temporary name, fsync, rename, fsync of the folder. Mode 0600. The folder is made when it is missing. Raises OSError
    when the disk refuses. Then nothing has changed.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, "%s%s-%d-%d" % (TEMPORARY, name[:80], get_ident(), os.getpid()))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    try:
        fd = os.open(temporary, flags, FILE_MODE)
    except FileNotFoundError:
        make_folder(folder)
        fd = os.open(temporary, flags, FILE_MODE)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):  # the disk that refused the write may refuse this too. See sweep
            os.unlink(temporary)
        raise
    sync_folder(folder)


def file_of(folder: str, id_: str) -> str:
    """Return an id's file, named by a hash: ids may hold paths."""
    import hashlib  # a hook's fallback path goes without

    return os.path.join(folder, hashlib.sha256(id_.encode("utf-8", "replace")).hexdigest()[:32] + ".json")


def read_object(path: str) -> dict[str, Any]:
    """Return the JSON object in a file; {} for none."""
    import json  # a hook's fallback path goes without

    try:
        with open_regular(path) as file:
            read = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


def open_regular(path: str, *, follow_links: bool = True, max_bytes: int = 0) -> BinaryIO:
    """Open a regular file to read. Raises FileNotFoundError for anything else.

    max_bytes: a larger one is none, 0 for no bound. Raises OSError.
    """
    return open(open_fd(path, os.O_RDONLY, follow_links=follow_links, max_bytes=max_bytes), "rb")


def open_fd(path: str, flags: int, *, follow_links: bool = False, max_bytes: int = 0) -> int:
    """Open a regular file. Raises FileNotFoundError for anything else.

    Whoever names a path, a clone, an archive or a home may hold anything there, a pipe included: opening it must not
    wait. Raises OSError.
    """
    try:
        fd = os.open(path, flags | os.O_NONBLOCK | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0)), FILE_MODE)
    except OSError as bad:
        if bad.errno in (errno.ENXIO, errno.ENODEV):  # a socket, a terminal that is not there
            raise FileNotFoundError(errno.ENOENT, "no regular file", path) from bad
        raise
    except ValueError as bad:  # NUL, or half a letter
        raise FileNotFoundError(errno.ENOENT, "no such name", path) from bad
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode) or (max_bytes and info.st_size > max_bytes):
        os.close(fd)
        raise FileNotFoundError(errno.ENOENT, "no regular file", path)
    return fd


def read_start(path: str, max_bytes: int, *, follow_links: bool = True) -> bytes:
    """Return the start of a regular file; b"" for anything else."""
    try:
        with open_regular(path, follow_links=follow_links) as file:
            return os.read(file.fileno(), max_bytes)
    except OSError:
        return b""


def read_end(path: str, max_bytes: int) -> bytes:
    """Return a file's last whole lines, max_bytes at most; b"" without."""
    try:
        with open_regular(path, follow_links=False) as file:
            start = max(0, os.fstat(file.fileno()).st_size - max_bytes)
            file.seek(start)
            data = file.read(max_bytes)
    except OSError:
        return b""
    return data.partition(b"\n")[2] if start else data


def is_locked(path: str) -> bool:
    """True while a process holds the lock of this file."""
    import fcntl  # seldom needed

    try:
        fd = open_fd(path, os.O_RDONLY, follow_links=True)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def host_projects() -> str:
    """Return the host's folder of transcripts, a folder a project."""
    return os.path.join(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"), "projects")


def transcript_of(session_id: str, named: str) -> str:
    """Return the path of a session's transcript, `named` if it is nowhere.

    Where a host names a file that does not exist, the newest of the session's name in its projects' folders.
    """
    named = "" if "\0" in named else named  # no call takes such a name, and each of them raises
    if os.path.isfile(named) or not session_id.replace("-", "").replace("_", "").isalnum():
        return named
    beside = os.path.dirname(os.path.dirname(named))
    roots = {host_projects(), *([beside] if os.path.basename(beside) == "projects" else [])}
    found = []
    for root in roots:
        with contextlib.suppress(OSError), os.scandir(root) as folders:
            found += [os.path.join(folder.path, session_id + ".jsonl") for folder in folders]
    return max(filter(os.path.isfile, found), key=os.path.getmtime, default=named)


def sweep(folder: str, now_s: float, kept_s: float, dead_kept_s: float) -> int:
    """Remove temporary files of write_whole after a crash. Return how many.

    kept_s: a younger file may still be written. dead_kept_s: the same for a file whose process has ended. More than 0
    where the writer may run in a container and not be seen.
    """
    swept = 0
    try:
        names = [name for name in os.listdir(folder) if name.startswith(TEMPORARY)]
    except OSError:
        return 0
    for name in names:
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            # A clock that was set back must not keep it for ever.
            age_s = abs(now_s - os.lstat(path).st_mtime)
            if age_s >= (kept_s if runs(name.rpartition("-")[2]) else dead_kept_s):
                os.unlink(path)
                swept += 1
    return swept


def runs(pid: str) -> bool:
    """Return whether a process of this number runs."""
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except OSError:  # another user's process
        return True
    return True


def sync_folder(folder: str) -> None:
    """Make renames in this folder survive a power cut."""
    fd = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
