"""A project's pages: its core memories, and each day's entries."""

import contextlib
import datetime
import logging
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memlayer.edge.home import paths
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import UserError
from memlayer.kinds import Category, Kind
from memlayer.memory_files.folders import AnchoredFolder, FilePlace, NoPlainFile, Stamp, open_folder
from memlayer.memory_files.markdown import Line, by_kind, heading_of, normalized, render, with_headline
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store, notes_in_force
from memlayer.records import small_files

log = logging.getLogger(__name__)
STATE = "place.json"
MAX_REMOVED = 500
CORE_PAGE = "MEMORY.md"
DAILY_FOLDER = "memory"
EVERYTHING = 10_000_000
RECENT = 300  # newest memories. Enough for the pages that a few turns can change
_DAY_PAGE = re.compile(DAILY_FOLDER + r"/(\d{4}-\d\d-\d\d)\.md$")


@dataclass
class Left:
    """A project's files as memlayer left them.

    files: name (`MEMORY.md`, `memory/2026-11-19.md`) -> digest of the bytes last read or written. path: their folder.
    accepted: a folder in the work tree whose files the person takes in. removed: ids of memories that a person deleted
    in a file -> the state that this began from, for an undo. notices: name -> a message for the person.
    """

    path: str = ""
    accepted: str = ""
    files: dict[str, str] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    notices: dict[str, str] = field(default_factory=dict)


class Book(Left):
    """A project's file state, stored on disk, with the last sync's findings."""

    def __init__(self, home: str, project_id: str) -> None:
        """Read the state. Raises UserError for an unsafe id."""
        if not is_path_part(project_id):
            raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
        self.id = project_id
        self._folder = os.path.join(paths.cache(home), "files", project_id)
        super().__init__(**vars(small_files.read(os.path.join(self._folder, STATE), Left) or Left()))
        self._saved = Left()
        self.place: FilePlace | None = None
        self.is_behind = False
        self.stamps: dict[str, Stamp] = {}
        self.skipped: dict[str, str] = {}  # name -> why it was neither read nor written
        self._logged: set[tuple[str, str]] = set()

    def save(self) -> None:
        """Write the state if it changed. Raises OSError."""
        removed = dict(list(self.removed.items())[-MAX_REMOVED:])
        left = Left(self.path, self.accepted, dict(self.files), removed, dict(self.notices))
        if left != self._saved:
            small_files.write(os.path.join(self._folder, STATE), left)
            self._saved = left

    def drop(self, name: str) -> None:
        """Forget a file."""
        for known in (self.files, self.notices, self.stamps):
            known.pop(name, None)

    def skip(self, name: str, why: str, stamp: Stamp | None = None, *, to_log: bool = True) -> None:
        """Note a skipped file, whose change since this stamp is looked for."""
        self.skipped = {**self.skipped, name: why}
        if stamp is not None:
            self.stamps[name] = stamp
        if to_log and (name, why) not in self._logged:
            self._logged.add((name, why))
            log.warning("memory file %s: %s", name, why)

    def lines(self, problems: dict[str, str]) -> list[str]:
        """Return problems of files as lines."""
        return ["%s: %s" % (os.path.join(self.path, name), problems[name]) for name in sorted(problems)]

    @contextlib.contextmanager
    def opened(self, place: FilePlace, name: str, *, make: bool = False) -> Iterator[tuple[AnchoredFolder | None, str]]:
        """Open a file's folder: (None if unavailable, its name there)."""
        below, _, file = name.rpartition("/")
        with contextlib.ExitStack() as stack:
            folder = None
            try:
                folder = stack.enter_context(open_folder(place.anchor, (*place.parts, *below.split()), make=make))
            except NoPlainFile as bad:
                self.skip(below or CORE_PAGE, "left alone: %s" % bad.strerror)
            except FileNotFoundError:
                pass
            yield folder, file


def day_of(name: str) -> str:
    """Return the day (2026-11-19) of a page; "" for any other file."""
    match = _DAY_PAGE.match(name)
    if match is None:
        return ""
    try:
        datetime.date.fromisoformat(match.group(1))
    except ValueError:
        return ""
    return match.group(1)


def page_of_day(day: str) -> str:
    """Return the name of a day's page."""
    return "%s/%s.md" % (DAILY_FOLDER, day)


def noon_ms(day: str) -> int:
    """Return the Unix time in ms of a day's local noon."""
    return int(time.mktime((*map(int, day.split("-")), 12, 0, 0, 0, 0, -1)) * 1000)  # type: ignore[arg-type]


def local_day(at_ms: int) -> str:
    """Return the local day of a moment."""
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def current(store: Store, project_id: str, name: str) -> list[Memory]:
    """Return the memories of a page, in its order."""
    if name == CORE_PAGE:
        memories = notes_in_force(store, project_id, EVERYTHING)
        return sorted(memories, key=lambda memory: (not memory.pinned, -memory.at_ms, memory.id))
    return [memory for memory in _daily(store, project_id, EVERYTHING) if local_day(memory.at_ms) == day_of(name)]


def pages(
    store: Store, project_id: str, project_name: str, notices: Mapping[str, str], *, recent: bool = False
) -> dict[str, bytes]:
    """Return page -> content, empty without memories.

    notices: page -> a line for the person. recent: only pages with the newest memories.
    """
    core = current(store, project_id, CORE_PAGE)
    kinds = by_kind(memory.kind or Kind.NOTE for memory in core)
    sections = [(heading_of(kind), [memory for memory in core if (memory.kind or Kind.NOTE) == kind]) for kind in kinds]
    out = {CORE_PAGE: _page("Memory of " + project_name, sections, "%Y-%m-%d", notices.get(CORE_PAGE, ""))}
    limit = RECENT if recent else EVERYTHING
    daily = _daily(store, project_id, limit)
    days: dict[str, list[Memory]] = {}
    for memory in daily:
        days.setdefault(local_day(memory.at_ms), []).append(memory)
    if recent and len(daily) >= limit:
        del days[min(days)]  # it may go on beyond the limit
    for day, memories in days.items():
        name = page_of_day(day)
        out[name] = _page("%s, %s" % (day, project_name), [("", memories)], "%H:%M", notices.get(name, ""))
    return out


def _daily(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return daily entries and a user's own notes, oldest first."""
    memories = store.memories(MemoryQuery(project_id=project_id, category=Category.DAILY, is_current=True, limit=limit))
    memories += store.memories(
        MemoryQuery(project_id=project_id, category=Category.CUSTOM, kind=Kind.NOTE, is_current=True, limit=limit)
    )
    memories = [memory for memory in memories if memory.known_kind is not Kind.OUTCOME]
    memories.sort(key=lambda memory: (memory.at_ms, memory.id), reverse=True)
    return memories[:limit][::-1]


def _page(title: str, sections: Iterable[tuple[str, list[Memory]]], stamp: str, notice: str) -> bytes:
    lines = [
        (heading, [_line(memory, stamp) for memory in memories if normalized(memory.text)])
        for heading, memories in sections
    ]
    filled = [(heading, below) for heading, below in lines if below]
    return render(title, filled, notice).encode("utf-8", "replace") if filled else b""


def told(memory: Memory) -> str:
    """Return a memory's text with its headline, as its bullet has both."""
    return with_headline(memory.text, memory.headline, memory.subject)


def _line(memory: Memory, stamp: str) -> Line:
    at = time.strftime(stamp, time.localtime(memory.at_ms / 1000))
    return Line(memory.citation, at, told(memory), memory.pinned)
