"""Output on a terminal, in a pipe, or as JSON.

It is wrapped and coloured on a terminal, plain lines in a pipe. Stored text passes `line` or `plain` and is never taken
for markup.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any, TextIO, Union

from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.capture.hosts import named
from memlayer.edge.capture.spool import VERB_OF
from memlayer.edge.counting import size
from memlayer.edge.home import agents
from memlayer.edge.home.session_ids import FILE_SESSION, TEAM_SESSION, short_session
from memlayer.edge.redaction.privacy import plain
from memlayer.text.context_block import ELLIPSIS, cut, flatten

if TYPE_CHECKING:
    from rich.console import Console

    from memlayer.wire.memories import MemoryRow

Part = Union[str, tuple[str, str]]  # text, or (text, rich style)

# Invisible or reordering characters. Removed from text, kept in JSON as escapes.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u034f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e01ef]"
)
_CITED = re.compile(r"\s*\[mem:[^\]\s]{1,40}\]")  # in a text. A citation of the text itself stands beside it
_NUMBER = re.compile(r"-|[0-9][0-9,.]*")
_FENCE = re.compile(r"^[ \t]*(```+|~~~+)", re.MULTILINE)
FENCED_CHARS = 600  # a block of code that is cut too soon is useless
USUAL_COLUMNS = 80
MAX_MS = 253_402_300_000_000
IN_BYTES = ("import",)  # phases that count bytes
# Verb -> slash command that does it.
SLASHES = {
    **{verb: name for name, verb in VERB_OF.items()},
    "given": "memory-given",
    "stats": "memory-stats",
    "doctor": "memory-doctor",
}
# Slash command's verb -> the first words that it takes, with their options. Others take no option.
SLASH_WORDS = {
    "notes": ("on", "off", "status", "refused"),
    "team": ("status", "setup", "accept", "promote", "sync", "leave"),
    "view": (),
}
_NAMED = re.compile("`memlayer ([^`]+)`")


def print_json(value: object) -> None:
    """Print one JSON document; a message has the daemon's own names."""
    print(_UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, indent=2, default=lambda one: one.fields())))


def print_json_line(value: dict[str, object]) -> None:
    """Print an object as one line of JSON, at once."""
    print(_UNSEEN.sub(_escape, json.dumps(value, ensure_ascii=False, default=str)), flush=True)


def sent_line(sends: Iterable[str] | None) -> str:
    """Return the line on data that leave; "" if unknown."""
    told = "; ".join(line(row, 200) for row in sends or ())
    return "" if sends is None else told or "nothing: notes go where Claude Code sends your prompts"


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


def here(message: str) -> str:
    """Return our message with its verbs as typed here.

    In the host they are slash commands, in an agent's shell the plugin's program by its path, unless the person has it
    on the PATH.
    """
    return _NAMED.sub(lambda found: f"`{_typed(found[1])}`", message) if agents.mark_in(os.environ) else message


def for_terminal(message: str) -> str:
    """Return our message with its verbs as a terminal finds them."""
    return _NAMED.sub(lambda found: f"`{in_shell(found[1])}`", message)


def _typed(verb: str) -> str:
    for name, command in SLASHES.items() if agents.CLAUDE_CODE in os.environ else ():
        rest = verb.removeprefix(name)
        first, taken = rest.split()[:1], SLASH_WORDS.get(name)
        is_taken = set(first) <= set(taken) if taken is not None else " -" not in rest
        if is_taken and rest != verb and rest[:1] in ("", " "):
            return f"/memlayer:{command}{rest}"
    return in_shell(verb)


def in_shell(verb: str) -> str:
    """Return a verb as a person can type it in a terminal.

    The host puts the plugin's own folder on the PATH of its shells alone.
    """
    folder = os.path.realpath(os.path.join(plugin_root(), "bin"))
    program, found = os.path.join(folder, "memlayer"), shutil.which("memlayer")
    is_on_path = found is not None and os.path.realpath(os.path.dirname(found)) != folder
    return f"{'memlayer' if is_on_path or not os.path.exists(program) else quote(program)} {verb}"


def say(*parts: Part, indent: int = 0, to_stderr: bool = False, is_ours: bool = True) -> None:
    """Print a paragraph, wrapped and styled on a terminal, else one line.

    is_ours: names verbs, which are told as they are typed here; no stored text.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    texts = [(part, "") if isinstance(part, str) else part for part in parts]
    if is_ours:
        texts = [(here(text), style) for text, style in texts]
    if not any(text for text, _ in texts):
        print(file=stream)
        return
    try:
        if not stream.isatty():
            raise ImportError
        from rich.padding import Padding
        from rich.text import Text
    except ImportError:  # also on a terminal, without a runtime: see memlayer.cli.doctor.bare
        print(" " * indent + plain("".join(text for text, _ in texts)), file=stream)
        return

    paragraph = Text()
    for text, style in texts:
        paragraph.append(plain(text), style=style or None)
    console_of(stream, indent).print(Padding(paragraph, (0, 0, 0, indent), expand=False))


def console_of(stream: TextIO, indent: int = 0) -> Console:
    """Return a console that takes no text for markup. Raises ImportError."""
    from rich.console import Console

    console = Console(file=stream, markup=False, highlight=False, emoji=False)
    if console.width <= indent:  # COLUMNS=0, or a terminal that reports no width: nothing would fit
        console.width = USUAL_COLUMNS
    return console


def pairs(title: str, rows: Iterable[tuple[str, str]]) -> None:
    """Print a heading and aligned `name  value` lines, empty values left out."""
    kept = [(name, value) for name, value in rows if value]
    if not kept:
        return
    width = max(len(name) for name, _ in kept)
    say((title, "bold"))
    for name, value in kept:
        say((f"{name:<{width}}  ", "cyan"), value, indent=2)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print aligned columns under a head, numbers right. Nothing without rows.

    A cell of stored text has passed `line`, which would take a row's own citation away.
    """
    from rich.cells import cell_len, set_cell_size  # Hangul takes two places

    kept = [[" ".join(plain(cell).split()) for cell in row] for row in rows]
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
    """Return stored text on one harmless line, cut at max_chars."""
    return cut(flatten(_CITED.sub("", "" if text is None else str(text))), max_chars)


def say_body(text: object, max_chars: int, indent: int = 2) -> None:
    """Print a text on one line, or its lines with code blocks."""
    whole = plain(_CITED.sub("", "" if text is None else str(text)))
    if not _FENCE.search(whole):
        say(line(whole, max_chars), indent=indent, is_ours=False)
        return
    for row in fenced_rows(whole, max(max_chars, FENCED_CHARS)):
        say(row, indent=indent, is_ours=False)


def fenced_rows(text: str, max_chars: int) -> list[str]:
    """Return harmless lines of a text with code blocks, cut and closed."""
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
    """Return local time to the minute; "" for none."""
    if not isinstance(at_ms, (int, float)) or not 0 < at_ms < MAX_MS:
        return ""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at_ms / 1000))


def duration(seconds: float) -> str:
    """Return a duration in its largest unit."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def number(value: object, digits: int = 2) -> str:
    """Return a score; "-" when there is none."""
    return f"{value:.{digits}f}" if isinstance(value, (int, float)) else "-"


def short_path(path: str) -> str:
    """Return a path with `~` for the user's home."""
    person = os.path.expanduser("~")
    return "~" + path[len(person) :] if path.startswith(person + os.sep) else path


def session_name(session_id: str, host: str = "") -> str:
    """Return the start of a session's id, and its host."""
    return line(short_session(session_id)) + (f" ({named(host).title})" if host else "")


def memory_title(memory: Any) -> list[Part]:
    """Return key, citation, time, project and session of a memory's row."""
    parts: list[Part] = [(line(memory.key), "bold"), " ", (f"[mem:{line(memory.citation)}]", "cyan")]
    session = line(getattr(memory, "session_id", ""))
    if session.startswith((FILE_SESSION, TEAM_SESSION)):  # the piece comes from a file, whose name is printed elsewhere
        session = ""
    at_ms, project = getattr(memory, "at_ms", 0), line(getattr(memory, "project", "") or "")
    for text in (
        when(at_ms),
        project,
        f"session {session_name(session, getattr(memory, 'host', ''))}" if session else "",
    ):
        if text:
            parts += ["  ", (text, "dim")]
    return parts


def say_headline(memory: MemoryRow) -> None:
    """Print a memory's headline with its subject, where it has one."""
    headline, subject = line(memory.headline), line(memory.subject)
    if headline or subject:
        say((headline, "bold"), (f"{' ' if headline else ''}({subject})" if subject else "", "dim"), indent=2)


@contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Show the daemon's progress with a long job.

    It is a bar on a terminal's stderr, nothing elsewhere. Yields the `on_progress` of Client.call, a function of
    {"phase", "done", "total"}.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[amount]}", markup=False),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("memlayer", total=None, amount="")

        def show(frame: dict[str, Any]) -> None:
            done, total = _amount(frame.get("done")), _amount(frame.get("total"))
            phase = flatten(str(frame.get("phase") or "memlayer"))
            if phase != bar.tasks[0].description:
                bar.reset(task)  # another phase has its own rate
            rate = bar.tasks[0].speed or 0.0
            shown = size if phase in IN_BYTES else "{:.0f}".format
            per_second = f", {shown(rate)}/s" if rate >= 1 else ""
            bar.update(
                task, description=phase, completed=done, total=total or None,
                amount=f"{shown(done)}/{shown(total)}{per_second}",
            )  # fmt: skip

        yield show


def _amount(value: object) -> float:
    return value if isinstance(value, (int, float)) else 0
