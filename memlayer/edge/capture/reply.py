"""Output of hooks: JSON for the host, or plain text.

Also the request that a Stop hook makes before a compaction.
"""

from __future__ import annotations

import json

_EVENT_NAMES = {
    "session_start": "SessionStart",
    "user_prompt_submit": "UserPromptSubmit",
    "subagent_start": "SubagentStart",
}
_PLAIN = ("pre_compact", "post_compact")
NO_REPLY = "NO_REPLY"
_MARK = "memlayer asks, before this conversation is compacted:"
REQUEST = (
    _MARK + " if it has brought up facts, decisions, preferences or commitments that later sessions will need and that"
    ' you have not stored yet, store each of them now with the Bash command `memlayer remember "..."`: one sentence'
    " that can be understood without this conversation, with its exact names, values and paths, in the user's language;"
    " at most five. Then, or if there is nothing to store, answer with exactly " + NO_REPLY + " and nothing else."
)
_MOST_CHARS = len(NO_REPLY) + 8
HOST_LIMIT_CHARS = 10_000  # longer values reach the model as a file name and a preview


def hook_reply(hook: str, context: str, notice: str = "") -> bytes:
    """Return one JSON object, or nothing without context and notice.

    context: for the model; the hooks of _EVENT_NAMES can give it. For pre_compact it is one line of
    plain text: the host adds the output to its summarizer's instructions as it is, JSON and all. notice: one line for
    the person.
    """
    if hook in _PLAIN:
        return " ".join(context.split())[:HOST_LIMIT_CHARS].encode("utf-8", "replace") if hook == "pre_compact" else b""
    out: dict[str, object] = {}
    if context and hook in _EVENT_NAMES:
        out["hookSpecificOutput"] = {
            "hookEventName": _EVENT_NAMES[hook],
            "additionalContext": context[:HOST_LIMIT_CHARS],
        }
    if notice:
        out["systemMessage"] = notice
    return json.dumps(out).encode() if out else b""


def continuation() -> bytes:
    """Return the Stop hook's output that makes the model follow REQUEST."""
    return json.dumps({"decision": "block", "reason": REQUEST}).encode()


def is_request(text: str) -> bool:
    """True for the host's message that tells the model of REQUEST."""
    return _MARK in text[:400]


def is_no_reply(text: str) -> bool:
    """True for the answer NO_REPLY."""
    return len(text) <= _MOST_CHARS and text.strip(" \t\r\n`*\"'.").upper() == NO_REPLY
