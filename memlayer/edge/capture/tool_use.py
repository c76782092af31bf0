"""Record of a tool call in a few redacted lines.

The edited file, or the command and its output. A tool event's text begins with a line `<tool>: <target>`, `<tool>
failed: <target>` or `<tool> interrupted: <target>`. The target is a path, a command on one line, or a tool's input.
More lines hold the change, or head and tail of the output, but none of a command that shows a secret. The last one is
`took 3.4 s` where the host says so. The event's `detail` is the first line's part before the colon.
"""

from __future__ import annotations

import json

from memlayer.edge.capture.runs import text_of
from memlayer.edge.redaction.privacy import plain, redact_ends, strip_own_blocks
from memlayer.edge.redaction.secret_commands import answer_shows_secret, shows_secret

EDITS = ("Edit", "MultiEdit", "NotebookEdit", "Write")
KEPT = ("Bash", *EDITS)
MAX_CHARS = 1500
MAX_COMMAND_CHARS = 600
MAX_CHANGE_CHARS = 160
MAX_VALUES = 400  # of an input. More would not be shown
MAX_DEPTH = 20
MAX_TOOK_MS = 10**9  # more is no duration
TOOK = "took "
SEAM_CHARS = 16_000  # the host waits for a tool hook: looked at beyond each cut, and longer than any private key in use
CUT = "[…]"
NEWLINE = " ⏎ "

FAILED = "failed"
INTERRUPTED = "interrupted"

# Memlayer's own server repeats memories, which must not be captured again, and the host withholds the texts of its own
# server `memory` (2.1.332) from transcripts on purpose.
_WITHHELD = ("mcp__plugin_memlayer", "mcp__memlayer__", "mcp__memory__")


class ToolRules:
    """Tool calls to keep: by names or `name*`, and all that failed."""

    __slots__ = ("enabled", "kept")

    def __init__(self, enabled: bool = True, kept: tuple[str, ...] = KEPT) -> None:
        self.enabled = enabled
        self.kept = kept

    def keeps(self, detail: str) -> bool:
        """True if an event with this detail (`Bash`, `Edit failed`) is kept."""
        tool, _, outcome = detail.partition(" ")
        if not self.enabled or not tool or tool.startswith(_WITHHELD):
            return False
        return outcome == FAILED or matches(tool, self.kept)


# Rules of a hook without a daemon: it reads no settings, and the daemon drops unwanted calls.
EVERY_TOOL = ToolRules(kept=("*",))


def matches(tool: str, patterns: tuple[str, ...]) -> bool:
    """True if a tool's name fits a pattern: a name, or `name*`."""
    return any(tool == pattern or (pattern.endswith("*") and tool.startswith(pattern[:-1])) for pattern in patterns)


def tool_event(data: dict[object, object], failed: bool, rules: ToolRules) -> tuple[str, str]:
    """Return (text, detail) of a tool call; ("", "") to keep nothing."""
    tool = text_of(data, "tool_name")
    arguments, response = _dict(data.get("tool_input")), data.get("tool_response")
    outcome = FAILED if failed else ""
    if data.get("is_interrupt") is True or _dict(response).get("interrupted") is True:
        outcome = INTERRUPTED
    # A name is the host's, or an MCP server's: it must not pass for anything else.
    tool = "".join(char for char in tool[:120] if char.isalnum() or char in "_-.:")
    detail = ("%s %s" % (tool, outcome)).strip()
    if not rules.keeps(detail) or _is_own(text_of(arguments, "command")):
        return "", ""
    values = _Values()
    target, change = _target_and_change(tool, arguments, _dict(response), values)
    lines = ["%s: %s" % (detail, target)]
    if tool in EDITS and not failed:
        lines.append(change)
    elif not (
        shows_secret(text_of(arguments, "command")) or (values.words and answer_shows_secret(tool, values.words))
    ):
        lines.append(_short(text_of(data, "error") if failed else _output(response), MAX_CHARS))
    lines.append(_took(data.get("duration_ms")))
    text = "\n".join(line for line in lines if line.strip())
    return text.encode("utf-8", "replace").decode("utf-8"), detail


def without_secret_output(text: str) -> str:
    """Return a tool event's text without the output that shows a secret."""
    first, _, rest = text.partition("\n")
    detail, _, target = first.partition(": ")
    if not rest or detail.split(" ")[0] in EDITS or not shows_secret(target.replace(NEWLINE, "\n")):
        return text
    last = rest.rpartition("\n")[2]
    return "%s\n%s" % (first, last) if last.startswith(TOOK) else first


def _took(took_ms: object) -> str:
    """Return a call's last line: its duration, "" if unknown."""
    if isinstance(took_ms, bool) or not isinstance(took_ms, (int, float)) or not 0 <= took_ms < MAX_TOOK_MS:
        return ""
    return "%s%d ms" % (TOOK, took_ms) if took_ms < 1000 else "%s%.1f s" % (TOOK, took_ms / 1000)


def _target_and_change(
    tool: str, arguments: dict[object, object], response: dict[object, object], values: _Values
) -> tuple[str, str]:
    """Return (target, change) of a call."""
    if tool == "Bash":
        return _one_line(text_of(arguments, "command").strip(), MAX_COMMAND_CHARS), ""
    path = text_of(arguments, "file_path") or text_of(arguments, "notebook_path")
    if tool not in EDITS or not path:
        cleaned = values.cleaned(arguments)
        return _one_line(json.dumps(cleaned, ensure_ascii=False, default=str), MAX_COMMAND_CHARS), ""
    if tool == "Write":
        content = text_of(arguments, "content")
        lines = content.count("\n") + (content[-1:] not in ("", "\n"))
        return _short(path, MAX_COMMAND_CHARS), "%s, %d lines" % (text_of(response, "type")[:20] or "write", lines)
    edits = arguments.get("edits")
    first = _dict(edits[0]) if isinstance(edits, list) and edits else arguments
    change = []
    if isinstance(edits, list) and len(edits) > 1:
        change.append("%d edits" % len(edits))
    for sign, text in (
        ("-", text_of(first, "old_string")),
        ("+", text_of(first, "new_string") or text_of(first, "new_source")),
    ):
        if text.strip():
            change.append("%s %s" % (sign, _one_line(text.strip(), MAX_CHANGE_CHARS)))
    return _short(path, MAX_COMMAND_CHARS), "\n".join(change)


def _output(response: object) -> str:
    """Return the output or the answer of a call."""
    if isinstance(response, str):
        return response
    if isinstance(response, list):
        texts = [text_of(_dict(block), "text") for block in response]
        return "\n".join(text for text in texts if text)
    fields = _dict(response)
    outputs = [text_of(fields, name) for name in ("stdout", "stderr", "text", "result")]
    if any(outputs):
        return "\n".join(text.strip("\r\n") for text in outputs if text)
    return _output(fields["content"]) if isinstance(fields.get("content"), (str, list)) else ""


def _short(text: str, max_chars: int) -> str:
    """Redact text, then cut it: a cut secret is not found."""
    text = plain(text)
    head_chars = max_chars * 2 // 3
    head, tail = redact_ends(text, head_chars, max_chars - head_chars, SEAM_CHARS)
    head, tail = strip_own_blocks(head), strip_own_blocks(tail)
    return ("%s %s %s" % (head, CUT, tail) if tail else head).strip()


def _one_line(text: str, max_chars: int) -> str:
    """Return `_short`, line breaks made visible last: redaction needs them."""
    out = _short(text, max_chars).replace("\n", NEWLINE)
    if len(out) <= max_chars + len(CUT) + 2:
        return out
    head_chars = max_chars * 2 // 3
    return "%s %s %s" % (out[:head_chars].rstrip(), CUT, out[head_chars - max_chars :].lstrip())


class _Values:
    """A tool's input, redacted before JSON escapes it, and its words."""

    def __init__(self) -> None:
        self.left = MAX_VALUES
        self.words: list[str] = []

    def cleaned(self, value: object, depth: int = 0) -> object:
        """Return a redacted copy, without parts too deep or too many."""
        self.left -= 1
        if self.left < 0 or depth > MAX_DEPTH:
            return CUT
        if isinstance(value, str):
            self.words.append(value)
            return _short(value, MAX_COMMAND_CHARS)
        if isinstance(value, list):
            return [self.cleaned(item, depth + 1) for item in value[:MAX_VALUES]]
        if isinstance(value, dict):
            return {name: self.cleaned(value[name], depth + 1) for name in list(value)[:MAX_VALUES]}
        return value


def _is_own(command: str) -> bool:
    return "bin/memlayer" in command or command.lstrip().startswith("memlayer ")


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}
