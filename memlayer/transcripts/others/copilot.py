"""Copilot CLI: the events of a session, one a line."""

import os
import re
from collections.abc import Callable, Iterator

from memlayer.edge.home import project
from memlayer.transcripts.discovery import Transcript, head
from memlayer.transcripts.lines import Tally, string
from memlayer.transcripts.others.talk import Json, Talk, lines_of, part, text_of, time_of

AGENT = "copilot"
SEEN = "1.0.71, as a public sample shows it"
NAME = re.compile(r"events\.jsonl\Z")
_FORGE = "https://github.com/"
# Events of a kind that tell nothing of a turn; the rest of their names varies by version.
_OTHERS = ("session.", "assistant.", "system.", "hook.", "subagent.", "skill.", "tool.", "abort", "permission.")


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the session of a file. Raises OSError."""
    start = next((part(record, "data") for record in head(path) if record.get("type") == "session.start"), {})
    told = part(start, "context")
    repository = string(told, "repository")
    yield Transcript(
        path, info.st_size, info.st_mtime_ns, agent=AGENT, first_ms=time_of(start.get("startTime")),
        session_id=string(start, "sessionId") or os.path.basename(os.path.dirname(path)),
        cwd=project.here(string(told, "gitRoot") or string(told, "cwd") or string(start, "cwd")),
        remote=_FORGE + repository if repository.count("/") == 1 else repository,
    )  # fmt: skip


def read(file: Transcript, tally: Tally) -> Talk:
    """Return a session's turns. Raises OSError."""
    talk = Talk(file.session_id, tally, cwd=file.cwd)
    starts: dict[str, int] = {}
    for record in lines_of(file.path, tally):
        kind, data = string(record, "type"), part(record, "data")
        if string(record, "agentId") or string(data, "parentToolCallId"):
            tally.passes("sub-agents")
            continue
        starts[string(record, "id")] = len(talk)
        if kind == "session.start":
            tally.version = string(data, "copilotVersion")
        elif kind == "session.snapshot_rewind":
            talk.take_back_from(starts.get(string(data, "upToEventId"), len(talk)))
        else:
            _hear(talk, kind, data, string(record, "id"), time_of(record.get("timestamp")))
    return talk


def _hear(talk: Talk, kind: str, data: Json, event_id: str, at_ms: int) -> None:
    call_id = string(data, "toolCallId")
    if kind == "user.message":
        if not string(data, "source"):  # else a skill or the program wrote it
            talk.prompt(string(data, "content"), at_ms, event_id)
    elif kind == "assistant.message":
        talk.answer(string(data, "content"), at_ms, string(data, "apiCallId") or string(data, "messageId"))
    elif kind == "tool.execution_start":
        talk.call(call_id, string(data, "toolName"), data.get("arguments"), at_ms)
    elif kind == "tool.execution_complete":
        result = part(data, "result")
        output = string(result, "content") or string(part(data, "error"), "message") or text_of(data.get("result"))
        is_failed = data.get("success") is False or result.get("exitCode") not in (None, 0)
        talk.result(call_id, output, is_failed=is_failed)
    elif not kind.startswith(_OTHERS):
        talk.unknown(kind)
