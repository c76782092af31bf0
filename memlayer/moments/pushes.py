"""Open work that is nothing but a push, and whether it happened.

The repository's own record of its remote tells it: no network is asked.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from collections.abc import Collection
from typing import NamedTuple

from memlayer.edge.home import project
from memlayer.moments.changed_ground import GIT_LIMIT_S
from memlayer.records import git

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
    above = {"GIT_CEILING_DIRECTORIES": posixpath.dirname(project.real(folder))}
    words = ["-C", folder, "for-each-ref", "refs/heads", "--format=" + "%00".join("%%(%s)" % one for one in _FIELDS)]
    try:
        done = git.run(words, limit_s=GIT_LIMIT_S, environment=above)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.split("\0") for line in done.stdout.decode("utf-8", "replace").splitlines()]
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
