"""Work that git's own record tells: files with commits since, and pushes.

The repository's record of its remote tells of a push: no network is asked.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from memlayer.records import git
from memlayer.turns.outcome import is_same_file

MAX_COMMITS = 3000
_LOG = ("log", "--no-merges", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", "--name-only", "-z",
        "--format=%x01%ct")  # fmt: skip
_COMMIT = "\x01"

Changes = Mapping[str, int]  # path from the top of the repository -> time of its newest commit, Unix seconds
DAY_S = 86_400
_FIELDS = ("refname:short", "upstream", "upstream:track", "committerdate:unix")
_PUSH = re.compile(r"\b(?:un)?push(?:ed)?\b|푸[시쉬]", re.IGNORECASE)
# The words of a task that is a push of commits, beside names of branches: an image, a tag or a deadline is other work.
_OF_A_PUSH = re.compile(
    r"(?:git|to|the|my|our|all|it|them|this|these|is|are|on|up|not|never|yet|now|remote|upstream|origin|github|gitlab"
    r"|(?:un)?push(?:ed)?|branch(?:es)?|commits?|changes?|fix(?:es)?|work"
    r"|(?:푸[시쉬]|브랜치|커밋|변경|수정|원격)\S{0,3}|(?:remote|origin|github)[에로으]+"
    r"|모두|전부|해야|함|한다|하자|하기|할|것)[.!]?",
    re.IGNORECASE,
)


def _git(folder: str, *words: str) -> str:
    """Return git's output in a folder, "" where it fails."""
    try:
        done = git.in_folder(folder, *words)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def changes_since(folder: str, since_s: int) -> dict[str, int]:
    """Return the files with commits since then; none without git."""
    return newest_changes(_git(folder, *_LOG, "--since=%d" % since_s, "-n", str(MAX_COMMITS)))


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


class Branch(NamedTuple):
    """A local branch. track: as git says it, such as "[ahead 2]"."""

    name: str
    upstream: str
    track: str
    committed_s: int

    @property
    def is_pushed(self) -> bool:
        return bool(self.upstream) and "ahead" not in self.track and "gone" not in self.track


def speaks_of_push(title: str) -> bool:
    """Return whether a title speaks of a push at all."""
    return bool(_PUSH.search(title))


def is_push(title: str, names: Collection[str] = ()) -> bool:
    """Return whether a task is done once a branch is pushed."""
    return speaks_of_push(title) and all(
        _OF_A_PUSH.fullmatch(word) or word.rstrip(".!") in names for word in title.split()
    )


def branches(folder: str) -> list[Branch]:
    """Return a repository's branches, none where git fails."""
    done = _git(folder, "for-each-ref", "refs/heads", "--format=" + "%00".join("%%(%s)" % one for one in _FIELDS))
    rows = [line.split("\0") for line in done.splitlines()]
    return [Branch(row[0], row[1], row[2], int(row[3])) for row in rows if len(row) == 4 and row[3].isdigit()]


def was_pushed(title: str, since_s: float, found: list[Branch]) -> bool:
    """Return whether a push that is a task has happened.

    Its branch is pushed, else each branch in work. since_s: when the task was last spoken of, Unix seconds.
    """
    if not is_push(title, [branch.name for branch in found]):
        return False
    words = set(re.findall(r"[\w./-]+", title))
    named = [branch for branch in found if branch.name in words]
    meant = named or [branch for branch in found if branch.committed_s > since_s - DAY_S]
    return bool(meant) and all(branch.is_pushed for branch in meant)
