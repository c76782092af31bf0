"""Drop variables of memlayer's that a project's Claude Code settings set.

A cloned repository may bring a `.claude/settings.json` whose `env` the host hands to every hook. Only `posix` is
imported unless such a file names one of these variables.
"""

import posix
import sys

PREFIX = "MEMLAYER_"
HARMLESS = (b"MEMLAYER_DISABLE", b"MEMLAYER_AGENT_RUN")  # less is kept or allowed, and nothing more is disclosed
HOME = b"HOME"
PROJECT = b"CLAUDE_PROJECT_DIR"
OTHERS = (HOME, b"MEMORY_VIEWER_TOKEN", b"CLAUDE_CONFIG_DIR", PROJECT)  # a home, the page's key, transcripts, a project
NOT_DISABLED = ("", "0", "false", "no", "off")  # as hooks/run knows them
FILES = (b"/.claude/settings.json", b"/.claude/settings.local.json")
MAX_BYTES = 1 << 20
MAX_PATH = 4096
# Without one of these a file names none of our variables: plainly, escaped, or in UTF-16.
_SIGNS = (PREFIX.encode(), b'HOME"', *OTHERS[1:], b"\\u", b"\0")
_REGULAR, _KIND = 0o100000, 0o170000


def drop_project_variables(environ: dict[bytes, bytes], project_dir: bytes) -> None:
    """Remove variables set by the settings in `project_dir`, or above it.

    environ: `posix.environ`. In the home folder those settings are the person's own, unless they name a home. Never
    raises: the event of a hook that comes after must be kept.
    """
    for folder in upward(project_dir):
        named = _set_by(environ, folder)
        if named and not _is_home(folder, environ.get(HOME, b""), named):
            _drop(environ, named)


def upward(folder: bytes) -> list[bytes]:
    """Return a folder and those above it, by whatever name it goes."""
    found: list[bytes] = []
    while folder and len(folder) < MAX_PATH:
        found.append(folder)
        if _is_same(folder, b"/"):
            break
        folder += b"/.."
    return found


def _drop(environ: dict[bytes, bytes], named: list[bytes]) -> None:
    for name in named:
        if environ.pop(name, None) is not None:
            posix.unsetenv(name)  # also for the program that this process becomes
            if "os" in sys.modules:  # it has made a copy of its own
                sys.modules["os"].environ.pop(name.decode(errors="surrogateescape"), None)
    if HOME in named:
        _restore_home(environ)


def _set_by(environ: dict[bytes, bytes], folder: bytes) -> list[bytes]:
    """Return which of memlayer's variables a folder's settings set."""
    named: list[bytes] = []
    ours = [name for name in environ if name in OTHERS or (name.startswith(PREFIX.encode()) and name not in HARMLESS)]
    for file in FILES if ours else ():
        data = _read(folder + file)
        if any(sign in data for sign in _SIGNS) or len(data) > MAX_BYTES:
            told = _named(data)
            # Of an unknown home only one in the folder: the person's own may lie anywhere.
            if told is None:
                named += [name for name in ours if name != HOME or _is_in(environ[HOME], folder)]
            else:
                named += [name for name in ours if name.decode("utf-8", "replace") in told]
    return named


def _is_home(folder: bytes, home: bytes, named: list[bytes]) -> bool:
    """True for the home folder.

    Where its settings name a home, the list of users tells.
    """
    return _is_same(folder, listed_home()) or (HOME not in named and _is_same(folder, home))


def listed_home() -> bytes:
    """Return the home that the list of users has; b"" for none."""
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir.encode(errors="surrogateescape")
    except KeyError:
        return b""


def _restore_home(environ: dict[bytes, bytes]) -> None:
    home = listed_home()
    if home:
        environ[HOME] = home
        posix.putenv(HOME, home)
        if "os" in sys.modules:
            sys.modules["os"].environ["HOME"] = home.decode(errors="surrogateescape")


def is_disabled(value: "str | None") -> bool:
    """Return whether a value of MEMLAYER_DISABLE switches memlayer off."""
    return (value or "").lower() not in NOT_DISABLED


def folders_of_session(environ: dict[bytes, bytes]) -> list[bytes]:
    """Return the folders whose settings the host may have handed on.

    None outside of the host. The folder that the host names is one of several: a repository's settings may name it.
    """
    if PROJECT not in environ and b"CLAUDECODE" not in environ:
        return []
    return [folder for folder in (environ.get(PROJECT, b""), b".") if folder]


def _named(data: bytes) -> "dict[str, object] | None":
    """Return the variables that a settings file sets.

    None where only the host may know, whose parser takes more than this one (any length and depth, numbers of any size,
    UTF-16).
    """
    import json

    if len(data) > MAX_BYTES:
        return None
    try:
        settings = json.loads(data.decode("utf-8-sig", "replace"))  # as the host does with bytes that are no UTF-8
    except (ValueError, RecursionError):
        return None
    variables = settings.get("env") if isinstance(settings, dict) else None
    return variables if isinstance(variables, dict) else {}


def _is_in(path: bytes, folder: bytes) -> bool:
    """True for a path in a folder, whatever links lead there."""
    from posixpath import realpath

    return (realpath(path) + b"/").startswith(realpath(folder) + b"/")


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
