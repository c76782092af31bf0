"""Codex: rollout files, one thread or a part of it each.

Both streams of a file carry every turn. The events are read: `user_message` and `agent_message` until 0.147, completed
items since 0.148. The model's own items hold the calls, and the turns of a file without events; text that begins with
`<` is context of the host there. The exit code of a command stands in its output.
"""

import json
import os
import re
from collections.abc import Callable, Iterator

from memlayer.edge.capture.rollout import EXIT, UNTYPED
from memlayer.edge.home import project
from memlayer.text.word_lists import word_set
from memlayer.transcripts.discovery import Transcript, head
from memlayer.transcripts.lines import Tally, string
from memlayer.transcripts.others.talk import Json, Talk, lines_of, part, text_of, time_of
from memlayer.transcripts.reader import at_ms_of

AGENT = "codex"
SEEN = "0.98 to 0.171"
NAME = re.compile(r"rollout-.*\.jsonl(?:\.zst)?\Z")
_OUTPUT = re.compile(r"(?m)^Output:\n")
_EDITORS_HEAD = re.compile(r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.DOTALL | re.MULTILINE)
_HOST_TEXT = ("<", "# AGENTS.md instructions")
_STARTS = ("task_started", "turn_started")
_ENDS = ("task_complete", "turn_complete")


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the thread of a rollout. Raises OSError."""
    meta = next((part(record, "payload") for record in head(path) if record.get("type") == "session_meta"), {})
    source = meta.get("source")
    thread = string(meta, "id") or string(meta, "session_id")
    yield Transcript(
        path, info.st_size, info.st_mtime_ns, agent=AGENT, cwd=project.here(string(meta, "cwd")),
        session_id=thread or os.path.basename(path).partition(".jsonl")[0],
        is_agent=isinstance(source, dict) or string(meta, "thread_source") == "subagent",
        is_run=source in UNTYPED, remote=string(part(meta, "git"), "repository_url"),
        first=string(meta, "forked_from_id") or thread, first_ms=at_ms_of(string(meta, "timestamp")),
    )  # fmt: skip


def read(file: Transcript, tally: Tally) -> Talk:
    """Return a rollout's turns. Raises OSError."""
    told, modelled = _Stream(file, tally), _Stream(file, Tally())
    for record in lines_of(file.path, tally):
        kind, payload, at_ms = string(record, "type"), part(record, "payload"), time_of(record.get("timestamp"))
        if kind == "session_meta":  # a fork's file holds its parent's too
            tally.version = tally.version or string(payload, "cli_version")
        elif kind == "event_msg":
            told.event(payload, at_ms)
            modelled.turn_id = told.turn_id
        elif kind == "response_item":
            told.item(payload, at_ms, with_messages=False)
            modelled.item(payload, at_ms, with_messages=True)
        elif kind not in word_set(__package__, "codex records"):
            told.talk.unknown(kind)
    return told.talk if len(told.talk) else modelled.talk


class _Stream:
    """The turns of one of a file's streams."""

    def __init__(self, file: Transcript, tally: Tally) -> None:
        self.talk = Talk(file.session_id, tally, cwd=file.cwd, is_run=file.is_run)
        self.turn_id = ""
        self._patched: set[str] = set()

    def event(self, payload: Json, at_ms: int) -> None:
        """Hear an event."""
        kind = string(payload, "type")
        if kind == "item_completed":
            self.turn_id = string(payload, "turn_id") or self.turn_id
            self._completed(part(payload, "item"), at_ms)
        elif kind == "user_message":
            self._prompt(string(payload, "message"), at_ms)
        elif kind == "agent_message":
            self.talk.answer(string(payload, "message"), at_ms)
        elif kind in _STARTS:
            self.turn_id = string(payload, "turn_id")
        elif kind in _ENDS:
            self.talk.answer(string(payload, "last_agent_message"), at_ms)
            self.talk.end()
        elif kind == "thread_rolled_back":
            number = payload.get("num_turns")
            self.talk.take_back(number if isinstance(number, int) else 0)
        elif kind not in word_set(__package__, "codex events"):
            self.talk.unknown(kind)

    def _completed(self, item: Json, at_ms: int) -> None:
        kind, item_id = string(item, "type"), string(item, "id")
        if kind == "UserMessage":
            self._prompt(text_of(item.get("content"), "text", "Text"), at_ms)
        elif kind == "AgentMessage":
            self.talk.answer(text_of(item.get("content"), "text", "Text"), at_ms)
        elif kind == "FileChange":
            changes = part(item, "changes")
            if item_id not in self._patched and string(item, "status") == "completed":
                patch = "".join("*** Update File: %s\n%s\n" % (path, _diff(change)) for path, change in changes.items())
                self.talk.call(item_id, "apply_patch", patch, at_ms, is_done=True)
        elif kind not in word_set(__package__, "codex items"):
            self.talk.unknown(kind)

    def item(self, payload: Json, at_ms: int, *, with_messages: bool) -> None:
        """Hear an item of the model's own history."""
        kind, call_id = string(payload, "type"), string(payload, "call_id")
        if kind in ("message", ""):
            text, role = text_of(payload.get("content"), "input_text", "output_text", "text"), string(payload, "role")
            if with_messages and role == "user" and not text.lstrip().startswith(_HOST_TEXT):
                self._prompt(text, at_ms)
            elif with_messages and role == "assistant":
                self.talk.answer(text, at_ms, string(payload, "id"))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            given = payload.get("arguments") or payload.get("input") or payload.get("action")
            name = string(payload, "name") or "local_shell"
            if name == "apply_patch" or "*** Begin Patch" in str(given):
                self._patched.add(call_id)
            self.talk.call(call_id, name, _arguments(given), at_ms)
        elif kind in ("function_call_output", "custom_tool_call_output"):
            output, is_failed = _outcome(payload.get("output"))
            self.talk.result(call_id, output, is_failed=is_failed)
        elif kind not in word_set(__package__, "codex answers"):
            self.talk.unknown(kind)

    def _prompt(self, text: str, at_ms: int) -> None:
        self.talk.prompt(_EDITORS_HEAD.sub("", text), at_ms, self.turn_id)


def _arguments(given: object) -> object:
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _outcome(output: object) -> tuple[str, bool]:
    """Return (text, whether it failed) of a call's output."""
    if isinstance(output, dict):
        return text_of(output.get("content")), output.get("success") is False
    text = text_of(output)
    told = _arguments(text) if text.startswith("{") else None
    if isinstance(told, dict) and isinstance(told.get("output"), str):  # before 0.60
        return told["output"], part(told, "metadata").get("exit_code") not in (0, None)
    code = re.search(EXIT, text)
    return _OUTPUT.split(text, maxsplit=1)[-1], bool(code and code[1] != "0")


def _diff(change: object) -> str:
    if not isinstance(change, dict):
        return ""
    added = "\n".join("+" + row for row in string(change, "content").split("\n") if row)
    return string(change, "unified_diff") or added
