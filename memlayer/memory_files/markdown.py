"""Memories as Markdown and back.

A memory is one bullet, `- [mem:a7Bc3x] 2026-11-19: text`. Its further lines are indented by two blanks, and the last of
them may be its headline, `- headline (Subject): ...`. All after the colon is data: citations, comments, headings and
bullets in it have no meaning. The last line marks the file as whole. The line above it lists the citations that were
written, each with a digest of its words: a file tells itself the state that an edit of it began from.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from memlayer.edge.redaction.privacy import plain
from memlayer.kinds import KINDS, Kind

_SIGN = re.compile(r"\\([!-/:-@\[-`{-~])|`+")
_TICKS = re.compile(r"`+")

# A further backtick on the line makes it a code span, as a sentence may begin with.
FENCE = re.compile(r"(`{3,}(?=[^`]*$)|~{3,})")
_ALONE = re.compile(r"(?:`{3,}|~{3,})[ \t]*[^\s`~]*[ \t]*$")

# The order is that of the sections in the file.
HEADINGS: dict[str, str] = {kind: row.heading for kind, row in KINDS.items() if row.heading}
_KINDS: dict[str, str] = {heading.casefold(): kind for kind, heading in HEADINGS.items()}
_KINDS |= {kind: kind for kind in HEADINGS} | {word: kind for kind, row in KINDS.items() for word in row.korean}
_KINDS |= {"causes": Kind.CAUSE}
MAX_FILE_BYTES = 8_000_000
HEAD = (
    "<!-- memlayer keeps this file and reads your changes back: change a line, delete one, or add one under a heading; "
    "what you delete is recalled no more. Secrets are taken out. -->"
)
END = "<!-- memlayer: end of file; keep this line -->"
WRITTEN = "<!-- memlayer: as written, keep this line:%s -->"
DIGEST_CHARS = 8
_WRITTEN = re.compile(WRITTEN % r"([^<>]*)")
_ENTRY = re.compile(r"([0-9A-Za-z]{1,40}):([0-9a-f]{%d})(\*?)" % DIGEST_CHARS)
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|$)")
# Some editors put a box before it, or a backslash before each bracket.
_STAMP = r"\d{4}-\d\d-\d\d|\d\d:\d\d"
_CITED = re.compile(
    r"(?:\[[ xX]\] )?(?P<escape>\\?)\[mem:(?P<citation>[0-9A-Za-z]{1,40})\\?\]"
    r"(?: ?(?P<stamp>%s))?(?P<pinned> pinned)?(?::|$)? ?(?P<text>.*)" % _STAMP
)
# The rest that a person left of it: the citation broken or without a bracket, or only the day.
_DAMAGED = re.compile(
    r"(?:\[[ xX]\] )?\\?(?:\[mem:[^\]\n]{0,10}\]|\[mem:[0-9A-Za-z]*|mem:[0-9A-Za-z]+\\?\])"
    r"(?: ?(?:%s))?(?: pinned)?:? ?" % _STAMP
)
_STAMPED = re.compile(r"(?:\S{1,50} )?(?:%s)(?: pinned)?: ?" % _STAMP)
_HEADLINE = re.compile(
    r"\n\s*[-*+][ \t]+headline(?:[ \t]+\((?P<subject>[^\n]*?)\))?:(?P<headline>[^\n]*)\Z", re.IGNORECASE
)
_RULE = re.compile(r"(?:[-*_=][ \t]*){3,}$")
_CONFLICT = (re.compile(r"^<{7} ", re.MULTILINE), re.compile(r"^>{7} ", re.MULTILINE))


def unescaped(text: str) -> str:
    """Undo an editor's backslash escapes. Takes time in proportion to the length."""
    last = {len(run[0]): run.start() for run in _TICKS.finditer(text)}
    out: list[str] = []
    at = 0
    while (sign := _SIGN.search(text, at)) is not None:
        out.append(text[at : sign.start()])
        at = sign.end()
        if sign[1]:
            out.append(sign[1])
            continue
        if last.get(len(sign[0]), -1) > sign.start():  # else it is never closed, and no code
            at = next(run.end() for run in _TICKS.finditer(text, at) if len(run[0]) == len(sign[0]))
        out.append(text[sign.start() : at])
    return "".join([*out, text[at:]])


class Line(NamedTuple):
    """A memory as a bullet. stamp: its day, in daily files HH:MM."""

    citation: str
    stamp: str
    text: str
    pinned: bool = False


class Item(NamedTuple):
    """A bullet or a paragraph of a file.

    kind: of its section, "" under a user's heading. citation: "" for an addition of the user. is_last: only blank lines
    follow. is_escaped: with backslashes, as some editors write possible Markdown. stamp: see Line.
    """

    kind: str
    citation: str
    text: str
    pinned: bool = False
    is_last: bool = False
    is_escaped: bool = False
    stamp: str = ""


class FileEntry(NamedTuple):
    """A memory as it was written. digest: of its words."""

    citation: str
    digest: str
    pinned: bool = False


class Parsed(NamedTuple):
    """A file read back.

    written: the entries that the edit began from, None when the file does not tell them. is_whole: its last line is
    present. problem: why it cannot be read, or "". lines: of each item the first and the last, from 1.
    """

    written: tuple[FileEntry, ...] | None
    is_whole: bool
    items: tuple[Item, ...]
    problem: str = ""
    lines: tuple[tuple[int, int], ...] = ()

    @property
    def base(self) -> str:
        """The name of the state before the edit; "" when unknown."""
        return "" if self.written is None else digest(repr(self.written))


def normalized(text: str) -> str:
    """Return a memory's text as the file holds it; idempotent."""
    text = "\t".join(plain(part) for part in text.replace("\r\n", "\n").split("\t"))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def to_nfc(text: str) -> str:
    """Return the text in NFC: editors on macOS may decompose 한."""
    return unicodedata.normalize("NFC", text)


def with_headline(text: str, headline: str, subject: str) -> str:
    """Return a memory's text as its bullet has it, the headline last."""
    if not (headline or subject or _HEADLINE.search(text)):
        return text
    return "%s\n- headline%s: %s" % (text, " (%s)" % subject.replace("):", ")") if subject else "", headline)


def parted(text: str) -> tuple[str, str, str]:
    """Return the (text, headline, subject) of a bullet."""
    found = _HEADLINE.search(text)
    if found is None:
        return text, "", ""
    return normalized(text[: found.start()]), found["headline"].strip(), (found["subject"] or "").strip()


def without_stamp(text: str) -> str:
    """Return a text without the day of a damaged head."""
    return normalized(_STAMPED.sub("", text, count=1)) if _STAMPED.match(text) else text


def digest(text: str) -> str:
    """Hash a normalized text, whatever its composition."""
    return hashlib.sha256(to_nfc(normalized(text)).encode("utf-8", "replace")).hexdigest()[:DIGEST_CHARS]


def render(title: str, sections: Sequence[tuple[str, Sequence[Line]]], notice: str = "") -> str:
    """Return the file of headings with their memories.

    notice: a line for the person.
    """
    out = [HEAD, *(["<!-- memlayer, %s -->" % notice] if notice else []), ""]
    out += ["# " + normalized(title).replace("\n", " "), ""]
    for heading, below in sections:
        if heading:
            out += ["## " + heading, ""]
        for line in below:
            out += _bullet(line)
        out.append("")
    lines = [line for _, lines in sections for line in lines]
    written = [" %s:%s%s" % (line.citation, digest(line.text), "*" if line.pinned else "") for line in lines]
    return "\n".join([*out, WRITTEN % "".join(written), END, ""])


def heading_of(kind: str) -> str:
    """Return the heading of a kind of memories."""
    of_another_version = normalized(kind.replace("_", " ")).replace("\n", " ").capitalize()
    return HEADINGS.get(kind) or of_another_version or HEADINGS[Kind.NOTE]


def by_kind(kinds: Iterable[str]) -> list[str]:
    """Sort kinds in the order of their sections."""
    order = list(HEADINGS)
    return sorted(set(kinds), key=lambda kind: (order.index(kind) if kind in order else len(order) - 2, kind))


def _bullet(line: Line) -> list[str]:
    first, *rest = normalized(line.text).split("\n")
    head = "- [mem:%s] %s%s: %s" % (line.citation, line.stamp, " pinned" if line.pinned else "", first)
    return [head, *("  " + following if following else "" for following in rest)]


def plain_text(raw: bytes, max_bytes: int) -> tuple[str, str]:
    """Return (text with newlines only, "") or ("", the problem)."""
    if len(raw) > max_bytes:
        return "", "it is longer than %d bytes" % max_bytes
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return "", "it is not UTF-8 text"
    return ("", "it is not text") if "\0" in text else (text, "")


def parse(raw: bytes) -> Parsed:
    """Read a file back after any editor. Never raises on any bytes."""
    text, problem = plain_text(raw, MAX_FILE_BYTES)
    if problem:
        return Parsed(None, False, (), problem)
    if all(mark.search(text) for mark in _CONFLICT):
        return Parsed(None, False, (), "it holds an unresolved merge")
    lines = text.split("\n")
    reader, last = _Reader(lines), max((at for at, line in enumerate(lines, 1) if line.strip()), default=0)
    reader.read()
    items = reader.items
    if items and reader.places[-1][1] == last:
        items[-1] = items[-1]._replace(is_last=True)
    return Parsed(reader.written, reader.is_whole, tuple(items), lines=tuple(reader.places))


def _is_cited(line: str) -> bool:
    """True for a memory's bullet."""
    bullet = _BULLET.match(line.lstrip())
    return bullet is not None and _CITED.match(bullet.group(1) or "") is not None


class _Reader:
    """A single pass over the lines of a file."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        # Sign -> (line, length): no fence of that length or more closes before the line. So each is searched once.
        self._no_fence: dict[str, tuple[int, int]] = {}
        self._last_end = max((at for at, line in enumerate(lines) if "-->" in line), default=-1)
        self._kind: str = Kind.NOTE
        self._heading = ""  # of a section that the user made
        self.items: list[Item] = []
        self.places: list[tuple[int, int]] = []
        self.written: tuple[FileEntry, ...] | None = None
        self.is_whole = False

    def read(self) -> None:
        lines = self._lines
        while self._at < len(lines):
            line = lines[self._at]
            if line.rstrip() == END:
                self.is_whole = True
                self._at += 1
            elif not line.strip() or _RULE.match(line):
                self._at += 1
            elif not (self._comment() or self._section(line)):
                self._item(line)

    def _comment(self) -> bool:
        """Skip a comment at the left margin; its text is no memory."""
        if not self._lines[self._at].startswith("<!--"):
            return False
        for end in range(self._at, self._last_end + 1):
            if "-->" in self._lines[end]:
                written = _WRITTEN.match(" ".join(" ".join(self._lines[self._at : end + 1]).split()))
                if written is not None and self.written is None:
                    entries = map(_ENTRY.fullmatch, written[1].split())
                    self.written = tuple(FileEntry(one[1], one[2], bool(one[3])) for one in entries if one)
                self._at = end + 1
                return True
        if self._lines[self._at].startswith("<!-- memlayer"):  # ours, cut off
            self._at = len(self._lines)
            return True
        return False

    def _section(self, line: str) -> bool:
        match = _HEADING.match(line)
        if match is None:
            return False
        name = to_nfc(normalized(match.group(2) or ""))
        is_title = len(match.group(1)) == 1
        self._kind = Kind.NOTE if is_title else _KINDS.get(name.casefold(), "")
        self._heading = "" if self._kind else name
        self._at += 1
        return True

    def _item(self, line: str) -> None:
        start = self._at
        bullet = _BULLET.match(line.lstrip())
        if bullet is not None:
            self._at += 1
            self._add("\n".join([bullet.group(1) or "", *self._indented()]), start)
            return
        self._at = self._end_of_block(start)
        if not self._at:
            self._at = start + 1
            if _ALONE.match(line):
                return
            while self._at < len(self._lines) and self._goes_on(self._lines[self._at]):
                self._at += 1
        self._add("\n".join(self._lines[start : self._at]), start)

    def _end_of_block(self, at: int) -> int:
        """Return the line after the fenced block at `at`, 0 for none.

        None goes past a memory's bullet: a fence may be saved before it is closed.
        """
        opened = FENCE.match(self._lines[at])
        if opened is None:
            return 0
        sign, length = opened.group(1)[0], len(opened.group(1))
        until, least = self._no_fence.get(sign, (0, 0))
        if at < until and length >= least:
            return 0
        below = at + 1
        while below < len(self._lines) and self._lines[below].rstrip() != END and not _is_cited(self._lines[below]):
            line = self._lines[below].strip()
            below += 1
            if len(line) >= length and not line.strip(sign):
                return below
        self._no_fence[sign] = (below, length)
        return 0

    def _add(self, text: str, start: int) -> None:
        """Add an item of the lines from `start` on."""
        cited = _CITED.match(text)
        if cited is not None:
            body = normalized(cited["text"] + text[cited.end() :])
            flags = {"pinned": bool(cited["pinned"]), "is_escaped": bool(cited["escape"])}
            item = Item(self._kind, cited["citation"], body, **flags, stamp=cited["stamp"] or "")
        else:
            body = normalized(_DAMAGED.sub("", text, count=1) if _DAMAGED.match(text) else text)
            if not body:
                return
            item = Item(self._kind, "", "%s: %s" % (self._heading, body) if self._heading else body)
        self.items.append(item)
        self.places.append((start + 1, self._at))

    def _indented(self) -> list[str]:
        """Return the further lines of a bullet, without their indentation."""
        out: list[str] = []
        blank = 0
        while self._at + blank < len(self._lines):
            line = self._lines[self._at + blank]
            if not line.strip():
                blank += 1
                continue
            if line[0] in " \t":
                out += [""] * blank + [re.sub(r"^(?:\t| {1,2})", "", line)]
            elif blank or not self._goes_on(line):
                break
            else:
                out.append(line)
            self._at += blank + 1
            blank = 0
        return out

    def _goes_on(self, line: str) -> bool:
        """True if a line at the margin continues the paragraph above."""
        starts = (_HEADING, _BULLET, FENCE, _RULE)
        return bool(line.strip()) and not line.startswith("<!--") and not any(pattern.match(line) for pattern in starts)
