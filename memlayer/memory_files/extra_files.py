"""Markdown files of the settings as `custom` memories, one a piece.

The store follows the disk: a piece whose text is still in the file keeps its memory, whatever its lines are now. The
memory of a piece that is gone goes. A file belongs to the project that it lies in, else to all (`GLOBAL`).
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from memlayer.edge.capture.spool import event_id
from memlayer.edge.home import paths, project
from memlayer.edge.home.session_ids import FILE_SESSION
from memlayer.indexing.document import Piece, pieces_of
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import Category
from memlayer.model import GLOBAL, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records import small_files
from memlayer.records.projects import Projects
from memlayer.records.tombstones import Tombstones
from memlayer.turns.salience import new_memory

log = logging.getLogger(__name__)
SOURCE = FILE_SESSION  # prefix of a piece's session id. The rest names its file
BATCH = 48  # pieces indexed at once: each may cost an embedding, and turns wait meanwhile
EVERYTHING = 10_000_000
SUFFIXES = (".md", ".markdown", ".mdx")
MAX_FILES = 5_000
MAX_FILE_BYTES = 400_000
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass
class ExtraFiles:
    """Extra Markdown, kept by the daemon's writer. Others use `has_global` and `notices`."""

    home: str
    store: Store
    indexer: Indexer
    projects: Projects
    tombstones: Tombstones
    named: tuple[str, ...] = ()
    host_folders: Callable[[], dict[str, str]] = dict  # folder of the host's memory -> project id
    max_tokens: int = 400
    overlap_tokens: int = 80
    has_global: bool = False  # whether some of it belongs to every project
    _known: dict[str, dict[str, Any]] | None = None  # path -> its state when last read
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
        known, hosts = dict(self._load()), self.host_folders()
        if not (self.named or known or hosts):
            return True
        walked = walk((*self.named, *hosts), self.home)
        self._problems = dict(walked.problems)
        present = {file.path for file in walked.files}
        gone = [path for path in known if path not in present and not _is_below(path, walked.missing)]
        retired = [piece for path in gone for piece in self._held(path).values()]
        for path in gone:
            del known[path]
        fresh: list[Memory] = []
        looked = 0
        is_done = True
        for file in walked.files:
            project_id, root = self._owner(file.path, hosts)
            before = known.get(file.path, {})
            state = {"mtime_ns": file.mtime_ns, "size_bytes": file.size_bytes, "project_id": project_id}
            if {name: before.get(name) for name in state} != state:
                if len(fresh) >= BATCH or looked >= BATCH:
                    is_done = False
                    break
                looked += 1
                known[file.path] = {**state, **self._read(file, project_id, root, before, fresh, retired)}
            if known[file.path]["problem"]:
                self._problems[file.path] = known[file.path]["problem"]
        self._put(fresh)
        self._retire(retired)
        self._known = known
        self.has_global = any(state["project_id"] == GLOBAL for state in known.values())
        if looked or gone:
            self._save(known)
        return is_done

    def _read(
        self,
        file: FoundFile,
        project_id: str,
        root: str,
        before: dict[str, Any],
        fresh: list[Memory],
        retired: list[Memory],
    ) -> dict[str, str]:
        """Read one file, sort its fresh and retired pieces, return its state."""
        try:
            text, problem = read_text(file.path)
        except OSError as bad:
            text, problem = "", "cannot be read: %s" % bad.strerror
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
        if before.get("digest") != digest or before.get("project_id") != project_id:
            stored = self._held(file.path)
            cut = pieces_of(text, max_tokens=self.max_tokens, overlap_tokens=self.overlap_tokens)
            pieces = self._memories(file, cut, project_id, root)
            wanted = {piece.id: piece for piece in pieces if piece.id not in self.tombstones}
            for key in wanted.keys() & stored.keys():  # its day is when it was first seen
                wanted[key] = replace(
                    wanted[key], at_ms=stored[key].at_ms, key=stored[key].key, pinned=stored[key].pinned
                )
            fresh += [piece for key, piece in wanted.items() if stored.get(key) != piece]
            retired += [piece for key, piece in stored.items() if key not in wanted and not piece.superseded_by]
        return {"digest": digest, "problem": problem}

    def _held(self, path: str) -> dict[str, Memory]:
        return {
            piece.id: piece
            for piece in self.store.memories(MemoryQuery(session_id=_session_of(path), limit=EVERYTHING))
        }

    def _put(self, fresh: list[Memory]) -> None:
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            with self.indexer.lock:
                self.store.put_memories(batch)
                self.indexer.index(batch)

    def _retire(self, gone: list[Memory]) -> None:
        """Take pieces out of search; erasing takes seconds, at the next start."""
        if gone:
            now_ms = int(time.time() * 1000)
            with self.indexer.lock:
                self.store.put_memories(
                    [replace(piece, superseded_by=piece.id, superseded_ms=now_ms) for piece in gone]
                )
                self.store.drop_chunks([piece.id for piece in gone])

    def _memories(self, file: FoundFile, cut: list[Piece], project_id: str, root: str) -> list[Memory]:
        name = os.path.relpath(file.path, root) if root else _shortened(file.path)
        at_ms = max(0, file.mtime_ns // 1_000_000)
        seen: Counter[str] = Counter()
        out = []
        for piece in cut:
            seen[piece.text] += 1
            memory_id = event_id(file.path, str(seen[piece.text]), "file", piece.text)
            kind = "%s:%d-%d" % (name, piece.start_line, piece.end_line)
            session_id = _session_of(file.path)
            out.append(
                new_memory(
                    memory_id, Category.CUSTOM, kind, piece.text, at_ms, project_id=project_id, session_id=session_id
                )
            )
        return out

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

    def _load(self) -> dict[str, dict[str, Any]]:
        if self._known is None:
            known = small_files.read(self._path, dict[str, dict[str, Any]]) or {}
            pieces = [
                memory
                for memory in self.store.memories(MemoryQuery(category=Category.CUSTOM, limit=EVERYTHING))
                if memory.session_id.startswith(SOURCE)
            ]
            sessions = {_session_of(path) for path in known}
            self.indexer.erase_lent(
                [piece.id for piece in pieces if piece.superseded_by or piece.session_id not in sessions]
            )
            self._known = known
        return self._known

    def _save(self, known: dict[str, dict[str, Any]]) -> None:
        small_files.write(self._path, known)

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


class FoundFile(NamedTuple):
    """A file on disk: real path, and state to see a change."""

    path: str
    mtime_ns: int
    size_bytes: int


class Walk(NamedTuple):
    """The files below the named paths.

    files: in order, each once. missing: named paths not on disk. problems: path -> why left out.
    """

    files: tuple[FoundFile, ...]
    missing: tuple[str, ...]
    problems: dict[str, str]


def walk(named: Iterable[str], home: str) -> Walk:
    """Find Markdown below the named paths, without links and hidden files."""
    files: dict[str, FoundFile] = {}
    missing, problems = [], {}
    for name in named:
        path = os.path.realpath(os.path.expanduser(name))
        if not os.path.isabs(os.path.expanduser(name)):
            problems[name] = "not an absolute path"
        elif not os.path.exists(path):
            missing.append(path)
            problems[name] = "not there; its earlier text is kept"
        elif os.path.isfile(path):
            _add(files, problems, path)
        else:
            for file_path in _markdown_below(path, os.path.realpath(home)):
                if len(files) >= MAX_FILES:
                    problems[name] = "more than %d files; the rest is left out" % MAX_FILES
                    break
                _add(files, problems, file_path)
    return Walk(tuple(files.values()), tuple(missing), problems)


def read_text(path: str) -> tuple[str, str]:
    """Return (text with newlines only, "") or ("", the problem). Raises OSError."""
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


def _add(files: dict[str, FoundFile], problems: dict[str, str], path: str) -> None:
    try:
        info = os.lstat(path)
        path.encode("utf-8")
    except (OSError, UnicodeEncodeError):
        problems[path] = "cannot be read"
        return
    if stat.S_ISREG(info.st_mode):
        files.setdefault(path, FoundFile(path, info.st_mtime_ns, info.st_size))
