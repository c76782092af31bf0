"""A home for imported transcripts, with its store in memory."""

from dataclasses import replace
from pathlib import Path

from memlayer.adapters.sqlite_files import ImportLog
from memlayer.ports import MemoryQuery
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import discovery, sources
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

    def run(
        self, *paths: Path, agent: str = "claude", batches: int = 1000, rehearse: bool = False, project: str = ""
    ) -> Imported:
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
        found = sources.find(agent, [str(path) for path in paths or (self.projects_folder,)], counts.skip)
        since = {one.id: one.since_ms for one in self.sessions.all()}
        if project:
            found = [replace(file, cwd=project) for file in found]
        for file in discovery.in_order(found, lambda session: since.get(session, 0)):
            if file.is_agent:
                continue
            read = counts.files
            for batch in history.batches(file, counts, lambda _: None):
                rehearsal.add(batch)
                if not rehearse:
                    self.ingest.take(batch.events, is_history=True)
                    self.log.reached(batch.path, batch.offset, batch.records)
                batches -= 1
                if not batches:
                    return counts
            if counts.files > read and not rehearse:
                self.ingest.leave(file.session_id, history.left())
        return counts.changed(found=history.preview.rows(), problems=history.preview.problems())

    @property
    def said(self) -> list[str]:
        return sorted(event.text for event in self.store.events(limit=10_000))

    def told(self, kind: str) -> list[str]:
        """The texts of one kind, in order."""
        events = self.store.events(kind=kind, limit=10_000)
        return [event.text for event in sorted(events, key=lambda event: event.at_ms)]

    @property
    def kinds(self) -> dict[str, str]:
        """Prompt -> kind of its turn."""
        turns = self.store.memories(MemoryQuery(limit=10_000))
        return {turn.text.partition("\n")[0].removeprefix("User: "): str(turn.known_kind) for turn in turns}

    @property
    def turns(self) -> list[str]:
        return sorted(memory.text for memory in self.store.memories(MemoryQuery(limit=10_000)))

    def end(self, session: str, cwd: str = "") -> None:
        """Hooks told of the session's end."""
        told = {"session_id": session, "at_ms": 2_000_000_000_000, "kind": "session_end", "detail": "other"}
        self.sessions.heard({**told, "project_dir": cwd, "transcript_path": ""}, "")
