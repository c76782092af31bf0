"""Facts of a Codex call that its payload lacks, from its rollout.

A rollout's first record names the session's beginner. The record of a command stands there before the hook that tells
of it runs, with the exit code; other tools have theirs in the output.
"""

from __future__ import annotations

import json
import re

from memlayer.edge.home import paths

UNTYPED = ("exec", "mcp")  # `source` of a session that a program begins
EXIT = r"(?m)^(?:Process exited with code|Exit code:) (-?\d+)"
_SOURCE = rb'"source":\s*"(\w+)"'
HEAD_BYTES = 4_096
TAIL_BYTES = 262_144  # a command's record holds its output


def facts(data: dict[object, object]) -> dict[str, object]:
    """Return `entrypoint` of a run, `failed` and `error` of a failed call."""
    path = str(data.get("transcript_path") or "")
    found: dict[str, object] = {}
    if data.get("tool_name") is None:
        told = re.search(_SOURCE, paths.read_start(path, HEAD_BYTES))
        if told and told[1].decode() in UNTYPED:
            found["entrypoint"] = told[1].decode()
    elif "tool_response" in data:
        output = data["tool_response"]
        if _has_failed(output, str(data.get("tool_use_id") or ""), path):
            found["failed"], found["error"] = True, output if isinstance(output, str) else json.dumps(output)
    return found


def _has_failed(output: object, call_id: str, path: str) -> bool:
    if isinstance(output, dict):
        return output.get("isError") is True or output.get("success") is False
    code = re.search(EXIT, str(output)[:400])
    if code:
        return code[1] != "0"
    mark = json.dumps(call_id).encode()
    for line in reversed(paths.read_end(path, TAIL_BYTES).splitlines()) if call_id else ():
        if mark in line and b'"exit_code"' in line:
            try:
                item = json.loads(line)["payload"]["item"]
            except (ValueError, RecursionError, LookupError, TypeError):
                continue
            if isinstance(item, dict) and item.get("id") == call_id:
                return item.get("exit_code") not in (0, None)
    return False
