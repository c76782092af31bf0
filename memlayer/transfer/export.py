"""Export and import of all records as JSON Lines, without the index.

The first line is `{"memlayer_export": 1, …}`, the last one `{"end": {…}}` with the counts. In between each line is an
object with one key: `project`, `session`, `event`, `memory` or `usage`.
"""

import codecs
import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, NoReturn

import msgspec
from msgspec import Meta

from memlayer import __version__
from memlayer.edge.capture.payload import MAX_EVENT_CHARS, clean
from memlayer.edge.capture.spool import KINDS
from memlayer.edge.capture.tool_use import without_secret_output
from memlayer.edge.home import paths, registry
from memlayer.edge.redaction.privacy import redact
from memlayer.errors import UserError
from memlayer.keep.keep import Keep
from memlayer.kinds import Category
from memlayer.model import GLOBAL, USES, Event, Memory, Usage, citation_of
from memlayer.ports import events_by_id, memories_by_id
from memlayer.records import schema5
from memlayer.records.projects import Projects
from memlayer.records.sessions import Session, Sessions
from memlayer.turns.turn_memory import fitting
from memlayer.wire.transfer import Exported, ExportTaken

MARK = "memlayer_export"  # the first line's
END = "end"  # the last line's
SOURCES = ("hook", "transcript", "import")
MAX_NAME_CHARS = 4096  # of a session's id, a path or a key
LEFT_OUT_CHARS = 100  # the line within a shortened text that counts the missing characters
_UNPAIRED = re.compile("[\ud800-\udfff]")
LONG = ("text", "evidence")  # fields without MAX_NAME_CHARS
Named = Annotated[str, Meta(min_length=1)]
Moment = Annotated[int, Meta(ge=0)]
VERSION = 1
BATCH_LINES = 400
BATCH_BYTES = 2_000_000
MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_REASONS = 20
_HEAD_BYTES = 4096
_OF_THIS_HOME = ("born", "chosen")  # of a project: when its repository was made, and folders joined to it by hand
_NAMES: dict[type, str] = {Event: "event", Memory: "memory", Usage: "usage"}
_LISTS: dict[type, str] = {Session: "sessions", Event: "events", Memory: "memories", Usage: "usages"}


def _of(pattern: str) -> Meta:
    return Meta(pattern=r"\A(%s)\Z" % pattern)


Id = Annotated[str, _of("[0-9a-f]{32}")]


IdOrNone = Annotated[str, _of("([0-9a-f]{32})?")]


ProjectId = Annotated[str, _of("[0-9a-f]{16}")]


ProjectIdOrNone = Annotated[str, _of("([0-9a-f]{16})?")]


InScope = Annotated[str, _of("[0-9a-f]{16}|" + GLOBAL)]


ProjectKey = Annotated[str, _of("(%s)[^\0]*" % "|".join(registry.STRENGTH))]


Path = Annotated[str, _of("(/[^\0]*)?")]


class ExportedProject(NamedTuple):
    """An entry of another home's registry."""

    id: str
    entry: dict[str, Any]


Read = ExportedProject | Session | Event | Memory | Usage


class ProjectLine(msgspec.Struct):
    """A project, checked."""

    id: ProjectId
    keys: list[ProjectKey]
    name: str = ""
    root: Path = ""
    since_ms: Moment = 0


class SessionLine(Session):
    """A session, checked."""

    id: Named = ""
    project_id: ProjectIdOrNone = ""
    project_dir: Path = ""
    transcript_path: Path = ""


class EventLine(Event, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An event, checked."""

    id: Id
    kind: Annotated[str, _of("|".join(KINDS))]
    session_id: Named
    project_id: InScope
    at_ms: Moment
    source: Annotated[str, _of("|".join(SOURCES))] = "hook"


class MemoryLine(Memory, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A memory, checked."""

    id: Id
    key: Annotated[str, _of(r"[a-z]{2,20}(_\d{4}-\d\d-\d\d)?(_[0-9a-z]{1,16})+")]
    category: Annotated[str, _of("|".join(Category))]  # type: ignore[assignment]
    importance: Annotated[float, Meta(ge=0, le=1)]
    project_id: InScope
    source_ids: tuple[Id, ...]
    at_ms: Moment
    ended_ms: Moment = 0
    superseded_by: IdOrNone = ""
    level: Annotated[int, Meta(ge=0, le=9)] = 0


class UsageLine(Usage, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A use, checked."""

    id: Id
    memory_id: Id
    project_id: InScope
    how: Annotated[str, _of("|".join(USES))]
    at_ms: Moment


class OfSchema5(msgspec.Struct):
    """Further fields of a memory of schema 5."""

    settled: Annotated[str, Meta(pattern=r"\A(?!rules-)|\Arules-\d{1,6}\Z")]
    superseded_ms: Moment = 0


LINES: dict[str, type[msgspec.Struct]] = {
    "project": ProjectLine, "session": SessionLine, "event": EventLine, "memory": MemoryLine, "usage": UsageLine,
}  # fmt: skip


def read(raw: bytes) -> Read | None:
    """Return a line's record, None for first and last. Raises UserError."""
    try:
        # A folder's name need not be UTF-8. The file has it as on disk.
        line = json.loads(raw.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"), parse_constant=_refuse)
    except (ValueError, RecursionError) as bad:
        raise UserError("not JSON") from bad
    if not isinstance(line, dict):
        raise UserError("not a line of an export")
    return None if MARK in line or END in line else record_of(line)


def record_of(line: dict[str, Any], *, is_newer: bool = False) -> Read:
    """Return the record of a line's object. Raises UserError.

    is_newer: a newer memlayer may have written it, so fields that are not known are left out.
    """
    if len(line) != 1:
        raise UserError("not a line of an export")
    [(name, value)] = line.items()
    if not isinstance(value, dict) or name not in LINES:
        raise UserError("neither a project, a session, an event, a memory nor a usage")
    try:
        row = _checked(name, value, is_newer)
    except msgspec.ValidationError as bad:
        raise UserError(f"{name}: {bad}") from bad
    fields = msgspec.structs.asdict(row)
    _check_sizes(name, fields)
    if isinstance(row, ProjectLine):
        entry = {key: content for key, content in fields.items() if key in value and key != "id"}
        return ExportedProject(row.id, entry | {"keys": [_without_user(key) for key in row.keys]})
    if isinstance(row, Session):
        return Session(**fields)
    if isinstance(row, Event):
        return Event(**_storable(fields))
    if isinstance(row, Usage):
        return Usage(**_writable(fields))
    if fields["citation"] != citation_of(fields["id"]):
        raise UserError("memory.citation: it is not that of its id")
    files = tuple(redact(_UNPAIRED.sub("\ufffd", path)) for path in fields["files"])
    return Memory(**_storable(fields) | {"category": Category(fields["category"]), "files": files})


def _checked(name: str, value: dict[str, Any], is_newer: bool) -> msgspec.Struct:
    """Raises msgspec.ValidationError."""
    kind = LINES[name]

    def known(fields: dict[str, Any]) -> dict[str, Any]:
        return {key: content for key, content in fields.items() if key in kind.__struct_fields__}

    if name != "memory" or "settled" not in value:
        return msgspec.convert(known(value) if is_newer else value, kind)
    msgspec.convert(value, OfSchema5)
    msgspec.convert(known(value), kind)
    return msgspec.convert(known(schema5.upgraded(value)), kind)


def _check_sizes(name: str, fields: Mapping[str, Any]) -> None:
    """Check texts and numbers. Raises UserError."""
    for label, content in fields.items():
        for part in content if isinstance(content, (list, tuple)) else (content,):
            if isinstance(part, str) and label not in LONG and len(part) > MAX_NAME_CHARS:
                raise UserError(f"{name}.{label}: a short text is expected")
            if isinstance(part, int) and not -1 <= part < 2**53:
                raise UserError(f"{name}.{label}: a whole number is expected")


def _storable(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with texts redacted as incoming ones, valid UTF-8."""
    out = _writable(value)
    text = out["text"]
    # A text that was shortened once is a little over the limit. It is not shortened again.
    text = without_secret_output(text) if out.get("kind") == "tool" else text
    out["text"] = redact(text) if len(text) <= MAX_EVENT_CHARS + LEFT_OUT_CHARS else clean(text)
    for name in ("detail", "evidence", "error", "headline", "subject"):
        if out.get(name):
            out[name] = redact(out[name])
    if "headline" in out or "subject" in out:
        out["headline"], out["subject"] = fitting(out.get("headline", ""), out.get("subject", ""))
    return out


def _writable(value: Mapping[str, Any]) -> dict[str, Any]:
    """With texts that can be written as UTF-8."""
    return {
        name: _UNPAIRED.sub("\ufffd", content) if isinstance(content, str) else content
        for name, content in value.items()
    }


def _without_user(key: str) -> str:
    """Return a remote's key without the user and password of foreign keys."""
    kind, _, rest = key.partition(":")
    host, slash, path = rest.partition("/")
    return f"{kind}:{host.rpartition('@')[2]}{slash}{path}" if kind == "remote" else key


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


@dataclass(frozen=True)
class Exports:
    """The exports of one home, out and in."""

    keep: Keep
    projects: Projects
    sessions: Sessions

    def write(self, path: str, progress: Callable[[int, int], object]) -> Exported:
        """Write an export to `path` (0600), atomically. Raises OSError, StoreError."""
        counts = Exported(path=path)
        store = self.keep.store
        total = store.stats().events + store.stats().memories
        temporary = os.path.join(os.path.dirname(path), ".%s.%d.part" % (os.path.basename(path)[:80], os.getpid()))
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with os.fdopen(fd, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:

                def line(name: str, value: object) -> None:
                    file.write(json.dumps({name: value}, ensure_ascii=False) + "\n")

                file.write(json.dumps({MARK: VERSION, "build": __version__, "at_ms": int(time.time() * 1000)}) + "\n")
                for project_id, known in self.projects.known().items():
                    told = {name: value for name, value in known.items() if name not in _OF_THIS_HOME}
                    line("project", {"id": project_id, **told})
                    counts.projects += 1
                for session in self.sessions.all():
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
                line(END, {name: count for name, count in counts.fields().items() if name != "path"})
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            with contextlib.suppress(FileNotFoundError):  # present only after a failure
                os.unlink(temporary)
        return counts

    def file(self, path: str) -> "ExportFile":
        """Open an export to take in. Raises UserError, OSError."""
        return ExportFile(path, self)


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

    def __init__(self, path: str, own: Exports) -> None:
        """Check the first line. own: of the home that takes it in."""
        self.path = path
        self.size = os.path.getsize(path)
        self.counts = ExportTaken()
        self._keep, self._projects, self._sessions = own.keep, own.projects, own.sessions
        self._renamed: dict[str, str] = {}  # project id in the export -> in this home
        self._known_before = set(own.projects.known())
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
                    record = read(raw)
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

    def take(self, part: ExportPart) -> None:
        """Store a part, in the writer."""
        for session in part.sessions:
            self._sessions.restore(session)
        store = self._keep.store
        store.add_events(part.events)
        self._keep.write(part.memories, embed=False)
        # Of memories that were taken in before: usages come last in an export.
        known = memories_by_id(store, (usage.memory_id for usage in part.usages))
        store.put_usages([usage for usage in part.usages if usage.memory_id in known])

    def _read(self, record: Read | None, part: ExportPart, is_rehearsal: bool) -> None:
        if isinstance(record, ExportedProject):
            self._adopt(record.id, record.entry, is_rehearsal)
            self.counts.projects += 1
        elif record is not None:
            if record.project_id not in (*self._renamed, "", GLOBAL):  # its own line was left out
                self._adopt(record.project_id, {"keys": []}, is_rehearsal)
            here = self._renamed.get(record.project_id, record.project_id)
            rows: list[Any] = getattr(part, _LISTS[type(record)])
            rows.append(msgspec.structs.replace(record, project_id=here))

    def _new(self, part: ExportPart) -> ExportPart:
        """Return the part without known and forgotten records."""
        store, gone = self._keep.store, self._keep.tombstones
        known = {*events_by_id(store, (event.id for event in part.events))}
        known |= {*memories_by_id(store, (memory.id for memory in part.memories))}
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
