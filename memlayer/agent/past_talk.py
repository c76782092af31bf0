"""A talk restored from its stored events, as messages for a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from memlayer.chat import AssistantToolCalls, Chat, Message, ToolCall, ToolResult, ToolResults
from memlayer.model import Event

# Tools are stored under the names that the host has for them, so that summaries and rules know them.
HOST_NAMES = {"shell": "Bash", "write_file": "Write", "edit_file": "Edit"}
HOST_ARGUMENTS = {"path": "file_path", "old_text": "old_string", "new_text": "new_string"}
_OWN_NAMES = {host: own for own, host in HOST_NAMES.items()}
_ARGUMENTS = {"shell": "command", "write_file": "path", "edit_file": "path"}
_NOT_STORED = "(The output is not stored.)"


@dataclass(frozen=True)
class PastTurn:
    """A turn of a restored talk.

    calls: of tools, in the short form in which they are stored. at_ms: Unix time of its first event.
    """

    prompt_id: str
    prompt: str = ""
    calls: tuple[str, ...] = ()
    answer: str = ""
    at_ms: int = 0


@dataclass(frozen=True)
class PastTalk:
    """A restored talk: the summary of its compacted turns, then the rest."""

    session_id: str
    summary: str = ""
    turns: tuple[PastTurn, ...] = ()


def turns_of(events: Sequence[Event]) -> tuple[PastTurn, ...]:
    """Return the turns of a talk's events, oldest first."""
    by_prompt: dict[str, list[Event]] = {}
    for event in events:
        by_prompt.setdefault(event.prompt_id, []).append(event)

    def texts(of: Sequence[Event], kind: str) -> tuple[str, ...]:
        return tuple(event.text for event in of if event.kind == kind)

    return tuple(
        PastTurn(
            prompt_id,
            "\n\n".join(texts(of, "user")),
            texts(of, "tool"),
            "\n\n".join(texts(of, "assistant")),
            of[0].at_ms,
        )
        for prompt_id, of in by_prompt.items()
    )


def messages_of(turns: Sequence[PastTurn]) -> list[Message]:
    """Return restored turns as messages, oldest first, calls with their results."""
    days = ["", *(day_of(datetime.fromtimestamp(turn.at_ms / 1000)) for turn in turns)]
    rows = [(turn, day if day != before else "") for turn, before, day in zip(turns, days, days[1:], strict=False)]
    return [message for turn, day in rows for message in _messages(turn, day)]


def day_of(moment: datetime) -> str:
    """Return a day as its first message is told it."""
    return moment.strftime("%A, %Y-%m-%d")


def dated(message: str, day: str) -> str:
    """Return a message behind its day, where that is new."""
    return "[%s] %s" % (day, message) if day else message


def _messages(turn: PastTurn, day: str) -> Iterator[Message]:
    if turn.prompt:
        yield Chat("user", dated(turn.prompt, day), words=turn.prompt)
    for number, text in enumerate(turn.calls):
        call, result = _call(text, "past_%s_%d" % (turn.prompt_id[:8], number))
        yield AssistantToolCalls("", (call,))
        yield ToolResults((result,))
    if turn.answer:
        yield Chat("assistant", turn.answer)


def _call(text: str, call_id: str) -> tuple[ToolCall, ToolResult]:
    """Return the call and the result of a stored tool event.

    Its first line is `Bash: make`, `Bash failed: make` or `Write interrupted: a.py`. See edge.capture.tool_use.
    """
    first, _, output = text.partition("\n")
    head, _, target = first.partition(": ")
    host_name, _, outcome = head.partition(" ")
    name = _OWN_NAMES.get(host_name, host_name)
    call = ToolCall(call_id, name, {_ARGUMENTS.get(name, "input"): target})
    return call, ToolResult(call_id, name, output or _NOT_STORED, is_error=bool(outcome))
