"""Cut a Markdown document into redacted pieces with line numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

from memlayer.edge.capture.payload import clean
from memlayer.text.chunking import chunk

HEADING_CHARS = 80
HEADING_TOKENS = 32
_HEADING = re.compile(r"^#{1,6}[ \t]+\S.*$", re.MULTILINE)


class Piece(NamedTuple):
    """A part of a document.

    start_line, end_line: of the file, from 1, both included. text: redacted. It begins with the heading that it stands
    under, where it does not itself begin with a heading.
    """

    start_line: int
    end_line: int
    text: str


def pieces_of(text: str, *, max_tokens: int = 400, overlap_tokens: int = 80) -> list[Piece]:
    """Cut a document (newlines only) into pieces, in order, none empty."""
    redacted = clean(text)
    lines = _lines_of(text, redacted)
    headings = list(_HEADING.finditer(redacted))
    out = []
    for span in chunk(redacted, max_tokens=max_tokens - HEADING_TOKENS, overlap_tokens=overlap_tokens):
        part = redacted[span.start : span.end]
        body = part.strip()
        if not body:
            continue
        start = span.start + part.index(body[0])
        first, last = redacted.count("\n", 0, start), redacted.count("\n", 0, start + len(body))
        above = [heading.group().strip() for heading in headings if heading.start() < start]
        if above and not _HEADING.match(body):
            body = above[-1][:HEADING_CHARS].rstrip() + "\n" + body
        out.append(Piece(lines[first] + 1, lines[last] + 1, body))
    return out


def _lines_of(text: str, redacted: str) -> list[int]:
    """Map redacted lines to file's, from 0: secrets may span several."""
    old, new = text.split("\n"), redacted.split("\n")
    if len(old) == len(new):
        return list(range(len(new)))
    out = []
    at = 0
    for line in new:
        place = at
        while place < len(old) and old[place] != line:
            place += 1
        if place < len(old):
            at = place
        out.append(min(at, len(old) - 1))
        at += 1
    return out
