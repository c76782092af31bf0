"""Markdown that the user has named, as memories of category `custom`: one a piece, with the lines that it comes from.

What is in the store follows what is on disk: a piece whose text is still there stays as it is, whatever its lines are
now; one that is gone goes. A file belongs to the project that it lies in, else to all (`GLOBAL`).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from memlayer.edge.capture.spool import event_id
from memlayer.edge.home import paths, project
from memlayer.indexing import embedders
from memlayer.indexing.document import Piece, pieces_of
from memlayer.indexing.ingest import Ingest, VectorCache
from memlayer.memory_files.pages import local_day
from memlayer.memory_files.walk import Found, read_text, walk
from memlayer.model import GLOBAL, Memory, citation_of
from memlayer.ports import DeletionPlan, Store
from memlayer.records.projects import Projects
from memlayer.records.tombstones import Tombstones
from memlayer.turns.salience import importance

log = logging.getLogger(__name__)
SOURCE = "file_"  # what the session id of a piece begins with; the rest names its file
BATCH = 48  # pieces indexed in one go: each may cost an embedding, and turns wait meanwhile
EVERYTHING = 10_000_000


@dataclass
class ExtraFiles:
    """The user's extra Markdown. The daemon's writer calls it, but for `has_global` and `notices`."""

    home: str
    store: Store
    ingest: Ingest
    cache: VectorCache
    projects: Projects
    tombstones: Tombstones
    named: tuple[str, ...] = ()
    max_tokens: int = 400
    overlap_tokens: int = 80
    has_global: bool = False  # whether some of it belongs to every project
    _known: dict[str, dict[str, Any]] | None = None  # path -> what it looked like, and whose it is
    _problems: dict[str, str] = field(default_factory=dict)

    def notices(self) -> list[str]:
        """What was left out and why, one line each."""
        return ["%s: %s" % item for item in sorted(self._problems.items())]

    def counts(self) -> dict[str, int]:
        """Named path -> how many files of it are searched."""
        known = list(self._known or {})
        return {name: sum(_is_below(one, (_real(name),)) for one in known) for name in self.named}

    def path_of(self, session_id: str) -> str:
        """The file whose pieces bear this session id, "" for none."""
        return next((path for path in self._known or () if _session_of(path) == session_id), "")

    def sync(self) -> bool:
        """Bring the store up to date with the files; False when there is more to do: then call it again.

        Raises StoreError or OSError.
        """
        known = dict(self._load())
        if not (self.named or known):
            return True
        found = walk(self.named, self.home)
        self._problems = dict(found.problems)
        present = {one.path for one in found.files}
        gone = [path for path in known if path not in present and not _is_below(path, found.missing)]
        put_away = [one for path in gone for one in self._held(path).values()]
        for path in gone:
            del known[path]
        fresh: list[Memory] = []
        looked = 0
        is_done = True
        for one in found.files:
            project_id, root = self._owner(one.path)
            before = known.get(one.path, {})
            looks = {"mtime_ns": one.mtime_ns, "size_bytes": one.size_bytes, "project_id": project_id}
            if {name: before.get(name) for name in looks} != looks:
                if len(fresh) >= BATCH or looked >= BATCH:
                    is_done = False
                    break
                looked += 1
                known[one.path] = {**looks, **self._read(one, project_id, root, before, fresh, put_away)}
            if known[one.path]["problem"]:
                self._problems[one.path] = known[one.path]["problem"]
        self._put(fresh)
        self._put_away(put_away)
        self._known = known
        self.has_global = any(one["project_id"] == GLOBAL for one in known.values())
        if looked or gone:
            self._save(known)
        return is_done

    def _read(
        self,
        found: Found,
        project_id: str,
        root: str,
        before: dict[str, Any],
        fresh: list[Memory],
        put_away: list[Memory],
    ) -> dict[str, str]:
        """Read one file, and add to what is new and to what is no longer; what is to be known of it."""
        try:
            text, problem = read_text(found.path)
        except OSError as bad:
            text, problem = "", "cannot be read: %s" % bad.strerror
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
        if before.get("digest") != digest or before.get("project_id") != project_id:
            held = self._held(found.path)
            cut = pieces_of(text, max_tokens=self.max_tokens, overlap_tokens=self.overlap_tokens)
            wanted = {one.id: one for one in self._memories(found, cut, project_id, root)}
            wanted = {key: one for key, one in wanted.items() if key not in self.tombstones}
            for key in wanted.keys() & held.keys():  # its day is that on which it was first seen
                wanted[key] = replace(wanted[key], at_ms=held[key].at_ms, key=held[key].key, pinned=held[key].pinned)
            fresh += [one for key, one in wanted.items() if held.get(key) != one]
            put_away += [one for key, one in held.items() if key not in wanted and not one.superseded_by]
        return {"digest": digest, "problem": problem}

    def _held(self, path: str) -> dict[str, Memory]:
        return {one.id: one for one in self.store.memories(session_id=_session_of(path), limit=EVERYTHING)}

    def _put(self, fresh: list[Memory]) -> None:
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            with self.ingest.lock:
                self.store.put_memories(batch)
                self.ingest.index(batch, [chunk for one in batch for chunk in self.ingest.chunks_of(one, one.text)])

    def _put_away(self, gone: list[Memory]) -> None:
        """Found no more. To erase rows takes seconds, which a document that is being written need not cost each time:
        that is done when the next daemon begins."""
        if gone:
            now_ms = int(time.time() * 1000)
            with self.ingest.lock:
                self.store.put_memories([replace(one, superseded_by=one.id, superseded_ms=now_ms) for one in gone])
                self.store.drop_chunks([one.id for one in gone])

    def _memories(self, found: Found, cut: list[Piece], project_id: str, root: str) -> list[Memory]:
        name = os.path.relpath(found.path, root) if root else _shortened(found.path)
        at_ms = max(0, found.mtime_ns // 1_000_000)
        seen: Counter[str] = Counter()
        out = []
        for piece in cut:
            seen[piece.text] += 1
            memory_id = event_id(found.path, str(seen[piece.text]), "file", piece.text)
            out.append(
                Memory(
                    id=memory_id,
                    key="custom_%s_%s" % (local_day(at_ms), memory_id[:4]),
                    citation=citation_of(memory_id),
                    category="custom",
                    kind="%s:%d-%d" % (name, piece.start_line, piece.end_line),
                    text=piece.text,
                    importance=importance("custom", piece.text),
                    project_id=project_id,
                    session_id=_session_of(found.path),
                    prompt_id="",
                    source_ids=(),
                    at_ms=at_ms,
                )
            )
        return out

    def _owner(self, path: str) -> tuple[str, str]:
        """(project id, its folder) of the innermost known project that a file lies in, else (GLOBAL, "")."""
        place = project.locate(os.path.dirname(path))
        if place.git_dir:
            project_id, _ = self.projects.find(place.root)
            if project_id:
                return project_id, place.root
        roots = {str(one.get("root")): key for key, one in self.projects.known().items()}
        outermost = (os.path.realpath(os.path.expanduser("~")), "/")  # no project of which everything is a part
        at = os.path.dirname(path)
        while at not in outermost:
            if at in roots:
                return roots[at], at
            at = os.path.dirname(at)
        return GLOBAL, ""

    def _load(self) -> dict[str, dict[str, Any]]:
        if self._known is None:
            try:
                with open(self._path, encoding="utf-8") as file:
                    data = json.load(file)
                known = {str(path): dict(one) for path, one in data.items()}
            except (OSError, ValueError, TypeError, AttributeError):
                known = {}
            held = [one for one in self.store.memories(category="custom", limit=EVERYTHING) if _is_piece(one)]
            sessions = {_session_of(path) for path in known}
            self._erase([one.id for one in held if one.superseded_by or one.session_id not in sessions])
            self._known = known
        return self._known

    def _erase(self, memory_ids: list[str]) -> None:
        """Out of the store, without a tombstone: a file that comes back is to be found again."""
        if memory_ids:
            with self.ingest.lock:
                self.store.forget(DeletionPlan(memory_ids=tuple(memory_ids)))
                embedders.drop_unused(self.store, self.cache)

    def _save(self, known: dict[str, dict[str, Any]]) -> None:
        paths.write_whole(self._path, json.dumps(known, ensure_ascii=False).encode("utf-8", "replace"))

    @property
    def _path(self) -> str:
        return os.path.join(paths.cache(self.home), "files", "extra.json")


def _is_piece(memory: Memory) -> bool:
    return memory.session_id.startswith(SOURCE)


def _real(name: str) -> str:
    return os.path.realpath(os.path.expanduser(name))


def _session_of(path: str) -> str:
    return SOURCE + hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _shortened(path: str) -> str:
    person = os.path.realpath(os.path.expanduser("~"))
    return "~" + path[len(person) :] if path.startswith(person + os.sep) else path


def _is_below(path: str, folders: tuple[str, ...]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
