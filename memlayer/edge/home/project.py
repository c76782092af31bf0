"""Git root, git folder, remote and opt-out of a folder's project.

Reads files only, runs no git: both ends of the socket use it, and a hook must stay cheap.
"""

from __future__ import annotations

import os

from memlayer.edge.home.paths import home_of, read_start, settings
from memlayer.edge.home.remotes import remote_of

SETTINGS_NAME = ".memlayer.yaml"
BORN_FILE = "description"
WINDOWS_DRIVES = "/mnt"  # in WSL
_MAX_SETTINGS_BYTES = 65_536
_MAX_LINE_BYTES = 4096
_TRUE = ("true", "yes", "on", "1", "y", "t")


class Place:
    """A folder's project as its files show it.

    root: the project's folder (the git work tree, else the folder itself), real path. git_dir: the repository's common
    git folder, "" outside git. remote: normalised address of the remote, "" when there is none. born: when the
    repository was made, "" when unknown.
    """

    __slots__ = ("born", "git_dir", "remote", "root")

    def __init__(self, root: str, git_dir: str = "", remote: str = "", born: str = "") -> None:
        self.root = root
        self.git_dir = git_dir
        self.remote = remote
        self.born = born


def locate(folder: str) -> Place:
    """Return the place of a folder. A missing folder is its path.

    A repository at the home folder or at / (of settings, of a whole system) is nobody's project: what lies below it is
    not one work.
    """
    start = real(folder)
    at, own = start, own_home()
    while True:
        common = "" if at in (own, "/") else _common_git_dir(os.path.join(at, ".git"))
        if common:
            return Place(at, common, remote_of(common), born_of(common))
        above = os.path.dirname(at)
        if above == at:
            return Place(start)
        at = above


def here(folder: str) -> str:
    """Return a recorded folder as this machine knows it, "" for none.

    Transcripts come from Windows as well, whose drives WSL mounts. A relative one would lie in whatever folder
    the reader is in.
    """
    parts = folder.replace("\\", "/").split("/")
    if parts[:2] == ["", ""] and parts[2:3] and parts[2].lower() in ("wsl.localhost", "wsl$"):
        parts = ["", *parts[4:]]
    elif len(parts[0]) == 2 and parts[0][0].isalpha() and parts[0][1] == ":":
        parts = [WINDOWS_DRIVES, parts[0][0].lower(), *parts[1:]]
    else:
        return folder if folder.startswith("/") and "\0" not in folder else ""
    path = "/".join(parts).rstrip("/")
    return path if path and os.path.isdir(path) else ""


def own_home() -> str:
    """Return the person's home folder, without links."""
    return os.path.realpath(os.path.expanduser("~"))


def real(folder: str) -> str:
    """Return a path without links, "/" for none, of any text."""
    return os.path.realpath(_possible(folder) or "/")


def _possible(folder: str) -> str:
    """Return a hook's text without characters that no path can hold."""
    try:
        os.fsencode(folder)
    except UnicodeEncodeError:
        folder = folder.encode("utf-8", "replace").decode()
    return folder.replace("\0", "")


def settings_files(folder: str) -> list[str]:
    """Return the settings files from a folder's project down to the folder."""
    at, root = real(folder), locate(folder).root
    found = [os.path.join(at, SETTINGS_NAME)]
    while at != root:
        at = os.path.dirname(at)
        found.insert(0, os.path.join(at, SETTINGS_NAME))
    return [file for file in found if os.path.lexists(file)]


def enabled(folder: str) -> bool:
    """False if `enabled: false` may hold for a folder; see switch_off."""
    return not switch_off(folder)


def switch_off(folder: str) -> str:
    """Return the settings file that switches a folder off, "" for none.

    The person's counts for every folder. A repository's counts for all that lies in it, other repositories too, and in
    its linked work trees: an untracked file is in none of them.
    """
    at, own = real(folder), own_home()
    looked_at, above = [at], list[str]()
    while at not in ("/", own):
        git_dir = _common_git_dir(os.path.join(at, ".git"))
        above.append(at)
        if git_dir:
            looked_at += [*above, os.path.dirname(git_dir)]
            above = []
        at = os.path.dirname(at)
    persons = settings(home_of())
    if _switches_off(persons, has_groups=True):
        return persons
    files = (os.path.join(one, SETTINGS_NAME) for one in dict.fromkeys(looked_at))
    return next((file for file in files if _switches_off(file)), "")


def _switches_off(file: str, *, has_groups: bool = False) -> bool:
    """True if a settings file may say `enabled: false`.

    A hook without a daemon has no YAML parser, so the file is read line by line: any value that a parser takes for
    false must be false here. The other way round only less is kept than might be. has_groups: values in further
    brackets are of a group, and count for that alone.
    """
    raw = read_start(file, _MAX_SETTINGS_BYTES + 1)
    if len(raw) > _MAX_SETTINGS_BYTES:
        return True  # what it says behind that is read by nobody
    # An editor may have put a mark in front, or saved UTF-16: that is ASCII between zeros.
    text = raw.replace(b"\0", b"").decode("utf-8-sig", "replace").lstrip("\ufeff\ufffd").lower()
    margin = -1
    for line in text.splitlines():
        if line.startswith("---"):
            line, margin = line[3:], -1
        words = line.lstrip()
        if not words or words[0] in "#%":
            continue
        indent = len(line) - len(words)
        if margin < 0:
            margin = indent
        if has_groups and words[0] == "{":
            text, has_groups = _outermost(text), False
        if indent <= margin and not _leaves_on(words, text):
            return True
    return False


def _leaves_on(line: str, text: str) -> bool:
    """True if a lower-case settings line at the margin leaves memory on."""
    name, _, value = line.partition(":")
    if line[0] in "{[?*!&" or name.strip() == "<<":  # flow style, or a key that stands elsewhere: every value counts
        return "\\" not in text and all(_is_true(rest) for rest in text.split("enabled")[1:])
    for sign in "\"'=：":
        name = name.replace(sign, " ")
    return "\\" not in name and ("enabled" not in name.split() or _is_true(value))


def _outermost(text: str) -> str:
    """Return a text without its inner brackets."""
    kept, depth = "", 0
    for char in text:
        depth += char == "{"
        kept += char if depth < 2 else ""
        depth -= char == "}"
    return kept


def _is_true(value: str) -> bool:
    """True if the value behind `enabled` is plainly true."""
    value = value.lstrip(" \t\"':")
    if value.startswith("!!bool "):
        value = value[7:]
    for end in "#,}":
        value = value.partition(end)[0]
    return value.strip(" \t\"'") in _TRUE


def _common_git_dir(marker: str) -> str:
    """Return the common git folder behind `.git` (folder or file), or ""."""
    if os.path.isdir(marker):
        return marker if os.path.exists(os.path.join(marker, "HEAD")) else ""
    if not os.path.isfile(marker):
        return ""
    pointer = _first_line(marker)
    if not pointer.startswith("gitdir:"):
        return ""
    git_dir = os.path.normpath(os.path.join(os.path.dirname(marker), pointer[7:].strip()))
    shared = _first_line(os.path.join(git_dir, "commondir"))  # of a linked work tree
    return os.path.normpath(os.path.join(git_dir, shared)) if shared else git_dir


def head_of(root: str) -> str:
    """Return what a work tree's HEAD holds, "" outside git."""
    return _first_line(os.path.join(_own_git_dir(root), "HEAD")) if root else ""


def state_of(root: str) -> tuple[str, int, int]:
    """Return a work tree's HEAD, its index's time and size."""
    try:
        index = os.stat(os.path.join(_own_git_dir(root), "index"))
    except OSError:
        return head_of(root), 0, 0
    return head_of(root), index.st_mtime_ns, index.st_size


def _own_git_dir(root: str) -> str:
    """Return the git folder of a work tree, not the common one."""
    marker = os.path.join(root, ".git")
    pointer = _first_line(marker) if os.path.isfile(marker) else ""
    return os.path.join(root, pointer[7:].strip()) if pointer.startswith("gitdir:") else marker


def born_of(git_dir: str) -> str:
    """Return when git wrote a file that it writes once.

    So a repository is told from a later one in its place. Not by its inode: the file system gives the same inode to the
    next repository. Where the template had no such file the configuration stands for it. That file changes now and
    then, so it can prove that nothing has happened, and no more.
    """
    for name in (BORN_FILE, "config"):
        try:
            return "%s %d" % (name, os.lstat(os.path.join(git_dir, name)).st_mtime_ns)
        except OSError:
            continue
    return ""


def _first_line(path: str) -> str:
    return read_start(path, _MAX_LINE_BYTES).decode("utf-8", "surrogateescape").partition("\n")[0].strip()
