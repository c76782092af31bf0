"""Lines of memories in MEMORY.md, day pages and extra Markdown."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from memlayer.kinds import Category, Kind
from memlayer.memory_files.book import CORE_PAGE
from memlayer.memory_files.extra_files import ExtraFiles
from memlayer.memory_files.markdown import parse
from memlayer.memory_files.pages import local_day, page_of_day
from memlayer.memory_files.sync import MemoryFiles
from memlayer.model import Memory

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
        self._pages: dict[tuple[str, str], dict[str, tuple[int, int]]] = {}

    def of(self, memory: Memory) -> Lines:
        """Return the lines that hold a memory now."""
        if memory.known_kind is Kind.PIECE:
            piece = _PIECE.search(memory.place)
            path = self._extra.path_of(memory.session_id)
            return Lines(path, int(piece.group(1)), int(piece.group(2))) if path and piece else Lines()
        if memory.category == Category.CONVERSATION or not memory.holds:
            return Lines()
        name = CORE_PAGE if memory.category == Category.CORE else page_of_day(local_day(memory.at_ms))
        page = memory.project_id, name
        if page not in self._pages:
            self._pages[page] = lines_in(self._files.read(*page))
        lines = self._pages[page].get(memory.citation)
        return Lines(os.path.join(self._files.folder(memory.project_id), name), *lines) if lines else Lines()


def lines_in(raw: bytes) -> dict[str, tuple[int, int]]:
    """Return citation -> first and last line of its first bullet."""
    page = parse(raw)
    cited = [(item.citation, lines) for item, lines in zip(page.items, page.lines, strict=True) if item.citation]
    return dict(reversed(cited))
