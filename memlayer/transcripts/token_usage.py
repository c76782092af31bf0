"""Tokens in the model's context, from the end of the transcript."""

import os
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO, NamedTuple

from memlayer.transcripts.lines import open_transcript, parse

# Steps in which the file's end is searched. The first nearly always holds the newest answer.
_TAIL_BYTES = (128 * 1024, 1024 * 1024, 8 * 1024 * 1024)

DEFAULT_WINDOW_TOKENS = 200_000
LONG_WINDOW_TOKENS = 1_000_000
# Models (by the start of their names) with a window of a million by host 2.1.330. Others have 200,000. Too small a
# window only means an earlier flush. Too large a one would leave it to PreCompact.
_LONG_WINDOW = ("claude-opus-5", "claude-sonnet-5-5", "claude-haiku-5")
_LONG_SUFFIX = "[1m]"
_PARTS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class ContextTokens(NamedTuple):
    """The token use of the main conversation's last answer.

    total_tokens: input, cache creation, cache read and output. model: as the API names it, "" when unknown. is_behind:
    a later prompt or tool result has no answer yet: the host writes it a moment later. at_ms: of the answer, in Unix
    ms; -1 where the host does not say.
    """

    total_tokens: int
    model: str
    is_behind: bool
    at_ms: int = -1


def window_tokens(model: str) -> int:
    """Return the context window of a model, by its name."""
    name = model.strip().lower()
    if name.endswith(_LONG_SUFFIX) or any(name == known or name.startswith(known + "-") for known in _LONG_WINDOW):
        return LONG_WINDOW_TOKENS
    return DEFAULT_WINDOW_TOKENS


def read_token_use(path: str) -> ContextTokens | None:
    """Return the tokens in the context. None if not stated.

    Sub-agents' records, the host's own words and torn lines are skipped. Right after a compaction it is the rest that
    the host states. Raises OSError when there is a file that cannot be read.
    """
    try:
        file = open_transcript(path)  # only its absence is forgiven
    except FileNotFoundError:
        return None
    with file:
        size = os.fstat(file.fileno()).st_size
        for tail in _TAIL_BYTES:
            token_use = _newest(_lines_from_the_end(file, size, tail))
            if token_use is not None or tail >= size:
                return token_use
    return None


def _newest(lines: Iterator[bytes]) -> ContextTokens | None:
    """Return the newest answer's use, over its lines. lines: newest first."""
    total, model, message_id, is_behind, at_ms = -1, "", "", False, -1
    for line in lines:
        if b'"usage"' not in line and b"compact_boundary" not in line and b'"user"' not in line:
            continue
        record = parse(line) or {}
        kind = record.get("type")
        if kind == "system" and record.get("subtype") == "compact_boundary":
            if total >= 0:
                break
            metadata = record.get("compactMetadata")
            left = metadata.get("postTokens") if isinstance(metadata, dict) else 0
            return ContextTokens(_count(left), "", False, _unix_ms(record.get("timestamp")))
        if record.get("isSidechain") is True:
            continue
        if kind == "user":
            if total >= 0:
                break
            is_behind = is_behind or not (record.get("isMeta") or record.get("isCompactSummary"))
            continue
        message = record.get("message")
        if kind != "assistant" or record.get("isApiErrorMessage") is True or not isinstance(message, dict):
            continue
        usage = message.get("usage")
        if message.get("model") == "<synthetic>" or not isinstance(usage, dict):
            continue
        own_id = str(message.get("id") or "")
        if total >= 0 and own_id != message_id:
            break
        total = max(total, sum(_count(usage.get(name)) for name in _PARTS))
        message_id, model = own_id, str(message.get("model") or "")
        at_ms = max(at_ms, _unix_ms(record.get("timestamp")))
    return ContextTokens(total, model, is_behind, at_ms) if total >= 0 else None


def _lines_from_the_end(file: BinaryIO, size: int, tail_bytes: int) -> Iterator[bytes]:
    """Yield whole lines of the last tail_bytes, newest first."""
    start = max(0, size - tail_bytes)
    file.seek(start)
    lines = file.read(tail_bytes).split(b"\n")
    return reversed(lines[1:] if start else lines)


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _unix_ms(value: object) -> int:
    """Return a zoned ISO 8601 time as Unix ms, else -1."""
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return -1
    return int(at.timestamp() * 1000) if at is not None and at.tzinfo is not None else -1
