"""The host's own memory of a project: read beside ours, never written.

The host keeps `memory/` beside a project's transcripts, and loads the head of its `MEMORY.md` into every session.
"""

import os
from collections.abc import Iterable, Sequence

from memlayer.records.sessions import Session
from memlayer.text.terms import index_terms

FOLDER, INDEX = "memory", "MEMORY.md"
LOADED_LINES, LOADED_BYTES = 200, 25_000  # the host loads no more of it (2.1.83)
MOST_KEPT = 64  # projects in memory
SAID_SHARE = 0.8  # of a text's terms, in a line of the host's
LEAST_WORDS = 3  # a shorter text says too little to be said already
_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW

HostLines = Sequence[frozenset[str]]


def folder_of(transcript_path: str) -> str:
    """Return the host's memory folder of a transcript; "" for none."""
    return os.path.join(os.path.dirname(transcript_path), FOLDER) if transcript_path else ""


def folders(sessions: Iterable[Session]) -> dict[str, str]:
    """Return existing folder -> project id, by the transcripts of sessions."""
    owners = {folder_of(session.transcript_path): session.project_id for session in sessions if session.project_id}
    return {os.path.realpath(folder): owner for folder, owner in owners.items() if folder and os.path.isdir(folder)}


class HostMemory:
    """Loaded lines of MEMORY.md files as term sets, read when changed."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[tuple[int, int], HostLines]] = {}

    def lines_of(self, transcript_path: str) -> HostLines:
        """Return the terms of each line the host has loaded."""
        path = os.path.join(folder_of(transcript_path), INDEX) if transcript_path else ""
        try:
            info = os.stat(path)
        except OSError:
            self._kept.pop(path, None)
            return ()
        stamp = info.st_mtime_ns, info.st_size
        if path not in self._kept or self._kept[path][0] != stamp:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[path] = stamp, _lines(path)
        return self._kept[path][1]


def says(lines: HostLines, text: str) -> bool:
    """True if a single line has most terms of a text."""
    if len(text.split()) < LEAST_WORDS:
        return False
    terms = frozenset(index_terms(text).split())
    return any(len(terms & line) >= SAID_SHARE * len(terms) for line in lines)


def _lines(path: str) -> HostLines:
    try:
        fd = os.open(path, _FLAGS)
        with open(fd, "rb") as file:
            text = file.read(LOADED_BYTES).decode("utf-8", "replace")
    except OSError:
        return ()
    loaded = (line for line in text.split("\n")[:LOADED_LINES] if len(line.split()) >= LEAST_WORDS)
    return tuple(frozenset(index_terms(line).split()) for line in loaded)
