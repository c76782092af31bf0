"""What memlayer asks the model, once before a compaction and only if the user wants it: to store what should last."""

from __future__ import annotations

import json

NO_REPLY = "NO_REPLY"
_MARK = "memlayer asks, before this conversation is compacted:"
REQUEST = (
    _MARK + " if it has brought up facts, decisions, preferences or commitments that later sessions will need and that"
    ' you have not stored yet, store each of them now with the Bash command `memlayer remember "..."`: one sentence'
    " that can be understood without this conversation, with its exact names, values and paths, in the user's language;"
    " at most five. Then, or if there is nothing to store, answer with exactly " + NO_REPLY + " and nothing else."
)
_MOST_CHARS = len(NO_REPLY) + 8


def continuation() -> bytes:
    """What the Stop hook prints to have the model go on with REQUEST."""
    return json.dumps({"decision": "block", "reason": REQUEST}).encode()


def is_request(text: str) -> bool:
    """True for the message by which the host tells the model of REQUEST."""
    return _MARK in text[:400]


def is_no_reply(text: str) -> bool:
    """True for an answer that says it is none."""
    return len(text) <= _MOST_CHARS and text.strip(" \t\r\n`*\"'.").upper() == NO_REPLY
