"""The pages of a project: core memories, and one a day."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from memlayer.memory_files.markdown import NOTE, Line, by_kind, digest, heading_of, normalized, render
from memlayer.memory_files.merge import Entry
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store

CORE_PAGE = "MEMORY.md"
DAILY_FOLDER = "memory"
EVERYTHING = 10_000_000
RECENT = 300  # newest memories; enough for the pages that a few turns can change
_DAY_PAGE = re.compile(DAILY_FOLDER + r"/(\d{4}-\d\d-\d\d)\.md$")


@dataclass(frozen=True)
class Page:
    """One file.

    data: empty for a page without memories. revision: as the file names it.
    """

    name: str
    data: bytes
    revision: str
    entries: tuple[Entry, ...]


def day_of(name: str) -> str:
    """Return the day (2026-11-19) of a page; "" for any other file."""
    found = _DAY_PAGE.match(name)
    if found is None:
        return ""
    try:
        datetime.date.fromisoformat(found.group(1))
    except ValueError:
        return ""
    return found.group(1)


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
        found = store.memories(MemoryQuery(project_id=project_id, category="core", is_current=True, limit=EVERYTHING))
        return sorted(found, key=lambda one: (not one.pinned, -one.at_ms, one.id))
    return [one for one in _daily(store, project_id, EVERYTHING) if local_day(one.at_ms) == day_of(name)]


def pages(store: Store, project_id: str, project_name: str, *, recent: bool = False) -> dict[str, Page]:
    """Return pages by name. recent: only those with the newest memories."""
    core = current(store, project_id, CORE_PAGE)
    kinds = by_kind(one.kind or NOTE for one in core)
    sections = [(heading_of(kind), [one for one in core if (one.kind or NOTE) == kind]) for kind in kinds]
    out = {CORE_PAGE: _page(CORE_PAGE, "Memory of " + project_name, sections)}
    limit = RECENT if recent else EVERYTHING
    daily = _daily(store, project_id, limit)
    days: dict[str, list[Memory]] = {}
    for one in daily:
        days.setdefault(local_day(one.at_ms), []).append(one)
    if recent and len(daily) >= limit:
        del days[min(days)]  # it may go on beyond the limit
    for day, held in days.items():
        out[page_of_day(day)] = _page(page_of_day(day), "%s, %s" % (day, project_name), [("", held)])
    return out


def _daily(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return daily entries and a user's own notes, oldest first."""
    found = store.memories(MemoryQuery(project_id=project_id, category="daily", is_current=True, limit=limit))
    found += store.memories(
        MemoryQuery(project_id=project_id, category="custom", kind=NOTE, is_current=True, limit=limit)
    )
    found.sort(key=lambda one: (one.at_ms, one.id), reverse=True)
    return found[:limit][::-1]


def _page(name: str, title: str, sections: Iterable[tuple[str, list[Memory]]]) -> Page:
    filled = [(heading, [one for one in held if normalized(one.text)]) for heading, held in sections]
    is_day = name != CORE_PAGE
    lines = [(heading, [_line(memory, is_day) for memory in held]) for heading, held in filled if held]
    text, revision = render(title, lines) if lines else ("", "")
    entries = tuple(entry_of(memory) for _, held in filled for memory in held)
    return Page(name, text.encode("utf-8", "replace"), revision, entries)


def entry_of(memory: Memory) -> Entry:
    """Return a memory as a page's present revision holds it."""
    return Entry(memory.id, memory.citation, digest(memory.text), memory.pinned)


def _line(memory: Memory, is_day: bool) -> Line:
    at = time.localtime(memory.at_ms / 1000)
    return Line(memory.citation, time.strftime("%H:%M" if is_day else "%Y-%m-%d", at), memory.text, memory.pinned)
