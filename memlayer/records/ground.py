"""Notes held against the checked-out code: names gone, branches unmerged.

Only what stood in the tree when a note was first looked at may be gone: one that says "do not create X" names nothing
of it, nor does one about a place elsewhere. The names are kept until their note is forgotten or holds no more.
"""

import logging
import os
import re
import subprocess
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from memlayer.edge.home import paths, project
from memlayer.kinds import NOT_HELD, Kind
from memlayer.model import Memory
from memlayer.records import git, small_files
from memlayer.text.context_block import cut, flatten
from memlayer.wire.message import Message

MAX_NAMES, MAX_CHARS = 12, 80  # of a note; of a name
# ASCII alone: a Korean particle stands right behind a name ("cart.py를").
_NAME = re.compile(
    r"`([^`\n]{3,80})`"
    r"|(?<![A-Za-z0-9_./@~-])("
    r"\.?(?:[A-Za-z0-9_.@-]+/)+[A-Za-z0-9_.@-]*"  # path
    r"|\.?[A-Za-z0-9_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?![A-Za-z0-9_])"  # file, attribute
    r"|--[a-z][a-z0-9-]{2,}"
    r"|[a-z]+(?:[A-Z][A-Za-z0-9]*)+|(?:[A-Z]+[a-z0-9]+){2,}[A-Z]*|[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+"
    r"|v\d+(?:\.\d+)+|\d+\.\d+\.\d+|(?<=[A-Za-z] )\d+\.\d+(?![\d.%]|\s?[a-z])"
    r")"
)
_WORD = re.compile(r"[A-Za-z]{3}|\d\.\d")
_SIGN = re.compile(r"[A-Za-z0-9][A-Z]|[\d_./:=-]")  # of a name among the words in backticks
# The form of a target's definition: Makefile, justfile and Taskfile; package.json; mise.toml.
_TARGET = re.compile(r"(?:make|just|task|npm|pnpm|yarn|bun|mise|invoke|rake)(?: run| -\S+)* ([A-Za-z0-9_.:-]+)")
_DEFINITION = r'^%s( |:).*|"%s" *:.*|tasks\."?%s"?[].].*'
_SPECIAL = re.compile(r"([][\\.^$*+?(){}|])")

SINCE_CHANGED, ON_BRANCH = "(since changed) ", "(on branch %s) "
TRUNKS = ("main", "master", "trunk", "develop")  # of what is said there, only names may be missing elsewhere
LIMIT_S = 5.0  # of a call: of a repository that takes longer nothing is told
MAX_COMMITS, BRANCH_CHARS = 500, 60
STALE_S = 14 * 86_400  # between the last commits of a branch and of HEAD: it may well be merged in another form
MERGED = 0.5  # of a branch's files, whose very content the checked-out history holds: it was squashed
_RAW = ("--raw", "-z", "--no-renames", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-relative")
log = logging.getLogger(__name__)


def names_in(text: str, files: Iterable[str] = ()) -> list[str]:
    """Return the names of code in a text, and its files."""
    named = dict.fromkeys([*files, *_named(text)])
    return [name for name in named if len(name) <= MAX_CHARS and not name.startswith(("/", "~", "../"))][:MAX_NAMES]


def _named(text: str) -> Iterator[str]:
    for quoted, bare in _NAME.findall(text):
        name = (quoted or bare).strip().rstrip(".,;:").removesuffix("()")
        if _WORD.search(name) and (bare or _SIGN.search(name) or " " in name):
            yield name


def is_path(name: str) -> bool:
    """True for a name that only a file or folder can bear."""
    return "/" in name and " " not in name


def pattern(name: str) -> str:
    """Return an extended regular expression that finds a name in code."""
    literal = _SPECIAL.sub(r"\\\1", name)
    command = _TARGET.fullmatch(name)
    if command is None:
        return literal
    target = _SPECIAL.sub(r"\\\1", command[1])
    return "|".join((literal, _DEFINITION % (target, target, target)))


class NotedNames(Message):
    """A note's names that stood in the tree, and its branch.

    "./" stands before a file's: text that still names it holds it no more. was_tried: of an attempt, whose code is gone
    because it did not hold.
    """

    citation: str = ""
    names: tuple[str, ...] = ()
    branch: str = ""
    was_tried: bool = False


class Tree:
    """A work tree at one HEAD and index, by git's answers."""

    def __init__(self, root: str) -> None:
        self.root, self.head = root, project.head_of(root)
        self.branch = self.head.removeprefix("ref: refs/heads/") if self.head.startswith("ref: ") else ""
        self._known: dict[str, bool] = {}

    def _git(self, *words: str) -> str:
        """Return git's output, "" for nothing found. Raises OSError where it fails."""
        try:
            done = git.in_folder(self.root, *words, limit_s=LIMIT_S)
        except subprocess.SubprocessError as late:
            raise OSError("git takes too long") from late
        if done.returncode > 1:
            raise OSError(done.stderr.decode("utf-8", "replace")[:200])
        return done.stdout.decode("utf-8", "replace")

    @cached_property
    def _paths(self) -> Mapping[str, Sequence[str]]:
        """Last part of a path -> tracked paths."""
        by_name: dict[str, list[str]] = {}
        for path in self._git("ls-files", "-z").split("\0") if self.head else ():
            by_name.setdefault(os.path.basename(path), []).append(path)
        return by_name

    def holding(self, names: Collection[str]) -> set[str]:
        """Return the names that the tree holds; files by their state now."""
        words = [name for name in names if name not in self._known and not is_path(name)]
        self._known.update(dict.fromkeys(words, False), **dict.fromkeys(self._found(words), True))
        return {name for name in names if self._known.get(name) or self.is_file(name)}

    def is_file(self, name: str) -> bool:
        """True for a path, or its end, that is there now."""
        path = os.path.normpath(name)
        if " " in name or path.startswith(".."):
            return False
        ends = (one for one in self._paths.get(os.path.basename(path), ()) if ("/" + one).endswith("/" + path))
        return any(os.path.lexists(os.path.join(self.root, one)) for one in (path, *ends))

    def _found(self, words: Sequence[str]) -> set[str]:
        """Ask git which words stand in the tracked files."""
        if not words or not self.head:
            return set()
        searched = "|".join(pattern(word) for word in sorted(words))
        said = self._git(
            "grep", "-E", "-o", "-h", "-I", "--no-textconv", "--no-recurse-submodules", "--no-color",
            "-e", searched, "--", ":/",
        )  # fmt: skip
        lines = set(said.split("\n"))
        every = "\n".join(lines)
        return {word for word in words if word in lines or re.search(pattern(word), every, re.MULTILINE)}

    def unmerged(self, branches: Iterable[str]) -> dict[str, bool]:
        """Return branch -> is it of late, of those with work elsewhere."""
        asked = sorted({one for one in branches if one not in ("", self.branch, *TRUNKS) and "*" not in one})
        if not asked:
            return {}
        refs = [form % one for one in asked for form in ("refs/heads/%s", "refs/remotes/*/%s")]
        found = self._git("for-each-ref", "--no-merged=HEAD", "--format=%(committerdate:unix) %(refname)", *refs)
        rows = [line.split(" ", 1) for line in found.splitlines()]
        since_s = int(self._git("log", "-1", "--format=%ct", "HEAD") or 0) - STALE_S if rows else 0
        return {
            one: int(at_s) > since_s
            for one in asked
            for at_s, ref in rows
            if ref.endswith("/" + one) and not self._is_squashed(ref)
        }

    def _is_squashed(self, ref: str) -> bool:
        """True for a branch that is here without its commits, or unrelated."""
        if not self._git("merge-base", "HEAD", ref):
            return True
        ours = _blobs(self._git("diff", *_RAW, "HEAD..." + ref, "--"))
        log = ("log", "--format=", "-m", *_RAW, "-n", str(MAX_COMMITS), ref + "..HEAD", "--")
        here = _blobs(self._git(*log)) if ours else set()
        return len(ours & here) >= MERGED * len(ours)


def _blobs(raw: str) -> set[tuple[str, str]]:
    """Return (path, content) of git's raw output."""
    told = (row for row in pairwise(raw.split("\0")) if row[0].lstrip().count(" ") == 4)
    return {(path, facts.split()[3]) for facts, path in told}


class Ground:
    """The names of notes, and their marks in work trees. Thread-safe."""

    def __init__(self, home: str) -> None:
        self._files = small_files.Folder(paths.noted_names(home), dict[str, NotedNames])
        self._trees: dict[str, tuple[object, Tree]] = {}
        self._marks: dict[tuple[str, str], Mapping[str, str]] = {}  # of a project and a work tree, as last looked up
        self._lock = threading.Lock()

    def note(self, project_id: str, notes: Sequence[Memory], root_of: Callable[[Memory], str]) -> None:
        """Keep the names of new notes that stand there. Raises OSError."""
        with self._lock:
            known = self._names(project_id)
            kept = {note.id: known[note.id] for note in notes if note.id in known}
            new: dict[str, list[Memory]] = {}
            for note in notes:
                if note.id not in known and (root := root_of(note)):
                    new.setdefault(root, []).append(note)
            for root, rows in new.items():
                tree, named = self._tree(root), {row.id: names_in(row.text, row.files) for row in rows}
                try:
                    there = tree.holding({name for names in named.values() for name in names})
                except OSError as bad:  # another look asks again
                    log.warning("the names of notes are not looked up: %s", bad)
                    continue
                for row in rows:
                    branch = "" if row.kind == Kind.PREFERENCE else tree.branch  # a way of working holds on each
                    held = [name for name in named[row.id] if name in there]
                    names = tuple("./" + name if tree.is_file(name) else name for name in held)
                    kept[row.id] = NotedNames(row.citation, names, branch, row.kind in NOT_HELD)
            if kept != known:
                self._files.put(project_id, kept)

    def forget(self, project_ids: Iterable[str], memory_ids: Collection[str]) -> None:
        """Drop these memories' names. Raises OSError."""
        with self._lock:
            for project_id in project_ids:
                known = self._names(project_id)
                kept = {name: row for name, row in known.items() if name not in memory_ids}
                if kept != known:
                    self._files.put(project_id, kept)

    def look(self, project_id: str, root: str) -> Mapping[str, str]:
        """Return citation -> mark of notes, as the tree is now."""
        with self._lock:
            known = self._names(project_id)
            tree = self._tree(root) if known else Tree("")
            try:
                there = tree.holding({name for row in known.values() for name in row.names})
                unmerged = tree.unmerged(row.branch for row in known.values())
            except OSError as bad:
                log.warning("notes are not checked against the code: %s", bad)
                return self.marks(project_id, root)
            marks = {row.citation: mark for row in known.values() if (mark := _mark(row, there, unmerged))}
            self._marks[project_id, root] = marks
            return marks

    def marks(self, project_id: str, root: str) -> Mapping[str, str]:
        """Return the marks of the last look, without one."""
        return self._marks.get((project_id, root), {})

    def roots(self, project_id: str) -> list[str]:
        """Return a project's work trees that were looked at."""
        return [root for of, root in list(self._marks) if of == project_id]

    def _names(self, project_id: str) -> dict[str, NotedNames]:
        return self._files.get(project_id) or {}

    def _tree(self, root: str) -> Tree:
        """Return a work tree, a new one once it was changed."""
        state = project.state_of(root)
        if root not in self._trees or self._trees[root][0] != state:
            self._trees[root] = state, Tree(root)
        return self._trees[root][1]


def _mark(row: NotedNames, there: Collection[str], unmerged: Mapping[str, bool]) -> str:
    is_gone = any(name not in there for name in row.names)
    if row.branch in unmerged and (is_gone or (unmerged[row.branch] and not row.names)):
        return ON_BRANCH % cut(flatten(row.branch), BRANCH_CHARS)
    return SINCE_CHANGED if is_gone and not row.was_tried else ""
