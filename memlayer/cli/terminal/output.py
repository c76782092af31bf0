"""Puts answers on stdout: wrapped and coloured for a terminal, plain lines for a pipe or a model, or JSON.

Stored text passes `line` or `plain` and is never taken for markup.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Union

from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import ELLIPSIS, cut, flatten

Part = Union[str, tuple[str, str]]  # text, or (text, rich style)

# What a terminal or a reader could stumble over; JSON keeps it, escaped.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
_NUMBER = re.compile(r"-|[0-9][0-9,.]*")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)", re.MULTILINE)
FENCED_CHARS = 600  # a block of code that is cut too soon tells nothing
USUAL_COLUMNS = 80
MAX_MS = 253_402_300_000_000
FIRST_MOMENT_MS = 10**11  # what a field in ms holds is a moment from here on (1973), a span below
MOMENTS = ("at_ms", "since_ms", "superseded_ms", "oldest_ms")  # these are, also when they are 0
# Nouns that some answers list and others count; a count stands in `counts`, or in a tally of its own.
COUNTED = (
    "memories", "events", "chunks", "sessions", "projects", "turns", "files", "lines", "rows", "entries", "versions",
    "prompts", "queries", "missing",
)  # fmt: skip
TALLIES = ("counts", "removed", "taken_back", "skipped", "by_category", "core_by_kind", "extra")
_UNITS = ("B", "kB", "MB", "GB", "TB")


def print_json(value: object) -> None:
    """As JSON, one document, in the same terms for every verb: see for_machines."""
    print(_UNSEEN.sub(_escape, json.dumps(for_machines(value), ensure_ascii=False, indent=2)))


def for_machines(value: object, name: str = "") -> object:
    """An answer in the terms of docs/cli.md: a noun names a list, how many there are stands in `counts`, and a moment
    in ms has its date beside it. name: of the field that holds the value."""
    if isinstance(value, (list, tuple)):
        return [for_machines(one, name) for one in value]
    if not isinstance(value, Mapping):
        return value
    out: dict[str, object] = {}
    counts = {}
    for key, one in value.items():
        if key in COUNTED and isinstance(one, int) and name not in TALLIES:
            counts[key] = one
            continue
        out[key] = for_machines(one, str(key))
        if key.endswith("_ms") and (key in MOMENTS or (isinstance(one, int) and one >= FIRST_MOMENT_MS)):
            out["at" if key == "at_ms" else key[:-3] + "_at"] = iso(one)
    return {**out, "counts": counts} if counts else out


def iso(at_ms: object) -> str:
    """Local time with its offset, to the second; "" for none."""
    if not isinstance(at_ms, (int, float)) or not 0 < at_ms < MAX_MS:
        return ""
    return datetime.datetime.fromtimestamp(at_ms / 1000).astimezone().isoformat(timespec="seconds")


def counted(count: object, noun: str) -> str:
    """`1 memory`, `2 memories`; anything but a number counts as 0."""
    number = count if isinstance(count, int) else 0
    plural = noun[:-1] + "ies" if noun[-2:-1] not in "aeo" and noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else plural}"


def _escape(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]


def say(*parts: Part, indent: int = 0, to_stderr: bool = False) -> None:
    """One paragraph. On a terminal it is wrapped and styled; elsewhere it is one line, however long."""
    stream = sys.stderr if to_stderr else sys.stdout
    texts = [(part, "") if isinstance(part, str) else part for part in parts]
    try:
        if not stream.isatty():
            raise ImportError
        from rich.console import Console
        from rich.padding import Padding
        from rich.text import Text
    except ImportError:  # on a terminal too, where there is no runtime: see memlayer.cli.doctor.bare
        print(" " * indent + plain("".join(text for text, _ in texts)), file=stream)
        return

    paragraph = Text()
    for text, style in texts:
        paragraph.append(plain(text), style=style or None)
    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    if console.width <= indent:  # COLUMNS=0, or a terminal that does not tell: nothing would fit
        console.width = USUAL_COLUMNS
    console.print(Padding(paragraph, (0, 0, 0, indent)))


def pairs(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """A heading and `name  value` lines, aligned. Empty values are left out; no rows, no heading."""
    kept = [(name, value) for name, value in rows if value]
    if not kept:
        return
    width = max(len(name) for name, _ in kept)
    say((title, "bold"))
    for name, value in kept:
        say((f"{name:<{width}}  ", "cyan"), value, indent=2)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns under a head; a column of numbers is aligned to the right. Nothing without rows."""
    from rich.cells import cell_len, set_cell_size  # Hangul takes two places

    kept = [[line(cell) for cell in row] for row in rows]
    if not kept:
        return
    widths = [max(cell_len(row[at]) for row in [list(head), *kept]) for at in range(len(head))]
    is_number = [all(_NUMBER.fullmatch(row[at]) for row in kept) for at in range(len(head))]
    for place, row in enumerate([list(head), *kept]):
        cells = [
            " " * (width - cell_len(cell)) + cell if right else set_cell_size(cell, width)
            for cell, width, right in zip(row, widths, is_number, strict=True)
        ]
        say(("  ".join(cells).rstrip(), "bold" if not place else ""))


def line(text: object, max_chars: int = 100_000) -> str:
    """Stored text on one line, cut at max_chars, with nothing that could pose as a citation or a block."""
    return cut(flatten("" if text is None else str(text)), max_chars)


def say_body(text: object, max_chars: int, indent: int = 2) -> None:
    """A memory's text below its title: on one line, but a text with a code block keeps its lines."""
    whole = plain("" if text is None else str(text))
    if not _FENCE.search(whole):
        say(line(whole, max_chars), indent=indent)
        return
    for row in fenced_rows(whole, max(max_chars, FENCED_CHARS)):
        say(row, indent=indent)


def fenced_rows(text: str, max_chars: int) -> list[str]:
    """The lines of a text with code blocks, harmless each; cut at a line, with the block closed that is open there."""
    rows: list[str] = []
    left, fence = max_chars, ""
    for row in text.strip().split("\n"):
        row = row.rstrip()
        safe = row[: len(row) - len(row.lstrip())] + flatten(row)
        left -= len(safe) + 1
        if left < 0:
            return [*rows, *([fence] if fence else []), ELLIPSIS]
        rows.append(safe)
        mark = _FENCE.match(row)
        if mark:
            fence = "" if fence else mark.group(1)
    return rows


def when(at_ms: object) -> str:
    """Local time to the minute; "" for none."""
    if not isinstance(at_ms, (int, float)) or not 0 < at_ms < MAX_MS:
        return ""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_ms / 1000))


def size(count: object) -> str:
    """Bytes as people read them."""
    if not isinstance(count, (int, float)):
        return ""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if amount >= 10 or not unit else f"{amount:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """A span of time, in its largest unit."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def number(value: object, digits: int = 2) -> str:
    """A score; "-" when there is none."""
    return f"{value:.{digits}f}" if isinstance(value, (int, float)) else "-"


def short_path(path: str) -> str:
    """A path with `~` for the person's folder."""
    person = os.path.expanduser("~")
    return "~" + path[len(person) :] if path.startswith(person + os.sep) else path


def memory_title(memory: Mapping[str, object]) -> list[Part]:
    """key, citation, when, project and session of a memory or hit: the line above its text."""
    parts: list[Part] = [
        (line(memory.get("key")), "bold"),
        " ",
        (f"[mem:{line(memory.get('citation'))}]", "cyan"),
    ]
    session = line(memory.get("session_id"))
    if session.startswith("file_"):  # no session: the piece comes from a file, which is named elsewhere
        session = ""
    project = line(memory.get("project")) or line(memory.get("project_id"))
    for text in (when(memory.get("at_ms")), project, f"session {session[:8]}" if session else ""):
        if text:
            parts += ["  ", (text, "dim")]
    return parts
