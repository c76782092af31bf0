"""Lines of memories in MEMORY.md, day pages and extra Markdown."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from memlayer.kinds import Category, Kind
from memlayer.memory_files.extra_files import ExtraFiles
from memlayer.memory_files.folders import open_folder, place_of
from memlayer.memory_files.pages import CORE_PAGE, local_day, page_of_day
from memlayer.memory_files.sync import MemoryFiles
from memlayer.model import Memory

# At the left margin, which no text of a memory reaches: its further lines are indented.
_ENTRY = re.compile(r"[-*+] (?:\[[ xX]\] )?\\?\[mem:([0-9A-Za-z]{1,40})\\?\]")
_PIECE = re.compile(r":(\d+)-(\d+)$")


class Lines(NamedTuple):
    """Lines of a file from 1, inclusive; empty for no file."""

    path: str = ""
    start_line: int = 0
    end_line: int = 0


class FileLines:
    """A lookup for one request, which reads each file once."""

    def __init__(self, files: MemoryFiles, extra: ExtraFiles) -> None:
        self._files = files
        self._extra = extra
        self._pages: dict[tuple[str, str], tuple[str, dict[str, tuple[int, int]]]] = {}

    def of(self, memory: Memory) -> Lines:
        """Return the lines that hold a memory now."""
        if memory.known_kind is Kind.PIECE:
            piece = _PIECE.search(memory.place)
            path = self._extra.path_of(memory.session_id)
            return Lines(path, int(piece.group(1)), int(piece.group(2))) if path and piece else Lines()
        if memory.category == Category.CONVERSATION or memory.superseded_by:
            return Lines()
        name = CORE_PAGE if memory.category == Category.CORE else page_of_day(local_day(memory.at_ms))
        path, by_citation = self._page(memory.project_id, name)
        return Lines(path, *by_citation[memory.citation]) if memory.citation in by_citation else Lines()

    def _page(self, project_id: str, name: str) -> tuple[str, dict[str, tuple[int, int]]]:
        """Return (page path, citation -> lines); ("", {}) for no page."""
        if (project_id, name) not in self._pages:
            self._pages[project_id, name] = self._read(project_id, name)
        return self._pages[project_id, name]

    def _read(self, project_id: str, name: str) -> tuple[str, dict[str, tuple[int, int]]]:
        place = place_of(self._files.home, self._files.projects, project_id, self._files.rules)
        if place is None or not self._files.rules.enabled:
            return "", {}
        *below, file = name.split("/")
        try:
            with open_folder(place.anchor, (*place.parts, *below), make=False) as folder:
                raw = folder.read(file) or b""
        except OSError:
            return "", {}
        return os.path.join(place.path, name), entries_in(raw.decode("utf-8", "replace"))


def entries_in(text: str) -> dict[str, tuple[int, int]]:
    """Return citation -> first and last line of its first entry."""
    by_citation: dict[str, tuple[int, int]] = {}
    citation = ""
    for number, line in enumerate(text.splitlines(), 1):
        entry = _ENTRY.match(line)
        if entry is not None:
            citation = entry.group(1) if entry.group(1) not in by_citation else ""
        elif line[:1] not in ("", " ", "\t"):
            citation = ""  # a heading, a comment, or a line of the user's
        if citation and line.strip():
            by_citation[citation] = (by_citation.get(citation, (number, 0))[0], number)
    return by_citation
