"""The lines of a transcript and the tool calls in them."""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.tool_use import EDITS
from memlayer.edge.home import paths
from memlayer.edge.redaction.secret_commands import shows_secret
from memlayer.turns.outcome import Call

# A longer line is a tool's output or an image, and is skipped unread unless it starts like a user's prompt.
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_HUMAN_LINE_BYTES = 32 * 1024 * 1024
_PASS_OVER_BYTES = 1024 * 1024
_HEAD_BYTES = 4096
WATCH_LINES = 2000
TOO_LONG = "lines too long"
BROKEN = "broken lines"

_USER_TYPE = re.compile(rb'"type"\s*:\s*"user"')
_HUMAN_CONTENT = re.compile(rb'"content"\s*:\s*(?:"|\[\s*\{\s*"type"\s*:\s*"(?:text|image)")')
_MACHINE_META = re.compile(rb'"(?:isMeta|isSidechain|isCompactSummary)"\s*:\s*true')
# Only records with one of these matter. It saves parsing most lines.
_WANTED = (b'"user"', b'"assistant"', b"compact_boundary", b"queued_command")

PACKED = ".zst"
MAX_TRANSCRIPT_BYTES = 4 << 30  # a larger file is none: a hole, or not the host's
MAX_READ_BYTES = 32 * 1024 * 1024
MAX_CALLS = 5000
MAX_TARGET_CHARS = 600


@dataclass
class Tally:
    """Counts of a reading: complete lines, and records passed over by reason.

    version: of the agent that wrote them, "" where it does not say. watch is called with the byte offset every
    WATCH_LINES lines. It may raise to end the reading.
    """

    watch: Callable[[int], None] = lambda offset: None
    lines: int = 0
    version: str = ""
    passed: Counter[str] = field(default_factory=Counter)

    def passes(self, reason: str) -> None:
        """Count a record that is left out."""
        self.passed[reason] += 1

    def line(self, offset: int) -> None:
        """Count a line that ends at this offset."""
        self.lines += 1
        if self.lines % WATCH_LINES == 0:
            self.watch(offset)


def open_transcript(path: str) -> BinaryIO:
    """Open a transcript, packed or plain.

    Raises FileNotFoundError for a pipe or a device, OSError.
    """
    file = paths.open_regular(path, max_bytes=MAX_TRANSCRIPT_BYTES)
    if not path.endswith(PACKED):
        return file
    from memlayer.adapters.packed import unpacked  # loads Arrow, which the command line has no time for

    return unpacked(file)


def read_records(
    file: BinaryIO, start_offset: int, tally: Tally | None = None
) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (byte offset, object) of whole lines of a conversation.

    A start_offset outside the file counts as 0. Torn, broken and foreign lines are skipped, as are those too long.
    """
    tally = tally or Tally()
    for offset, line in whole_lines(file, start_offset, tally):
        if any(mark in line for mark in _WANTED):
            record = parse(line)
            if record is not None:
                yield offset, record
            else:
                tally.passes(BROKEN)


def whole_lines(file: BinaryIO, start_offset: int, tally: Tally) -> Iterator[tuple[int, bytes]]:
    """Yield (byte offset, line) of a transcript.

    Without those over MAX_LINE_BYTES (MAX_HUMAN_LINE_BYTES if they start like a user's prompt), a torn last one, and
    those that are written meanwhile: a file may grow for ever.
    """
    is_packed = not file.seekable()
    size = sys.maxsize if is_packed else os.fstat(file.fileno()).st_size
    offset = start_offset if 0 < start_offset <= size else 0
    if not is_packed:
        file.seek(offset)
    while offset < size:
        line = file.readline(MAX_LINE_BYTES)
        if not line:
            return
        length = len(line)
        if not line.endswith(b"\n"):
            if length < MAX_LINE_BYTES:
                if parse(line) is not None:  # whole: no line end is written behind the last line of a copied file
                    yield offset, line
                    tally.line(offset + length)
                return  # torn: the host has not finished it
            more = file.readline(MAX_HUMAN_LINE_BYTES - length) if _starts_human(line) else b""
            length += len(more)
            line = line + more if more.endswith(b"\n") else b""
            if not line:
                passed, complete = _pass_over(file)
                if not complete:
                    return
                length += passed
                tally.passes(TOO_LONG)
        yield offset, line
        offset += length
        tally.line(offset)


def _pass_over(file: BinaryIO) -> tuple[int, bool]:
    """Skip the rest of the line; return (bytes, whether it ends)."""
    passed = 0
    while True:
        piece = file.readline(_PASS_OVER_BYTES)
        passed += len(piece)
        if piece.endswith(b"\n"):
            return passed, True
        if not piece:
            return passed, False


def _starts_human(line: bytes) -> bool:
    head = line[:_HEAD_BYTES]
    if b'"tool_result"' in head or _MACHINE_META.search(head):
        return False
    return bool(_USER_TYPE.search(head) and _HUMAN_CONTENT.search(head))


def parse(line: bytes) -> dict[str, object] | None:
    """Return the object of a line, None for anything else."""
    try:
        record = json.loads(line.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def read_calls(path: str) -> list[Call]:
    """Return the edits and commands of the main conversation, oldest first, redacted.

    Of a long transcript those of its last MAX_READ_BYTES. [] without a file. Raises OSError when it cannot be read.
    """
    try:
        file = open_transcript(path)
    except FileNotFoundError:
        return []
    calls: dict[str, Call] = {}
    silent: set[str] = set()  # ids of commands that show a secret
    with file:
        size = os.fstat(file.fileno()).st_size
        for _, record in read_records(file, max(0, size - MAX_READ_BYTES)):
            if record.get("isSidechain") is True or record.get("type") not in ("user", "assistant"):
                continue
            for block in blocks_of(record):
                if block.get("type") == "tool_use":
                    call = _call(block)
                    if call is not None:
                        calls[string(block, "id")] = call
                        if shows_secret(_command(block)):
                            silent.add(string(block, "id"))
                elif block.get("type") == "tool_result" and block.get("is_error") is True:
                    use_id = string(block, "tool_use_id")
                    made = calls.get(use_id)
                    if made is not None:
                        calls[use_id] = made._replace(
                            is_failed=True, said="" if use_id in silent else _first_line(block)
                        )
    return list(calls.values())[-MAX_CALLS:]


def _call(block: dict[str, object]) -> Call | None:
    tool, given = string(block, "name"), block.get("input")
    if not isinstance(given, dict):
        return None
    if tool == "Bash":
        target = string(given, "command")
    elif tool in EDITS:
        target = string(given, "file_path") or string(given, "notebook_path")
    else:
        return None
    return Call(tool, clean(target)[:MAX_TARGET_CHARS], False, "") if target.strip() else None


def _command(block: dict[str, object]) -> str:
    given = block.get("input")
    return string(given, "command") if isinstance(given, dict) and block.get("name") == "Bash" else ""


def _first_line(block: dict[str, object]) -> str:
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(string(part, "text") for part in content if isinstance(part, dict))
    lines = [line.strip() for line in str(content or "").split("\n") if line.strip()]
    # `Exit code 1` alone says less than the command's output below it.
    telling = [line for line in lines if not line.startswith("Exit code")]
    return clean((telling or lines or [""])[0])[:MAX_TARGET_CHARS]


def blocks_of(record: dict[str, object]) -> Iterator[dict[str, object]]:
    """Yield the blocks of a record's message."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def string(data: dict[str, object], name: str) -> str:
    """Return a string field, "" for anything else."""
    value = data.get(name)
    return value if isinstance(value, str) else ""
