"""Markdown files of the settings as `custom` memories, one a piece.

The store follows the disk: a piece whose text is still in the file keeps its memory, whatever its lines are now. The
memory of a piece that is gone goes. A file belongs to the project that it lies in, else to all (`GLOBAL`).
"""

import hashlib
import logging
import os
import re
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.spool import event_id
from memlayer.edge.home import paths, project
from memlayer.edge.home.session_ids import FILE_SESSION
from memlayer.keep.keep import Keep
from memlayer.kinds import Author, Category, Ended
from memlayer.memory_files.markdown import plain_text
from memlayer.model import GLOBAL, Memory, replace
from memlayer.ports import MemoryQuery
from memlayer.records import small_files
from memlayer.records.projects import Projects
from memlayer.text.chunking import chunk
from memlayer.turns.salience import new_memory

HEADING_CHARS = 80
HEADING_TOKENS = 32
_HEADING = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)

log = logging.getLogger(__name__)
SOURCE = FILE_SESSION  # prefix of a piece's session id. The rest names its file
BATCH = 48  # pieces of files read at once: turns wait meanwhile
EVERYTHING = 10_000_000
SUFFIXES = (".md", ".markdown", ".mdx")
MAX_FILES = 5_000
MAX_FILE_BYTES = 400_000
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Piece(NamedTuple):
    """A part of a document.

    start_line, end_line: of the file, from 1, both included. text: redacted. It begins with the heading that it stands
    under, where it does not itself begin with a heading.
    """

    start_line: int
    end_line: int
    text: str


def pieces_of(text: str, *, max_tokens: int = 400, overlap_tokens: int = 80) -> list[Piece]:
    """Cut a document (newlines only) into pieces, in order, none empty."""
    redacted = clean(text)
    lines = _lines_of(text, redacted)
    headings = list(_HEADING.finditer(redacted))
    out = []
    for span in chunk(redacted, max_tokens=max_tokens - HEADING_TOKENS, overlap_tokens=overlap_tokens):
        part = redacted[span.start : span.end]
        body = part.strip()
        if not body:
            continue
        start = span.start + part.index(body[0])
        first, last = redacted.count("\n", 0, start), redacted.count("\n", 0, start + len(body))
        above = [heading.group().strip() for heading in headings if heading.start() < start]
        if above and not _HEADING.match(body):
            body = above[-1][:HEADING_CHARS].rstrip() + "\n" + body
        out.append(Piece(lines[first] + 1, lines[last] + 1, body))
    return out


def _lines_of(text: str, redacted: str) -> list[int]:
    """Map redacted lines to file's, from 0: secrets may span several."""
    old, new = text.split("\n"), redacted.split("\n")
    if len(old) == len(new):
        return list(range(len(new)))
    out = []
    at = 0
    for line in new:
        place = at
        while place < len(old) and old[place] != line:
            place += 1
        if place < len(old):
            at = place
        out.append(min(at, len(old) - 1))
        at += 1
    return out


@dataclass
class ReadDocument:
    """A document as it was last read."""

    mtime_ns: int
    size_bytes: int
    project_id: str
    digest: str = ""
    problem: str = ""


@dataclass
class ExtraFiles:
    """Extra Markdown, kept by the daemon's writer. Others use `has_global` and `notices`."""

    home: str
    keep: Keep
    projects: Projects
    named: tuple[str, ...] = ()
    host_folders: Callable[[], dict[str, str]] = dict  # folder of the host's memory -> project id
    has_global: bool = False  # whether some of it belongs to every project
    _known: dict[str, ReadDocument] | None = None  # by path
    _problems: dict[str, str] = field(default_factory=dict)

    def notices(self) -> list[str]:
        """Return the files left out and why, one line each."""
        return ["%s: %s" % item for item in sorted(self._problems.items())]

    def counts(self) -> dict[str, int]:
        """Return named path -> number of its files that are searched."""
        known = list(self._known or {})
        return {
            name: sum(_is_below(path, (os.path.realpath(os.path.expanduser(name)),)) for path in known)
            for name in self.named
        }

    def path_of(self, session_id: str) -> str:
        """Return the file whose pieces have this session id, "" for none."""
        return next((path for path in self._known or () if _session_of(path) == session_id), "")

    def sync(self) -> bool:
        """Bring the store up to date; False if more is left."""
        known, hosts = self._load(), self.host_folders()
        if not (self.named or known or hosts):
            return True
        walked = walk((*self.named, *hosts), self.home)
        gone = [path for path in known if path not in walked.files and not _is_below(path, walked.missing)]
        held = [piece for path in gone for piece in self._held(path).values()]
        known = {path: seen for path, seen in known.items() if path not in gone}
        fresh: list[Memory] = []
        looked = 0
        is_done = True
        for path, at in walked.files.items():
            project_id, root = self._owner(path, hosts)
            before = known.get(path)
            if before is None or (before.mtime_ns, before.size_bytes, before.project_id) != (*at, project_id):
                if len(fresh) >= BATCH or looked >= BATCH:
                    is_done = False
                    break
                looked += 1
                text, problem = read_text(path)
                digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
                known[path] = ReadDocument(*at, project_id, digest, problem)
                if before is None or (before.digest, before.project_id) != (digest, project_id):
                    stored = self._held(path)
                    fresh += self._pieces(path, text, max(0, at[0] // 1_000_000), project_id, root, stored)
                    held += stored.values()
        self.keep.renew(fresh, held, Ended.GONE, int(time.time() * 1000))  # erasing takes seconds, at the next start
        self._known = known
        self._problems = walked.problems | {path: seen.problem for path, seen in known.items() if seen.problem}
        self.has_global = any(seen.project_id == GLOBAL for seen in known.values())
        if looked or gone:
            small_files.write(self._path, known)
        return is_done

    def _held(self, path: str) -> dict[str, Memory]:
        return {
            piece.id: piece
            for piece in self.keep.store.memories(MemoryQuery(session_id=_session_of(path), limit=EVERYTHING))
        }

    def _pieces(
        self, path: str, text: str, at_ms: int, project_id: str, root: str, stored: dict[str, Memory]
    ) -> Iterator[Memory]:
        """Yield the memories of a file's pieces."""
        name = os.path.relpath(path, root) if root else _shortened(path)
        owner = {"project_id": project_id, "session_id": _session_of(path), "by": Author.FILE}
        seen: Counter[str] = Counter()
        for piece in pieces_of(text):
            seen[piece.text] += 1
            memory_id = event_id(path, str(seen[piece.text]), "file", piece.text)
            kind = "%s:%d-%d" % (name, piece.start_line, piece.end_line)
            new = new_memory(memory_id, Category.CUSTOM, kind, piece.text, at_ms, **owner)
            old = stored.get(memory_id, new)  # its day is when it was first seen
            yield replace(new, at_ms=old.at_ms, key=old.key)

    def _owner(self, path: str, hosts: dict[str, str]) -> tuple[str, str]:
        """Return (id, folder) of a file's innermost known project, else (GLOBAL, "").

        A file of the host's memory belongs to the project of its transcripts, wherever it lies.
        """
        for folder, project_id in hosts.items():
            if _is_below(path, (folder,)):
                return project_id, os.path.dirname(os.path.dirname(folder))
        place = project.locate(os.path.dirname(path))
        if place.git_dir:
            project_id, _ = self.projects.find(place.root)
            if project_id:
                return project_id, place.root
        roots = {str(entry.get("root")): key for key, entry in self.projects.known().items()}
        outermost = (os.path.realpath(os.path.expanduser("~")), "/")  # a project there would hold every file
        at = os.path.dirname(path)
        while at not in outermost:
            if at in roots:
                return roots[at], at
            at = os.path.dirname(at)
        return GLOBAL, ""

    def _load(self) -> dict[str, ReadDocument]:
        if self._known is None:
            known = small_files.read(self._path, dict[str, ReadDocument]) or {}
            pieces = [
                memory
                for memory in self.keep.store.memories(MemoryQuery(category=Category.CUSTOM, limit=EVERYTHING))
                if memory.session_id.startswith(SOURCE)
            ]
            sessions = {_session_of(path) for path in known}
            left = [row for row in pieces if row.ended_because is Ended.GONE or row.session_id not in sessions]
            self.keep.erase_lent(left)
            self._known = known
        return self._known

    @property
    def _path(self) -> str:
        return os.path.join(paths.cache(self.home), "files", "extra.json")


def _session_of(path: str) -> str:
    return SOURCE + hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _shortened(path: str) -> str:
    person = os.path.realpath(os.path.expanduser("~"))
    return "~" + path[len(person) :] if path.startswith(person + os.sep) else path


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)


class Walk(NamedTuple):
    """The files below the named paths.

    files: real path -> its mtime in ns and size, in order. missing: named paths not on disk. problems: path -> why left
    out.
    """

    files: dict[str, tuple[int, int]]
    missing: tuple[str, ...]
    problems: dict[str, str]


def walk(named: Iterable[str], home: str) -> Walk:
    """Find Markdown below the named paths, without links and hidden files."""
    files: dict[str, tuple[int, int]] = {}
    missing, problems = [], {}
    for name in named:
        path = os.path.realpath(os.path.expanduser(name))
        if not os.path.isabs(os.path.expanduser(name)):
            problems[name] = "not an absolute path"
        elif not os.path.exists(path):
            missing.append(path)
            problems[name] = "not there; its earlier text is kept"
        else:
            for one in [path] if os.path.isfile(path) else _markdown_below(path, os.path.realpath(home)):
                if len(files) >= MAX_FILES:
                    problems[name] = "more than %d files; the rest is left out" % MAX_FILES
                    break
                try:
                    info = os.lstat(one)
                    one.encode("utf-8")
                except (OSError, UnicodeEncodeError):
                    problems[one] = "cannot be read"
                    continue
                if stat.S_ISREG(info.st_mode):
                    files.setdefault(one, (info.st_mtime_ns, info.st_size))
    return Walk(files, tuple(missing), problems)


def read_text(path: str) -> tuple[str, str]:
    """Return (text with newlines only, "") or ("", the problem)."""
    try:
        fd = os.open(path, _FLAGS)
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                return "", "no plain file"
            return plain_text(file.read(MAX_FILE_BYTES + 1), MAX_FILE_BYTES)
    except OSError as bad:
        return "", "cannot be read: %s" % bad.strerror


def _markdown_below(folder: str, home: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and name != "node_modules" and os.path.join(at, name) != home
        )
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                yield os.path.join(at, name)
