"""Import of earlier transcripts as captured events, in batches of whole turns."""

import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from memlayer.edge.capture.payload import clean
from memlayer.edge.home import paths, project
from memlayer.edge.redaction.session_values import Heard
from memlayer.model import turn_memory_id
from memlayer.ports import Store, events_by_id, memories_by_id
from memlayer.records.sessions import Session, Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts.catch_up import captured, id_without_prompt_id, said_elsewhere
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally
from memlayer.transcripts.reader import TranscriptRecord
from memlayer.transcripts.sources import CLAUDE, SOURCES
from memlayer.wire.transfer import Found, Imported

EXPORTS = ("claude-ai", "chatgpt")  # files that the person downloads: nowhere of their own
ALL = "all"
LEAST_FILES = 3  # without a turn: one may have been opened and closed
BATCH_EVENTS = 200
BATCH_CHARS = 400_000
GATHERED_EVENTS = 1500  # of several transcripts, stored at once
GATHERED_CHARS = 3_000_000
SOURCE = "import"
# A transcript unknown to hooks and written to so lately may be in mid-turn. A part of the answer would be taken for the
# whole.
GOING_ON_S = 60
GOING_ON = "turns that may still go on (import again a minute after their session)"
OFF = "prompts and answers from while memlayer was switched off"
COPIES = "copies of another session"


def agents() -> tuple[str, ...]:
    """Return the names of all agents."""
    return (*_places(os.environ), *EXPORTS)


def found(agent: str) -> dict[str, list[str]]:
    """Return agent -> its places that exist, of one or ALL."""
    places = _places(os.environ)
    chosen = places if agent == ALL else {agent: places.get(agent, [])}
    return {
        name: there for name, given in chosen.items() if (there := [path for path in given if os.path.exists(path)])
    }


def _places(environ: Mapping[str, str]) -> dict[str, list[str]]:
    own = os.path.expanduser("~")
    codex = environ.get("CODEX_HOME") or os.path.join(own, ".codex")
    gemini = os.path.join(environ.get("GEMINI_CLI_HOME") or own, ".gemini")
    share = environ.get("XDG_DATA_HOME") or os.path.join(own, ".local", "share")
    cursor = environ.get("CURSOR_CONFIG_DIR") or os.path.join(own, ".cursor")
    settings = (
        os.path.join(own, "Library", "Application Support")
        if sys.platform == "darwin"
        else environ.get("XDG_CONFIG_HOME") or os.path.join(own, ".config")
    )
    return {
        "claude": [paths.host_projects()],
        "codex": [os.path.join(codex, name) for name in ("sessions", "archived_sessions")],
        "gemini": [os.path.join(gemini, "tmp")],
        "opencode": [os.path.join(share, "opencode")],
        "cursor": [
            os.path.join(cursor, "projects"),
            os.path.join(settings, "Cursor", "User", "globalStorage", "state.vscdb"),
        ],
        "copilot": [os.path.join(environ.get("COPILOT_HOME") or os.path.join(own, ".copilot"), "session-state")],
    }


class Preview:
    """Counts of an import by agent and folder."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str], Found] = {}
        self._sessions: dict[tuple[str, str], set[str]] = {}
        self._versions: dict[tuple[str, str], tuple[int, int, bool]] = {}

    def row(self, file: Transcript, folder: str) -> Found:
        """Return the row of a session's folder."""
        return self._rows.setdefault((file.agent, folder), Found(file.agent, folder))

    def hear(self, row: Found, session_id: str, at_ms: int) -> None:
        """Count something that was said in a session."""
        sessions = self._sessions.setdefault((row.agent, row.folder), set())
        sessions.add(session_id)
        row.sessions = len(sessions)
        if at_ms:
            row.first_ms, row.last_ms = min(at_ms, row.first_ms or at_ms), max(at_ms, row.last_ms)

    def hosts(self) -> dict[str, str]:
        """Return session id -> its host, of other agents than Claude Code."""
        heard = ((agent, ids) for (agent, _), ids in self._sessions.items() if agent != CLAUDE)
        return {id_: agent for agent, ids in heard for id_ in ids}

    def read(self, file: Transcript, tally: Tally, turns: int, *, is_whole: bool) -> None:
        """Note the turns of a file. is_whole: read from its start."""
        if is_whole:
            key = file.agent, tally.version
            files, known, is_unknown = self._versions.get(key, (0, 0, False))
            has_unknown = any(reason.startswith("unknown records") for reason in tally.passed)
            self._versions[key] = files + 1, known + turns, is_unknown or has_unknown

    def rows(self) -> list[Found]:
        """Return the rows with turns, an agent's together, the most turns first."""
        rows = (row for row in self._rows.values() if row.turns)
        return sorted(rows, key=lambda row: (row.agent, -row.turns, row.folder))

    def problems(self) -> list[str]:
        """Return a line for each version whose files hold no turn."""
        told = []
        for (agent, version), (files, turns, has_unknown) in sorted(self._versions.items()):
            if not turns and (files >= LEAST_FILES or has_unknown):
                source = SOURCES[agent]
                told.append(
                    f"{source.title}: {files} files, 0 turns. Version {version or 'unknown'} writes another form than"
                    f" the one that is read ({source.seen}): nothing of it was imported"
                )
        return told


class ReadSoFar(Protocol):
    """The offset of each transcript, and the sessions of records."""

    def offset(self, path: str, size: int, mtime_ns: int) -> int: ...

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]: ...

    def done(self, path: str, size: int, mtime_ns: int) -> None: ...


class ImportRecord(ReadSoFar, Protocol):
    """The progress of each transcript's import; see adapters.sqlite_files."""

    def reached(self, path: str, offset: int, records: Iterable[tuple[str, str]]) -> None: ...


@dataclass
class Batch:
    """Whole turns of one transcript.

    path: its name in the log. offset: where to continue reading. row: of the preview, which counts them.
    """

    path: str
    events: list[dict[str, Any]] = field(default_factory=list)
    records: list[tuple[str, str]] = field(default_factory=list)
    offset: int = 0
    turns: int = 0
    chars: int = 0
    row: Found = field(default_factory=Found)


class TranscriptHistory:
    """Transcripts read against the store and the import log; writes nothing."""

    def __init__(
        self, store: Store, sessions: Sessions, log: ReadSoFar, project_of: Callable[[str], str], tombstones: Tombstones
    ) -> None:
        """project_of: folder -> project id, "" for an unknown one."""
        self._store = store
        self._sessions = sessions
        self._log = log
        self._project_of = project_of
        self._tombstones = tombstones
        self.preview = Preview()
        self.left: Callable[[], Collection[str]] = tuple  # prompts that the session read last has left

    def is_compared(self, file: Transcript) -> bool:
        """True for a transcript that is compared with the store's other sessions."""
        return self._sessions.get(file.session_id) is not None

    def batches(self, file: Transcript, counts: Imported, watch: Callable[[int], None]) -> Iterator[Batch]:
        """Yield a transcript's turns new to the store, oldest first. Raises OSError.

        counts is updated with each batch. Watch is called with the byte offset now and then, and may raise. A file
        read to its end is logged as done, unless its last turn may go on.
        """
        tally = Tally(watch)
        session = self._sessions.get(file.session_id)
        folder = project.here(session.project_dir if session else "") or file.cwd
        if not folder:
            counts.skip("files without a folder of this machine")
            return
        if not project.enabled(folder):
            counts.skip("files of projects that are switched off")
            return
        start = self._log.offset(file.key, file.size, file.mtime_ns)
        if start >= file.size:
            counts.unchanged += 1
            return
        counts.files += 1
        row, turns = self.preview.row(file, folder), 0
        batch = Batch(file.key, offset=start, row=row)
        heard = _Heard(self._store, session, self._project_of(folder), self._sessions.off_ms(file.session_id))
        reading = SOURCES[file.agent].read(file, start, tally)
        self.left = reading.left
        is_open = not session.ended if session else time.time() - file.mtime_ns / 1e9 < GOING_ON_S
        left: list[TranscriptRecord] = []
        for turn in _whole_turns(reading.records, left if is_open else None):
            turns += 1
            self._add(batch, turn, file, folder, heard, counts)
            if len(batch.events) >= BATCH_EVENTS or batch.chars >= BATCH_CHARS:
                yield self._checked(batch, counts)
                batch = Batch(file.key, offset=batch.offset, row=row)
        if batch.events:
            yield self._checked(batch, counts)
        if left:
            tally.passes(GOING_ON)
        else:
            self._log.done(file.key, file.size, file.mtime_ns)
        self.preview.read(file, tally, turns + bool(left), is_whole=not start)
        counts.lines += tally.lines
        for reason, number in tally.passed.items():
            counts.skip(reason, number)

    def _add(
        self,
        batch: Batch,
        turn: list[TranscriptRecord],
        file: Transcript,
        folder: str,
        heard: "_Heard",
        counts: Imported,
    ) -> None:
        batch.offset = max(batch.offset, turn[0].resume_offset) if SOURCES[file.agent].goes_on else 0
        kept = False
        for record in turn:
            session_id = record.session_id or file.session_id
            if 0 < heard.off_ms <= record.at_ms:
                counts.skip(OFF)
                continue
            if heard.elsewhere(record):
                counts.skip(COPIES)
                continue
            event = captured(record, session_id=session_id, project_dir=folder, path=file.path, source=SOURCE)
            if event is None:
                counts.skip("empty")
                continue
            kept = True
            batch.events.append(event)
            batch.records.append((record.uuid, session_id))
            batch.chars += len(event["text"])
            self.preview.hear(batch.row, session_id, record.at_ms)
        batch.turns += kept

    def _checked(self, batch: Batch, counts: Imported) -> Batch:
        """Return the batch without events known to the store or another session."""
        copies = self._log.copies(batch.records)
        also = {str(event["id"]): id_without_prompt_id(event) for event in batch.events}
        known = events_by_id(self._store, (*also, *also.values()))
        project_of = lambda event: self._project_of(event["project_dir"])  # noqa: E731
        standing = {id(event) for event in self._tombstones.not_forgotten(batch.events, project_of, is_history=True)}
        fresh = {}
        had: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for event in batch.events:
            if event["uuid"] in copies:
                counts.skip(COPIES)
            elif id(event) not in standing or also[event["id"]] in self._tombstones:
                counts.skip("forgotten prompts, answers and calls")
            elif event["id"] in known or also[event["id"]] in known:
                counts.known += 1
                had.setdefault((event["session_id"], event["prompt_id"]), []).append(event)
            else:
                fresh[str(event["id"])] = event
        counts.new += len(fresh)
        begun = {(event["session_id"], event["prompt_id"]) for event in fresh.values()}
        counts.new_turns += len(begun)
        batch.row.new_turns += len(begun)
        batch.row.turns += batch.turns
        counts.known_turns += len(had.keys() - begun)
        counts.turns += batch.turns
        batch.records = [record for record in batch.records if record[0] not in copies]
        cut_off = [event for turn in self._without_memory(had) for event in had[turn] if event["id"] in known]
        batch.events = [*fresh.values(), *cut_off]
        return batch

    def _without_memory(self, turns: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the turns whose memory a killed import has not come to."""
        by_id = {turn_memory_id(*turn): turn for turn in turns}
        made = memories_by_id(self._store, by_id)
        return [turn for key, turn in by_id.items() if key not in made and key not in self._tombstones]


class _Heard:
    """A session's records from before its hooks: copies, or its past."""

    def __init__(self, store: Store, session: Session | None, project_id: str, off_ms: int) -> None:
        self.off_ms = off_ms
        self._store = store
        self._session = session
        self._project_id = project_id
        self._said: set[str] | None = None

    def elsewhere(self, record: TranscriptRecord) -> bool:
        """True for a fork's copy of another session's text."""
        session = self._session
        if session is None or not self._project_id or record.at_ms >= session.since_ms:
            return False
        if self._said is None:
            others = said_elsewhere(self._store, self._project_id, session.id)
            self._said = {event.text.strip() for event in others}
        with Heard(session.id):
            return clean(record.text).strip() in self._said


class Gathered:
    """An import log, with batches that are stored at once.

    A write of the store costs more than its rows. What the batches have reached is logged after they are stored, so
    that a killed import reads them again.
    """

    def __init__(self, log: ImportRecord, take: Callable[[list[dict[str, Any]]], object] | None) -> None:
        """take: stores events on disk. None: a rehearsal, nothing is kept."""
        self._log, self._take = log, take
        self._events: dict[str, dict[str, Any]] = {}
        self._logged: list[Callable[[], None]] = []
        self._seen: dict[str, str] = {}
        self._chars = 0

    def offset(self, path: str, size: int, mtime_ns: int) -> int:
        return self._log.offset(path, size, mtime_ns)

    def copies(self, records: Iterable[tuple[str, str]]) -> set[str]:
        known = list(records)
        here = {uuid for uuid, session in known if self._seen.get(uuid, session) != session}
        return here | self._log.copies(known)

    def add(self, batch: Batch) -> None:
        """Gather a batch, and store all when it is enough."""
        for uuid, session in batch.records:
            if uuid:
                self._seen.setdefault(uuid, session)
        if self._take is not None:
            for event in batch.events:
                self._events.setdefault(str(event["id"]), event)
            self._chars += batch.chars
            self._logged.append(lambda: self._log.reached(batch.path, batch.offset, batch.records))
        if len(self._events) >= GATHERED_EVENTS or self._chars >= GATHERED_CHARS:
            self.flush()

    def done(self, path: str, size: int, mtime_ns: int) -> None:
        if self._take is not None:
            self._logged.append(lambda: self._log.done(path, size, mtime_ns))

    def flush(self) -> None:
        """Store what has been gathered, then log it."""
        if self._take is None:
            return
        if self._events:
            self._take(list(self._events.values()))
        for log in self._logged:
            log()
        self._events, self._logged, self._chars = {}, [], 0
        self._seen.clear()


def _whole_turns(
    records: Iterable[TranscriptRecord], left: list[TranscriptRecord] | None
) -> Iterator[list[TranscriptRecord]]:
    """Yield the records of each turn together.

    left: gets the last turn, which may go on. None: it has ended, and is yielded.

    Newer hosts give every prompt that a fork has copied the prompt id of the first new one. A turn whose id comes again
    with another prompt is such a copy, and gets an id of its own.
    """
    turn: list[TranscriptRecord] = []
    for record in records:
        if record.kind not in ("user", "tool", "assistant"):
            continue
        if turn and record.resume_offset != turn[0].resume_offset:
            if turn[0].prompt_id == record.prompt_id:
                turn = [_renamed(earlier, turn[0]) for earlier in turn]
            yield turn
            turn = []
        turn.append(record)
    if left is not None:
        left += turn
    elif turn:
        yield turn


def _renamed(record: TranscriptRecord, first: TranscriptRecord) -> TranscriptRecord:
    return record._replace(prompt_id=first.uuid) if record.prompt_id == first.prompt_id else record
