"""Words of the person in the host's dialogs at a tool call.

A comment on a call, a refusal's reason, answers to the model's questions, a judged plan. The host's own fields say who
spoke: the same sentences in a tool's output count for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memlayer.edge.capture.answers import answers_given, quoted
from memlayer.edge.capture.noise import is_noise
from memlayer.transcripts.lines import blocks_of, string

QUESTIONS, PLAN = "AskUserQuestion", "ExitPlanMode"
MAX_PLAN_CHARS = 1500
APPROVED, REFUSED = "Approved this plan:", "Refused this plan:"
# Hosts without the field `toolDenialKind` (2.1.197) tell a refusal by these alone.
_WITHOUT_WORDS = "User rejected tool use"
_WITH_WORDS = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
_HOST_NOTE = "\n\nNote: The user's next message may contain a correction or preference."
_CLARIFY = "The user wants to clarify these questions"  # the host's words, around the model's own
_NOBODY_ASKED = ("hook", "config")

_Json = dict[str, object]


class DialogCall(NamedTuple):
    """A call by the model, with the plan that it presents."""

    tool: str
    plan: str


def calls_in(record: _Json) -> Iterator[tuple[str, DialogCall]]:
    """Yield (id, call) of an answer's tool calls."""
    for block in blocks_of(record):
        given = block.get("input")
        if block.get("type") == "tool_use":
            plan = string(given, "plan") if isinstance(given, dict) and block.get("name") == PLAN else ""
            yield string(block, "id"), DialogCall(string(block, "name"), plan)


def said_at_calls(record: _Json, calls: Mapping[str, DialogCall]) -> Iterator[tuple[str, str]]:
    """Yield (call id, words of the person) of a record of results."""
    decision = record.get("permissionDecision")
    if isinstance(decision, dict) and decision.get("source") in _NOBODY_ASKED:
        return
    blocks = list(blocks_of(record))
    texts = [string(block, "text") for block in blocks if block.get("type") == "text"]
    beside = [text for text in texts if not is_noise(text)]
    for block in blocks:
        call = calls.get(string(block, "tool_use_id"))
        if block.get("type") != "tool_result" or call is None:
            continue
        is_refused, words = _refusal(record, block, call) if block.get("is_error") is True else (False, "")
        said, judged = [words], []  # a judged plan comes last: a word behind a quotation's head is no rule
        result = record.get("toolUseResult")
        if call.tool == QUESTIONS and isinstance(result, dict):
            said = [answers_given(result)]
        elif call.tool == PLAN and (is_refused or isinstance(result, dict)):
            plan = (string(result, "plan") if isinstance(result, dict) else "") or call.plan
            judged = [REFUSED if is_refused else APPROVED, quoted(plan[:MAX_PLAN_CHARS])]
        text = "\n".join(part for part in said + beside + judged if part.strip())
        beside = []
        if text:
            yield string(block, "tool_use_id"), text


def _refusal(record: _Json, block: _Json, call: DialogCall) -> tuple[bool, str]:
    """Return (whether the person refused a call, their words)."""
    content, result = string(block, "content"), string(record, "toolUseResult")
    if "toolDenialKind" in record:
        holds_words = record.get("holdsPersonsWords") is True  # also where another program shows the dialog
        is_refused = holds_words or record["toolDenialKind"] == "user-rejected"
        words = string(record, "userFeedback") or (content.removeprefix(_WITH_WORDS) if holds_words else "")
    elif result == _WITHOUT_WORDS:
        return True, ""
    else:  # a server of tools chooses the text of its own errors
        is_refused = content.startswith(_WITH_WORDS) and not call.tool.startswith("mcp__")
        words = content[len(_WITH_WORDS) :].partition(_HOST_NOTE)[0]
    return is_refused, words if is_refused and not words.startswith(_CLARIFY) else ""
