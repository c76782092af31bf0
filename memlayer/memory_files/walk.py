"""Finds the Markdown files below the paths that the user has named, and reads them; no link is followed on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SUFFIXES = (".md", ".markdown", ".mdx")
MAX_FILES = 5_000
MAX_FILE_BYTES = 400_000
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Found(NamedTuple):
    """A file. path: absolute, real. mtime_ns and size_bytes tell without reading whether it is the same."""

    path: str
    mtime_ns: int
    size_bytes: int


class Walk(NamedTuple):
    """files: in order, each once. missing: named paths that are not there now. problems: path -> why it is left out."""

    files: tuple[Found, ...]
    missing: tuple[str, ...]
    problems: dict[str, str]


def walk(named: Iterable[str], home: str) -> Walk:
    """What the named files and folders hold. The memlayer home is left out, and what begins with a dot."""
    files: dict[str, Found] = {}
    missing, problems = [], {}
    for name in named:
        path = os.path.realpath(os.path.expanduser(name))
        if not os.path.isabs(os.path.expanduser(name)):
            problems[name] = "not an absolute path"
        elif not os.path.exists(path):
            missing.append(path)
            problems[name] = "not there; what was read of it before is kept"
        elif os.path.isfile(path):
            _add(files, problems, path)
        else:
            for found in _below(path, os.path.realpath(home)):
                if len(files) >= MAX_FILES:
                    problems[name] = "more than %d files; the rest is left out" % MAX_FILES
                    break
                _add(files, problems, found)
    return Walk(tuple(files.values()), tuple(missing), problems)


def read_text(path: str) -> tuple[str, str]:
    """(text with newlines only, "") or ("", why it cannot be indexed). Raises OSError."""
    fd = os.open(path, _FLAGS)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "", "no plain file"
        raw = file.read(MAX_FILE_BYTES + 1)
    if len(raw) > MAX_FILE_BYTES:
        return "", "longer than %d bytes" % MAX_FILE_BYTES
    if b"\0" in raw:
        return "", "not text"
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n"), ""
    except UnicodeDecodeError:
        return "", "not UTF-8 text"


def _below(folder: str, home: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(
            one
            for one in folders
            if not one.startswith(".") and one != "node_modules" and os.path.join(at, one) != home
        )
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(at, name)


def _add(files: dict[str, Found], problems: dict[str, str], path: str) -> None:
    try:
        found = os.lstat(path)
        path.encode("utf-8")
    except (OSError, UnicodeEncodeError):
        problems[path] = "cannot be read"
        return
    if stat.S_ISREG(found.st_mode):
        files.setdefault(path, Found(path, found.st_mtime_ns, found.st_size))
