"""Open work that is nothing but a push, and whether it happened.

The repository's own record of its remote tells it: no network is asked.
"""

from __future__ import annotations

import posixpath
import re
import subprocess
from typing import NamedTuple

from memlayer.edge.home import project
from memlayer.moments.changed_ground import GIT_LIMIT_S
from memlayer.records import git

DAY_S = 86_400
_FIELDS = ("refname:short", "upstream", "upstream:track", "committerdate:unix")
_PUSH = re.compile(
    r"^(?:to )?(?:git )?push\b(?!.*\b(?:notifications?|messages?|buttons?|and|then|after)\b)"
    r"|\b(?:unpushed|(?:not|never)(?: yet)? pushed)\b(?!.*\b(?:and|then)\b)"
    r"|(?:^|\s)(?:푸시|푸쉬)(?:하기|하자|한다|할 것|해야 ?(?:함|한다|해)|)[.!]?$",
    re.IGNORECASE,
)
_OTHER = re.compile(r"알림|메시지|notification", re.IGNORECASE)


class Branch(NamedTuple):
    """A local branch. track: as git says it, such as "[ahead 2]"."""

    name: str
    upstream: str
    track: str
    committed_s: int

    @property
    def is_pushed(self) -> bool:
        return bool(self.upstream) and "ahead" not in self.track and "gone" not in self.track


def is_push(title: str) -> bool:
    """Return whether a task is done once a branch is pushed."""
    return bool(_PUSH.search(title)) and not _OTHER.search(title)


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
    """Return whether a task's branch, else each in work, is pushed.

    since_s: when the task was last spoken of, Unix seconds.
    """
    words = set(re.findall(r"[\w./-]+", title))
    named = [branch for branch in found if branch.name in words]
    meant = named or [branch for branch in found if branch.committed_s > since_s - DAY_S]
    return bool(meant) and all(branch.is_pushed for branch in meant)
