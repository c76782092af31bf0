"""Hosts: names of their events, fields and tools, a row each.

Whoever calls our hooks is a host. `sh hooks/run <event> <name>` names it; one that runs hooks of Claude Code's
settings is known by a field of its own. Seen: Codex 0.171 run; VS Code and Cursor by their documents and threads.
"""

from __future__ import annotations

import json

from memlayer.edge import HOOKS
from memlayer.edge.capture import rollout

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FIELD = "host"  # of a payload: the name that the hook was called with (edge.hook.main)
_START, _PROMPT, _SUBAGENT = "session_start", "user_prompt_submit", "subagent_start"
_BEFORE, _AFTER, _FAILED, _STOP = "pre_tool_use", "post_tool_use", "post_tool_use_failure", "stop"
_CAMEL = {
    "session_id": "sessionId", "transcript_path": "transcriptPath", "tool_name": "toolName", "tool_input": "toolInput",
    "tool_response": "toolResponse", "tool_use_id": "toolUseId", "agent_id": "agentId", "agent_type": "agentType",
    "last_assistant_message": "lastAssistantMessage", "stop_hook_active": "stopHookActive",
}  # fmt: skip
_TOOLS = "^(Bash|apply_patch|mcp__.*)$"

# Those that call no hook: their sessions are imported (transcripts.sources).
_IMPORTED = {
    "gemini": "Gemini CLI", "opencode": "OpenCode", "copilot": "Copilot CLI", "claude-ai": "claude.ai",
    "chatgpt": "ChatGPT",
}  # fmt: skip


class Host:
    """A host.

    name: kept with its sessions, "" for Claude Code. signs: fields that no other sends. fields: ours -> theirs. reads:
    hooks whose context reaches the model. plain: hooks whose output is plain text. limit_chars, limit_bytes: of a
    context; longer ones become a file. facts: more fields of a call, from its transcript. own_tools: named as ours.
    reader: of its transcripts (transcripts.sources), which name turns as the hooks do; "" for none. measures: they tell
    the size of the context. commands: how a person calls memlayer there. hooks: event -> (our hook,
    matcher, seconds at most), as registered in its file `config`.
    """

    name = ""
    title = ""
    signs: tuple[str, ...] = ()
    fields: Mapping[str, str] = {}
    reads: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    limit_chars = 10_000
    limit_bytes = 0
    facts: Callable[[dict[Any, Any]], dict[str, object]] | None = None
    own_tools = False
    reader = ""
    measures = False
    commands = "memlayer "
    config = ""
    hooks: Mapping[str, tuple[str, str, int]] = {}

    def __init__(self, **row: Any) -> None:
        self.__dict__.update(row)

    def output(self, hook: str, context: str, notice: str = "") -> bytes:
        """Return a hook's output: JSON, or nothing.

        context: for the model. notice: a line for the person.
        """
        if hook in self.plain:
            return " ".join(context.split())[: self.limit_chars].encode("utf-8", "replace")
        out: dict[str, object] = {}
        if context and hook in self.reads:
            told = {"hookEventName": HOOKS[hook].event, "additionalContext": self._within_limit(context)}
            out["hookSpecificOutput"] = told
        if notice and HOOKS[hook].tells:
            out["systemMessage"] = notice.replace("/memlayer:memory-", self.commands)
        return json.dumps(out).encode() if out else b""

    def _within_limit(self, context: str) -> str:
        raw = context.encode("utf-8", "replace")
        if not self.limit_bytes or len(raw) <= self.limit_bytes:
            return context[: self.limit_chars]
        cut = raw[: self.limit_bytes].decode("utf-8", "ignore")
        return cut.rpartition("\n")[0] or cut


CLAUDE = Host(
    title="Claude Code", reads=(_START, _PROMPT, _SUBAGENT, _BEFORE, _FAILED), plain=("pre_compact",), own_tools=True,
    reader="claude", measures=True, commands="/memlayer:memory-",
)  # fmt: skip
CODEX = Host(
    name="codex", title="Codex", reads=(_START, _PROMPT, _SUBAGENT, _BEFORE, _AFTER), fields={"prompt_id": "turn_id"},
    limit_bytes=10_000,  # 2,500 of its tokens, which are four bytes each
    facts=rollout.facts, reader="codex", config="${CODEX_HOME:-~/.codex}/hooks.json",
    hooks={
        "SessionStart": (_START, "", 10), "UserPromptSubmit": (_PROMPT, "", 10), "PreToolUse": (_BEFORE, _TOOLS, 10),
        "PostToolUse": (_AFTER, _TOOLS, 10), "PreCompact": ("pre_compact", "", 10),
        "PostCompact": ("post_compact", "", 10), "SubagentStart": (_SUBAGENT, "", 10), "Stop": (_STOP, "", 10),
        "Interrupt": (_STOP, "", 3), "SessionEnd": ("session_end", "", 3),
    },
)  # fmt: skip
VSCODE = Host(
    name="vscode", title="VS Code", signs=("sessionId", "hookEventName"), fields=_CAMEL, reads=(_START, _BEFORE, _AFTER)
)
CURSOR = Host(
    name="cursor", title="Cursor", signs=("conversation_id", "generation_id", "workspace_roots"), reads=(_START,),
    fields={
        "session_id": "conversation_id", "prompt_id": "generation_id", "cwd": "workspace_roots",
        "tool_response": "tool_output",
    },
)  # fmt: skip
HOSTS = {host.name: host for host in (CLAUDE, CODEX, VSCODE, CURSOR)}
HOSTS |= {name: Host(name=name, title=title) for name, title in _IMPORTED.items()}


def named(name: str) -> Host:
    """Return the host of a kept name."""
    return HOSTS.get(name, CLAUDE)


def host_of(data: Mapping[Any, object]) -> Host:
    """Return the host that sent a payload."""
    told = data.get(FIELD)
    if isinstance(told, str) and told in HOSTS:
        return HOSTS[told]
    return next((host for host in HOSTS.values() if any(sign in data for sign in host.signs)), CLAUDE)


def read_fields(raw: bytes) -> tuple[dict[Any, Any], Host]:
    """Return a payload's fields under our names, and its host. Raises ValueError."""
    try:
        data = json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise ValueError("stdin is not JSON (%d bytes)" % len(raw)) from None
    if not isinstance(data, dict):
        raise ValueError("stdin is not a JSON object")
    host = host_of(data)
    for ours, theirs in host.fields.items():
        value = data.get(theirs)
        if isinstance(value, list) and theirs == "workspace_roots":
            value = value[0] if value else None
        if value is not None and not data.get(ours):
            data[ours] = value
    if host.facts is not None:
        data.update(host.facts(data))
    if not host.own_tools and isinstance(data.get("tool_name"), str):
        from memlayer.edge.capture.tool_names import as_ours

        named_so = next(as_ours(data["tool_name"], data.get("tool_input"), str(data.get("cwd") or "")), None)
        if named_so is not None:
            data["tool_name"], data["tool_input"] = named_so
    return data, host
