"""Drop MEMLAYER_ variables that a project's Claude Code settings set.

A cloned repository may bring a `.claude/settings.json` whose `env` the host hands to every hook. Only `posix` is
imported unless such a file names one of these variables.
"""

import posix
import sys

PREFIX = "MEMLAYER_"
HARMLESS = (b"MEMLAYER_DISABLE", b"MEMLAYER_AGENT_RUN")  # less is kept or allowed, and nothing more is disclosed
NOT_DISABLED = ("", "0", "false", "no", "off")  # as hooks/run knows them
FILES = (b"/.claude/settings.json", b"/.claude/settings.local.json")
MAX_BYTES = 1 << 20
# Without one of these a file names none of our variables: plainly, escaped, or in UTF-16.
_SIGNS = (PREFIX.encode(), b"\\u", b"\0")
_REGULAR, _KIND = 0o100000, 0o170000


def drop_project_variables(environ: dict[bytes, bytes], project_dir: bytes) -> None:
    """Remove variables set by the settings in `project_dir`.

    environ: `posix.environ`. Free when it has no variable of memlayer's. In the home folder those settings are the
    person's own. Never raises: the event of a hook that comes after must be kept.
    """
    if not project_dir or not any(name.startswith(PREFIX.encode()) for name in environ):
        return
    if _is_same(project_dir, environ.get(b"HOME", b"")):
        return
    ours = [name for name in environ if name.startswith(PREFIX.encode()) and name not in HARMLESS]
    for file in FILES:
        data = _read(project_dir + file)
        if any(sign in data for sign in _SIGNS) or len(data) > MAX_BYTES:
            for name in _named(data, ours):
                if environ.pop(name, None) is not None:
                    posix.unsetenv(name)  # also for the program that this process becomes
                    if "os" in sys.modules:  # it has made a copy of its own
                        sys.modules["os"].environ.pop(name.decode(errors="surrogateescape"), None)


def is_disabled(value: "str | None") -> bool:
    """Return whether a value of MEMLAYER_DISABLE switches memlayer off."""
    return (value or "").lower() not in NOT_DISABLED


def project_of_session(environ: dict[bytes, bytes]) -> bytes:
    """Return the folder of the host's settings; b"" outside of the host."""
    if b"CLAUDE_PROJECT_DIR" in environ or b"CLAUDECODE" not in environ:
        return environ.get(b"CLAUDE_PROJECT_DIR", b"")
    try:
        folder, own = posix.getcwdb(), environ.get(b"HOME", b"")
    except OSError:  # the folder is gone
        return b""
    while folder not in (b"", b"/", own):  # the person's own settings stand in the home folder
        if any(_read(folder + file) for file in FILES):
            return folder
        folder = folder.rpartition(b"/")[0]
    return b""


def _named(data: bytes, ours: list[bytes]) -> list[bytes]:
    """Return memlayer's variables that a settings file sets.

    All of them where only the host may know, whose parser takes more than this one (any length and depth, numbers of
    any size, UTF-16).
    """
    import json

    if len(data) > MAX_BYTES:
        return ours
    try:
        settings = json.loads(data.decode("utf-8-sig", "replace"))  # as the host does with bytes that are no UTF-8
    except (ValueError, RecursionError):
        return ours
    variables = settings.get("env") if isinstance(settings, dict) else None
    names = variables if isinstance(variables, dict) else {}
    return [name for name in ours if name.decode("utf-8", "replace") in names]


def _is_same(folder: bytes, other: bytes) -> bool:
    """True if two paths lead to one folder."""
    try:
        left, right = posix.stat(folder), posix.stat(other)
    except OSError:
        return False
    return (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino)


def _read(path: bytes) -> bytes:
    """Return a regular file's bytes, little more than MAX_BYTES, or b""."""
    try:
        file = posix.open(path, posix.O_RDONLY | posix.O_NONBLOCK | posix.O_CLOEXEC)
    except OSError:
        return b""
    try:
        data = b""
        if posix.fstat(file).st_mode & _KIND == _REGULAR:
            while len(data) <= MAX_BYTES and (part := posix.read(file, 1 << 16)):
                data += part
        return data
    except OSError:
        return b""
    finally:
        posix.close(file)
