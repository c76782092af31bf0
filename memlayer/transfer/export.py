"""Export and import of all records as JSON Lines, without the index.

The first line is `{"memlayer_export": 1, …}`, the last one `{"end": {…}}` with the counts. In between each line is an
object with one key: `project`, `session`, `event`, `memory` or `usage`.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.errors import UserError
from memlayer.indexing.indexer import Indexer
from memlayer.model import GLOBAL, Event, Memory, Usage, replace
from memlayer.ports import MemoryQuery, ScanProgress, Store, events_by_id, memories_by_id
from memlayer.records.projects import Projects
from memlayer.records.sessions import Session, Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.transfer import export_line
from memlayer.transfer.export_line import END, MARK, Read
from memlayer.wire.transfer import ExportCounts, Exported, ExportTaken

VERSION = 1
BATCH_LINES = 400
BATCH_BYTES = 2_000_000
MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_REASONS = 20
_HEAD_BYTES = 4096
_OF_THIS_HOME = ("born", "chosen")  # of a project: when its repository was made, and folders joined to it by hand
_NAMES: dict[type, str] = {Event: "event", Memory: "memory", Usage: "usage"}
_LISTS: dict[type, str] = {Session: "sessions", Event: "events", Memory: "memories", Usage: "usages"}


def write(path: str, store: Store, projects: Projects, sessions: Sessions, progress: ScanProgress) -> Exported:
    """Write an export to `path` (0600), atomically. Raises OSError, StoreError."""
    counts = Exported(path=path)
    total = store.stats().events + store.stats().memories
    temporary = os.path.join(os.path.dirname(path), ".%s.%d.part" % (os.path.basename(path)[:80], os.getpid()))
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:

            def line(name: str, value: object) -> None:
                file.write(json.dumps({name: value}, ensure_ascii=False) + "\n")

            file.write(json.dumps({MARK: VERSION, "build": __version__, "at_ms": int(time.time() * 1000)}) + "\n")
            for project_id, known in projects.known().items():
                told = {name: value for name, value in known.items() if name not in _OF_THIS_HOME}
                line("project", {"id": project_id, **told})
                counts.projects += 1
            for session in sessions.all():
                line("session", session.fields())
                counts.sessions += 1

            def rows(records: Sequence[Event] | Sequence[Memory] | Sequence[Usage]) -> None:
                for row in records:
                    line(_NAMES[type(row)], row.fields())
                    counts.events += isinstance(row, Event)
                    counts.memories += isinstance(row, Memory)
                    counts.usages += isinstance(row, Usage)
                progress(counts.events + counts.memories, total)

            store.scan(rows)
            line(END, ExportCounts.of(counts).fields())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):  # present only after a failure
            os.unlink(temporary)
    return counts


@dataclass
class ExportPart:
    """A batch of an export's lines. offset: where the next part begins."""

    sessions: list[Session] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    offset: int = 0


class ExportFile:
    """An export to take in; known records stay unchanged, forgotten ones forgotten."""

    def __init__(self, path: str, store: Store, projects: Projects, sessions: Sessions, tombstones: Tombstones) -> None:
        """Check the first line. Raises UserError for no export, OSError if unreadable."""
        self.path = path
        self.size = os.path.getsize(path)
        self.counts = ExportTaken()
        self._store, self._projects, self._sessions, self._tombstones = store, projects, sessions, tombstones
        self._renamed: dict[str, str] = {}  # project id in the export -> in this home
        self._known_before = set(projects.known())
        with paths.open_regular(path) as file:
            head = _parsed(file.readline(_HEAD_BYTES))
        if MARK not in head:
            raise UserError(f"{path} is no export of memlayer")
        if head[MARK] != VERSION:
            raise UserError(f"{path} was written by another version of memlayer: format {str(head[MARK])[:40]}")

    def parts(self, is_rehearsal: bool = False) -> Iterator[ExportPart]:
        """Yield the new lines in parts; bad ones are counted with reasons."""
        self.counts.dry_run = is_rehearsal
        part, begun = ExportPart(), 0
        for record, end in self._lines():
            self._read(record, part, is_rehearsal)
            part.offset = end
            line_count = len(part.events) + len(part.memories) + len(part.sessions) + len(part.usages)
            if line_count >= BATCH_LINES or part.offset - begun >= BATCH_BYTES:
                yield self._new(part)
                begun = part.offset
                part = ExportPart(offset=begun)
        yield self._new(part)

    def _lines(self) -> Iterator[tuple[Read | None, int]]:
        """Yield (record, end offset) of each line that can be read."""
        with paths.open_regular(self.path) as file:
            end, is_whole = 0, False
            for number, raw in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
                end += len(raw)
                if not raw.strip():
                    continue
                try:
                    record = export_line.read(raw)
                except UserError as bad:
                    self._leave_out(f"line {number}: {bad}")
                    is_whole = False
                    continue
                is_whole = record is None and number > 1
                yield record, end
            if not is_whole:
                self._leave_out("the last line is missing: the file may have been cut")

    def _leave_out(self, reason: str) -> None:
        self.counts.bad += 1
        if len(self.counts.reasons) < MAX_REASONS:
            self.counts.reasons.append(reason)

    def take(self, part: ExportPart, indexer: Indexer) -> set[str]:
        """Store a part, in the writer; return the projects' ids."""
        for session in part.sessions:
            self._sessions.restore(session)
        self._store.add_events(part.events)
        # Chunks first: a stored memory counts as taken in.
        with indexer.lock:
            indexer.index(part.memories, embed=False)
            self._store.put_memories(part.memories)
        # Of memories that were taken in before: usages come last in an export.
        ids = [usage.memory_id for usage in part.usages]
        known = {memory.id for memory in self._store.memories(MemoryQuery(ids=ids, limit=BATCH_LINES))}
        self._store.put_usages([usage for usage in part.usages if usage.memory_id in known])
        return {memory.project_id for memory in part.memories}

    def _read(self, record: Read | None, part: ExportPart, is_rehearsal: bool) -> None:
        if isinstance(record, export_line.ExportedProject):
            self._adopt(record.id, record.entry, is_rehearsal)
            self.counts.projects += 1
        elif record is not None:
            if record.project_id not in (*self._renamed, "", GLOBAL):  # its own line was left out
                self._adopt(record.project_id, {"keys": []}, is_rehearsal)
            here = self._renamed.get(record.project_id, record.project_id)
            rows: list[Any] = getattr(part, _LISTS[type(record)])
            change = record.changed if isinstance(record, Session) else partial(replace, record)
            rows.append(change(project_id=here))

    def _new(self, part: ExportPart) -> ExportPart:
        """Return the part without known and forgotten records."""
        known = {*events_by_id(self._store, (event.id for event in part.events))}
        known |= {*memories_by_id(self._store, (memory.id for memory in part.memories))}
        gone = self._tombstones
        events = [event for event in part.events if not gone.covers(event.fields(), is_history=True)]
        memories = [
            memory
            for memory in part.memories
            if not gone.covers_memory(memory) and not any(source in gone for source in memory.source_ids)
        ]
        sessions = [session for session in part.sessions if self._sessions.get(session.id) is None]
        self.counts.forgotten += len(part.events) - len(events) + len(part.memories) - len(memories)
        part.events = [event for event in events if event.id not in known]
        part.memories = [memory for memory in memories if memory.id not in known]
        self.counts.known += len(events) - len(part.events) + len(memories) - len(part.memories)
        self.counts.known += len(part.sessions) - len(sessions)
        part.sessions = sessions
        self.counts.sessions += len(sessions)
        self.counts.usages += len(part.usages)
        self.counts.events += len(part.events)
        self.counts.memories += len(part.memories)
        return part

    def _adopt(self, own: str, entry: dict[str, Any], is_rehearsal: bool) -> None:
        # Projects that were two in the other home do not become the same new one here.
        apart = set(self._renamed.values()) - self._known_before
        self._renamed[own] = own if is_rehearsal else self._projects.adopt(own, entry, apart)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
