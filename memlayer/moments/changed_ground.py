"""Files with commits since a moment, asked of git in the background."""

from __future__ import annotations

import posixpath
import subprocess
from collections.abc import Mapping, Sequence

from memlayer.edge.home import project
from memlayer.moments.file_history import is_same_file
from memlayer.records import git

GIT_LIMIT_S = 10.0
MAX_COMMITS = 3000
_LOG = ("log", "--no-merges", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", "--name-only", "-z",
        "--format=%x01%ct")  # fmt: skip
_COMMIT = "\x01"

Changes = Mapping[str, int]  # path from the top of the repository -> time of its newest commit, Unix seconds


def changes_since(folder: str, since_s: int) -> dict[str, int]:
    """Return the files with commits since then; none without git."""
    # The folder itself, not a repository above it.
    above = {"GIT_CEILING_DIRECTORIES": posixpath.dirname(project.real(folder))}
    words = ["-C", folder, *_LOG, "--since=%d" % since_s, "-n", str(MAX_COMMITS)]
    try:
        done = git.run(words, limit_s=GIT_LIMIT_S, environment=above)
    except (OSError, subprocess.SubprocessError):
        return {}
    return newest_changes(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else {}


def newest_changes(log: str) -> dict[str, int]:
    """Return path -> time of its newest commit in git's output."""
    newest: dict[str, int] = {}
    for commit in log.split(_COMMIT)[1:]:
        time_s, _, names = commit.replace("\n", "\0").partition("\0")
        if not time_s.isdigit():
            continue
        for name in filter(None, names.split("\0")):
            newest[name] = max(newest.get(name, 0), int(time_s))
    return newest


def changed_files(files: Sequence[str], since_s: float, changes: Changes) -> int:
    """Return how many of these files have a commit after that."""
    by_name: dict[str, list[str]] = {}
    for path, time_s in changes.items():
        if time_s > since_s:
            by_name.setdefault(posixpath.basename(path), []).append(path)
    return sum(any(_is_same(path, file) for path in by_name.get(posixpath.basename(file), ())) for file in files)


def _is_same(path: str, file: str) -> bool:
    return is_same_file(path, file) if "/" in file else path == file
