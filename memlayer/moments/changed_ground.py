"""Notes and tasks whose files have commits since they were written.

Asked of git in the background, once at a session's start. Commits of the session that wrote a note do not count.
"""

from __future__ import annotations

import posixpath
import subprocess
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.edge.home import project
from memlayer.kinds import Category, Kind
from memlayer.model import Memory
from memlayer.moments.file_history import is_same_file
from memlayer.ports import MemoryQuery, Store
from memlayer.records import git
from memlayer.records.sessions import Sessions

GIT_LIMIT_S = 10.0
MAX_COMMITS = 3000
MAX_NOTES = 2000
_LOG = ("log", "--no-merges", "--no-renames", "--no-relative", "--no-ext-diff", "--no-textconv", "--name-only", "-z",
        "--format=%x01%ct")  # fmt: skip
_COMMIT = "\x01"

Changes = Mapping[str, int]  # path from the top of the repository -> time of its newest commit, Unix seconds


def changes_since(folder: str, since_s: int) -> dict[str, int]:
    """Return the files with commits since then.

    Empty without git, outside of a repository, and when git fails or takes too long.
    """
    # The folder itself, not a repository above it.
    above = {"GIT_CEILING_DIRECTORIES": posixpath.dirname(project.real(folder))}
    words = ["-C", folder, *_LOG, "--since=%d" % since_s, "-n", str(MAX_COMMITS)]
    try:
        done = git.run(words, limit_s=GIT_LIMIT_S, environment=above)
    except (OSError, subprocess.SubprocessError):
        return {}
    return newest_changes(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else {}


def newest_changes(log: str) -> dict[str, int]:
    """Return path -> time of its newest commit.

    log: the output of git.
    """
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


def mark_of(memory: Memory, changed: int) -> str:
    """Return the words about a memory's changed files, "" for none."""
    if not changed:
        return ""
    if len(memory.files) == 1:
        return "its file changed since"
    return "%d of its files changed since" % changed


@dataclass
class ChangedGround:
    """The marks of the projects in use, by memory. Thread-safe."""

    store: Store
    sessions: Sessions
    _marks: dict[str, dict[str, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def marks(self, project_id: str) -> Mapping[str, str]:
        """Return memory's id -> the words about its changed files."""
        with self._lock:
            return self._marks.get(project_id, {})

    def look(self, project_id: str, folder: str) -> bool:
        """Ask git about a project; return whether the marks changed. Raises StoreError."""
        query = MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_NOTES)
        rows = [row for row in self.store.memories(query) if row.files and row.known_kind is not Kind.TASK]
        since = {row.id: self._since_s(row) for row in rows}
        changes = changes_since(folder, int(min(since.values()))) if rows else {}
        marks = dict(_marked(rows, since, changes))
        with self._lock:
            is_new = marks != self._marks.get(project_id, {})
            self._marks[project_id] = marks
        return is_new

    def _since_s(self, memory: Memory) -> float:
        session = self.sessions.get(memory.session_id) if memory.session_id else None
        return max(memory.at_ms, session.last_ms if session is not None else 0) / 1000


def _marked(rows: Iterable[Memory], since: Mapping[str, float], changes: Changes) -> Iterable[tuple[str, str]]:
    for row in rows:
        mark = mark_of(row, changed_files(row.files, since[row.id], changes))
        if mark:
            yield row.id, mark
