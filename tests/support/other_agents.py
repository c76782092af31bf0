"""Sessions of other agents, made to the forms that their programs write.

Facts of the forms: the agents' public sources, and public fixtures of deja-vu (MIT), looked up in November 2026. No
text is copied.
"""

import json
import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow

LONG_AGO_S = 1_790_000_000
THREAD = "01a017b5-1414-7250-bf14-dc4987eee1c9"


def jsonl(path: Path, records: Iterable[object]) -> Path:
    """Write records, long ago."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    return path


class Rollout:
    """A thread of Codex. version: decides between its two forms of events."""

    def __init__(
        self, cwd: str, *, thread: str = THREAD, version: str = "0.148.0", at_s: float = LONG_AGO_S, **meta: Any
    ) -> None:
        self.is_new = tuple(map(int, version.split("."))) >= (0, 148)
        self.cwd = cwd
        self._at_s = at_s
        told = {"id": thread, "session_id": "group-1", "cwd": cwd, "cli_version": version, "source": "cli", **meta}
        self.records: list[dict[str, Any]] = []
        self.add("session_meta", told)

    def add(self, kind: str, payload: dict[str, Any]) -> None:
        """Write a line, a second after the one before."""
        self._at_s += 1
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(self._at_s))
        self.records.append({"timestamp": at, "ordinal": len(self.records), "type": kind, "payload": payload})

    def event(self, kind: str, **fields: Any) -> None:
        self.add("event_msg", {"type": kind, **fields})

    def begin(self, turn_id: str, prompt: str) -> None:
        """A turn's start: what the host adds, and the prompt in both streams."""
        self.event("task_started", turn_id=turn_id)
        for text in ("<environment_context>\n<cwd>%s</cwd>\n</environment_context>" % self.cwd, prompt):
            self.message("user", "input_text", text)
        if self.is_new:
            self.item(turn_id, "UserMessage", content=[{"type": "text", "text": prompt, "text_elements": []}])
        else:
            self.event("user_message", message=prompt, images=[])

    def say(self, turn_id: str, text: str) -> None:
        """An answer in both streams."""
        if self.is_new:
            self.item(turn_id, "AgentMessage", content=[{"type": "Text", "text": text}])
        else:
            self.event("agent_message", message=text)
        self.message("assistant", "output_text", text)
        self.event("token_count", info=None)

    def turn(self, turn_id: str, prompt: str, answer: str) -> None:
        """A whole turn."""
        self.begin(turn_id, prompt)
        self.say(turn_id, "먼저 살펴보겠습니다. Let me look first.")
        self.say(turn_id, answer)
        self.event("task_complete", turn_id=turn_id, last_agent_message=answer)

    def message(self, role: str, kind: str, text: str) -> None:
        self.add("response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})

    def item(self, turn_id: str, kind: str, **fields: Any) -> None:
        self.event("item_completed", turn_id=turn_id, item={"type": kind, "id": "i%d" % len(self.records), **fields})

    def run(self, call_id: str, command: str, code: int, output: str) -> None:
        """A command with its output."""
        given = json.dumps({"cmd": command})
        self.add(
            "response_item", {"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call_id}
        )
        text = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code %d\nOutput:\n%s" % (code, output)
        self.add("response_item", {"type": "function_call_output", "call_id": call_id, "output": text})

    def patch(self, call_id: str, patch: str, *, output: str = "Exit code: 0\nOutput:\nSuccess.") -> None:
        """A change of files."""
        call = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call_id}
        self.add("response_item", call)
        self.add("response_item", {"type": "custom_tool_call_output", "call_id": call_id, "output": output})

    def write(self, folder: Path, name: str = "rollout-2026-09-21T08-00-00-a.jsonl") -> Path:
        """Write the file where Codex keeps it."""
        return jsonl(folder / "2026" / "09" / "21" / name, self.records)


def pack(path: Path) -> Path:
    """Pack a file, in two frames, and take the plain one away."""
    plain = path.read_bytes()
    packed = path.with_name(path.name + ".zst")
    codec = pyarrow.Codec("zstd")
    packed.write_bytes(b"".join(codec.compress(part, asbytes=True) for part in (plain[:100], plain[100:])))
    os.utime(packed, (LONG_AGO_S, LONG_AGO_S))
    path.unlink()
    return packed


def gemini_messages(turns: Iterable[tuple[str, str]], *, calls: Iterable[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Messages of Gemini CLI, two a turn. calls: of the last answer."""
    made: list[dict[str, Any]] = []
    for number, (prompt, answer) in enumerate(turns):
        at = "2026-07-22T07:%02d:%02d.000Z"
        made.append(
            {"id": "u%d" % number, "timestamp": at % (number, 1), "type": "user", "content": [{"text": prompt}]}
        )
        made.append({"id": "g%d" % number, "timestamp": at % (number, 9), "type": "gemini", "content": answer})
    made[-1]["toolCalls"] = list(calls)
    return made


def gemini_meta(session: str = "gem-1", **more: Any) -> dict[str, Any]:
    """The first line of a session of Gemini CLI."""
    times = {"startTime": "2026-07-22T07:00:00.000Z", "lastUpdated": "2026-07-22T07:00:00.000Z"}
    return {"sessionId": session, "projectHash": "abc", "kind": "main", **times, **more}


def database(path: Path, script: str, rows: Iterable[tuple[str, Iterable[object]]]) -> Path:
    """Write a database. rows: (statement, values)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as made, made:
        made.executescript(script)
        for statement, values in rows:
            made.execute(statement, tuple(values))
    return path


def value(fields: object) -> str:
    """A column of JSON."""
    return json.dumps(fields, ensure_ascii=False)
