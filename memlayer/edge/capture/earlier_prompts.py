"""Secrets of a session's earlier prompts, by the host's transcript.

A hook without a daemon, and a daemon that has just begun, have not heard them.
"""

from __future__ import annotations

import json

from memlayer.edge.capture.answers import asked
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import redact_ends

_MAX_BYTES = 1 << 20  # of the transcript's end
_MAX_PROMPTS, _MAX_CHARS = 20, 2_000  # of each end


def learn(transcript: str) -> str:
    """Redact a transcript's last prompts for their secrets. Never raises.

    Returns the question that its last answer ends with, if it asks for a secret.
    """
    try:
        with paths.open_regular(transcript) as file:
            file.seek(max(0, file.seek(0, 2) - _MAX_BYTES))
            lines = file.read(_MAX_BYTES).split(b"\n")
    except OSError:
        return ""
    prompts = [line for line in lines if b'"user"' in line and b'"tool_result"' not in line]
    for line in prompts[-_MAX_PROMPTS:]:
        redact_ends(_words(line), _MAX_CHARS, _MAX_CHARS, 0)
    answers = (_words(line) for line in reversed(lines) if b'"assistant"' in line)
    return asked(next(filter(None, answers), ""))


def _words(line: bytes) -> str:
    """Return the text of a prompt's record, "" for none."""
    try:
        message = json.loads(line.decode("utf-8", "replace")).get("message")
        content = message["content"]
        return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError):
        return ""
