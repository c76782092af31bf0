"""The tool calls that the host's transcript tells of, where no hook kept them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.tool_use import EDITS
from memlayer.transcripts.transcript_lines import read_records
from memlayer.turns.work_done import Call

MAX_READ_BYTES = 32 * 1024 * 1024
MAX_CALLS = 5000
MAX_TARGET_CHARS = 600


def read_calls(path: str) -> list[Call]:
    """The edits and commands of the main conversation, oldest first, redacted; of a long transcript those of its last
    MAX_READ_BYTES. [] when there is no such file. Raises OSError when it cannot be read."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return []
    calls: dict[str, Call] = {}
    with file:
        size = os.fstat(file.fileno()).st_size
        for _, record in read_records(file, max(0, size - MAX_READ_BYTES)):
            if record.get("isSidechain") is True or record.get("type") not in ("user", "assistant"):
                continue
            for block in _blocks(record):
                if block.get("type") == "tool_use":
                    call = _call(block)
                    if call is not None:
                        calls[_text(block, "id")] = call
                elif block.get("type") == "tool_result" and block.get("is_error") is True:
                    made = calls.get(_text(block, "tool_use_id"))
                    if made is not None:
                        calls[_text(block, "tool_use_id")] = made._replace(is_failed=True, said=_first_line(block))
    return list(calls.values())[-MAX_CALLS:]


def _call(block: dict[str, object]) -> Call | None:
    tool, given = _text(block, "name"), block.get("input")
    if not isinstance(given, dict):
        return None
    if tool == "Bash":
        target = _text(given, "command")
    elif tool in EDITS:
        target = _text(given, "file_path") or _text(given, "notebook_path")
    else:
        return None
    return Call(tool, clean(target)[:MAX_TARGET_CHARS], False, "") if target.strip() else None


def _first_line(block: dict[str, object]) -> str:
    content = block.get("content")
    if isinstance(content, list):
        content = "\n".join(_text(one, "text") for one in content if isinstance(one, dict))
    lines = [line.strip() for line in str(content or "").split("\n") if line.strip()]
    # `Exit code 1` alone says less than what the command printed under it.
    telling = [line for line in lines if not line.startswith("Exit code")]
    return clean((telling or lines or [""])[0])[:MAX_TARGET_CHARS]


def _blocks(record: dict[str, object]) -> Iterator[dict[str, object]]:
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict):
            yield block


def _text(data: dict[str, object], name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""
