"""A project's pages: its core memories, and each day's entries."""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Iterable, Mapping

from memlayer.kinds import Category, Kind
from memlayer.memory_files.book import CORE_PAGE
from memlayer.memory_files.markdown import Line, by_kind, heading_of, normalized, render, with_headline
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store, notes_in_force

DAILY_FOLDER = "memory"
EVERYTHING = 10_000_000
RECENT = 300  # newest memories. Enough for the pages that a few turns can change
_DAY_PAGE = re.compile(DAILY_FOLDER + r"/(\d{4}-\d\d-\d\d)\.md$")


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
