"""A home for imported transcripts, with its store in memory."""

from __future__ import annotations

from pathlib import Path

from memlayer.adapters.sqlite_files import ImportLog
from memlayer.ports import MemoryQuery
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import discovery
from memlayer.transcripts.importer import Gathered, TranscriptHistory
from memlayer.wire.transfer import Imported
from tests.support.turns_in_memory import TurnsInMemory


class Past(TurnsInMemory):
    """A home that transcripts are imported into."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.home = home
        self.projects_folder = home.parent / "projects"
        self.projects_folder.mkdir(exist_ok=True)
        self.log = ImportLog(home / "cache" / "imports.sqlite")

    def run(self, *paths: Path, batches: int = 1000, rehearse: bool = False, subagents: bool = False) -> Imported:
        """Import, and stop after so many batches."""
        counts = Imported()
        rehearsal = Gathered(self.log, None)
        history = TranscriptHistory(
            self.store,
            self.sessions,
            rehearsal if rehearse else self.log,
            lambda folder: self.projects.find(folder)[0],
            Tombstones(str(self.home)),
        )
        found = discovery.find([str(path) for path in paths or (self.projects_folder,)], counts.skip)
        since = {one.id: one.since_ms for one in self.sessions.all()}
        for file in discovery.in_order(found, lambda session: since.get(session, 0)):
            if file.is_agent and not subagents:
                continue
            for batch in history.batches(file, counts, lambda _: None):
                rehearsal.add(batch)
                if not rehearse:
                    self.ingest.take(batch.events, is_history=True)
                    self.log.reached(batch.path, batch.offset, batch.records)
                batches -= 1
                if not batches:
                    return counts
        return counts

    @property
    def said(self) -> list[str]:
        return sorted(event.text for event in self.store.events(limit=10_000))

    @property
    def turns(self) -> list[str]:
        return sorted(memory.text for memory in self.store.memories(MemoryQuery(limit=10_000)))

    def end(self, session: str, cwd: str = "") -> None:
        """Hooks told of the session's end."""
        told = {"session_id": session, "at_ms": 2_000_000_000_000, "kind": "session_end", "detail": "other"}
        self.sessions.heard({**told, "project_dir": cwd, "transcript_path": ""}, "")
