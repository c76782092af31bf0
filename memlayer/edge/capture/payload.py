"""Read a hook's stdin into one captured event, redacted.

Pure, and used by both ends: the daemon reads the bytes that a hook forwarded, a hook without a daemon reads its own. A
captured event is a plain dict, because it goes to the spool as JSON (SPOOL_FIELDS).
"""

from __future__ import annotations

import json

from memlayer.edge import HOOKS
from memlayer.edge.capture import hosts
from memlayer.edge.capture.answers import asked, given
from memlayer.edge.capture.noise import is_noise, own_words
from memlayer.edge.capture.runs import run_of, text_of
from memlayer.edge.capture.spool import event_id
from memlayer.edge.home.project import here
from memlayer.edge.redaction.privacy import redact_ends, strip_own_blocks
from memlayer.edge.redaction.session_values import Heard

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from memlayer.edge.capture.tool_use import ToolRules

    _Content = tuple[str, str, str]

SPOOL_VERSION = 1
MAX_EVENT_CHARS = 400_000
KEPT_TAIL_CHARS = 100_000
NOISE_KEPT_CHARS = 200
_OUTPUT = "<bash-std"
_QUESTIONS = "AskUserQuestion"

# Fields of a spool file. All are strings but `v` and `at_ms`.
SPOOL_FIELDS = (
    "v", "id", "kind", "session_id", "prompt_id", "text", "at_ms", "source", "uuid", "detail", "project_dir",
    "transcript_path", "host",
)  # fmt: skip

# `detail` of a user event, so that recall and consolidation need not read the text again.
NOISE = "noise"  # generated, no person wrote it
COMMAND = "command"  # a slash command: kept, never recalled for
DIALOG = "dialog"  # the person's words in a dialog at a tool call, within a turn
OWN_COMMAND = "own_command"  # memlayer's own command: its answer repeats memories
RUN = "run"  # nobody typed it: found by a search, lays down nothing
IN_WORDS = ("", RUN)  # prompts, answers

_OWN_COMMANDS = ("/memlayer:", "/memory-")

NO_REPLY = "NO_REPLY"
_MARK = "memlayer asks, before this conversation is compacted:"
REQUEST = (
    _MARK + " if it has brought up facts, decisions, preferences or commitments that later sessions will need and that"
    ' you have not stored yet, store each of them now with the Bash command `memlayer remember "..."`: one sentence'
    " that can be understood without this conversation, with its exact names, values and paths, in the user's language;"
    " at most five. Then, or if there is nothing to store, answer with exactly " + NO_REPLY + " and nothing else."
)
_MOST_CHARS = len(NO_REPLY) + 8


class Payload:
    """A hook call. event: what to keep, or None; problem: why not."""

    def __init__(self) -> None:
        self.event: dict[str, object] | None = None
        self.problem = ""
        self.session_id = ""
        self.prompt = ""  # redacted. user_prompt_submit only
        self.prompt_id = ""
        self.source = ""  # session_start only
        self.model = ""  # session_start only, and not always
        self.is_continued = False  # stop only: a Stop hook had the model go on
        self.transcript_path = ""
        self.folder = ""  # of the project
        self.host = hosts.CLAUDE


def read_payload(hook: str, raw: bytes, *, project_dir: str, at_ms: int, tools: ToolRules | None = None) -> Payload:
    """Read a hook's payload. Never raises on any bytes.

    project_dir falls back to the payload's cwd; both may be of another machine. at_ms: Unix time of the call. tools:
    rules of the tool calls to keep. None: all that may be wanted.
    """
    payload = Payload()
    try:
        data, payload.host = hosts.read_fields(raw)
    except ValueError as bad:
        payload.problem = str(bad)
        return payload
    if data.get("failed") is True and hook == "post_tool_use":  # a host without a hook of its own for it
        hook = "post_tool_use_failure"
    session_id = payload.session_id = text_of(data, "session_id")
    payload.source = text_of(data, "source")
    payload.transcript_path = text_of(data, "transcript_path")
    payload.folder = here(project_dir) or here(text_of(data, "cwd"))
    payload.problem = _unplaced(payload, project_dir or text_of(data, "cwd"))
    if payload.problem:
        return payload
    kind = _kind(data, hook)
    if data.get("agent_id"):
        payload.problem = "sub-agent" if kind not in ("tool", "task") else ""  # a sub-agent calls hundreds of tools
        return payload
    prompt_id = payload.prompt_id = text_of(data, "prompt_id")
    field = HOOKS[hook].detail
    if field:
        payload.model = text_of(data, "model") if hook == "session_start" else ""
        prompt_id = ""
        detail = text_of(data, field)
        content: _Content | None = (run_of(data) if hook == "session_start" else "", detail, "%s %d" % (detail, at_ms))
    else:
        with Heard(session_id) as heard:
            content = _content(data, payload, hook, tools, at_ms, heard)
    if content is None:
        return payload
    text, detail, extra = content
    payload.event = spool_event(
        kind=kind,
        session_id=session_id,
        prompt_id=prompt_id,
        text=text,
        at_ms=at_ms,
        detail=detail,
        extra=extra,
        project_dir=payload.folder,
        transcript_path=payload.transcript_path,
        host=payload.host.name,
    )
    return payload


def _content(
    data: dict[object, object], payload: Payload, hook: str, tools: ToolRules | None, at_ms: int, heard: Heard
) -> _Content | None:
    """Return (text, detail, extra) of what was said or done, or None."""
    if heard.is_new and payload.transcript_path:
        from memlayer.edge.capture.earlier_prompts import learn

        heard.question = learn(payload.transcript_path)
    if hook == "user_prompt_submit":
        return _prompt(data, payload, heard)
    if hook == "stop":
        return _answer(data, payload, heard)
    return _task(data, hook, at_ms) if _kind(data, hook) == "task" else _tool_call(data, hook, tools, at_ms)


def _unplaced(payload: Payload, recorded: str) -> str:
    """Return why a call has no session or folder, else ""."""
    if not payload.session_id:
        return "no session_id"
    return "no folder of this machine: %.200s" % recorded if recorded and not payload.folder else ""


def _prompt(data: dict[object, object], payload: Payload, heard: Heard) -> tuple[str, str, str] | None:
    """Return (text, detail, extra) of a prompt; None with payload.problem."""
    prompt = own_words(text_of(data, "prompt"))
    if not prompt.strip():
        payload.problem = "empty prompt"
        return None
    text = clean(given(prompt, heard))
    if not text.strip():
        payload.problem = "nothing left of the prompt"  # an empty private span, or an own block alone
        return None
    detail = prompt_detail(prompt, is_run=bool(run_of(data)))
    if detail == NOISE:  # of a command that the person ran, its output may be a secret
        text = text[: text.find(_OUTPUT) + len(_OUTPUT) if _OUTPUT in text else NOISE_KEPT_CHARS][:NOISE_KEPT_CHARS]
    payload.prompt = text
    return text, detail, "" if payload.prompt_id else text


def _answer(data: dict[object, object], payload: Payload, heard: Heard) -> tuple[str, str, str] | None:
    """Return (text, detail, extra) of an answer; None with payload.problem."""
    payload.is_continued = data.get("stop_hook_active") is True
    if payload.is_continued and is_no_reply(text_of(data, "last_assistant_message")):
        payload.problem = "answer to memlayer itself"
        return None
    text = clean(text_of(data, "last_assistant_message"))
    heard.question = asked(text)
    if not text.strip():
        payload.problem = "no answer"  # the transcript has it. The next session start takes it from there
        return None
    return text, "", text if data.get("stop_hook_active") or not payload.prompt_id else ""


def _tool_call(
    data: dict[object, object], hook: str, tools: ToolRules | None, at_ms: int
) -> tuple[str, str, str] | None:
    """Return (text, detail, extra) of a tool call, or None."""
    from memlayer.edge.capture.answers import answers_given
    from memlayer.edge.capture.tool_use import EVERY_TOOL, tool_event

    if _kind(data, hook) == "user":
        text = clean(answers_given(data.get("tool_response")))
        return (text, DIALOG, text_of(data, "tool_use_id")) if text.strip() and data.get("tool_use_id") else None
    text, detail = tool_event(data, hook == "post_tool_use_failure", tools or EVERY_TOOL)
    return (text, detail, text_of(data, "tool_use_id") or "%s %d" % (text, at_ms)) if text else None


def _kind(data: dict[object, object], hook: str) -> str:
    if hook != "post_tool_use":
        return HOOKS[hook].kind
    from memlayer.edge.capture.task_use import TOOLS

    tool = text_of(data, "tool_name")
    return "user" if tool == _QUESTIONS else "task" if tool in TOOLS else HOOKS[hook].kind


def _task(data: dict[object, object], hook: str, at_ms: int) -> tuple[str, str, str] | None:
    """Return (text, detail, extra) of the host's own tasks, or None.

    A run's tasks are no work of the person's.
    """
    from memlayer.edge.capture.task_use import task_text

    text = "" if run_of(data) else task_text(hook, data, clean)
    return (text, "", text_of(data, "tool_use_id") or "%s %d" % (text, at_ms)) if text else None


def spool_event(
    *,
    kind: str,
    session_id: str,
    prompt_id: str,
    text: str,
    at_ms: int,
    detail: str = "",
    extra: str = "",
    project_dir: str = "",
    transcript_path: str = "",
    source: str = "hook",
    uuid: str = "",
    host: str = "",
) -> dict[str, object]:
    """Return an event as the spool holds it, prompt_id made if missing."""
    made = event_id(session_id, prompt_id, kind, extra)
    return {
        "v": SPOOL_VERSION,
        "id": made,
        "kind": kind,
        "session_id": session_id,
        "prompt_id": prompt_id or (made if kind in ("user", "assistant") else ""),
        "text": text,
        "at_ms": at_ms,
        "source": source,
        "uuid": uuid,
        "detail": detail,
        "project_dir": project_dir,
        "transcript_path": transcript_path,
        "host": host,
    }


def clean(text: str) -> str:
    """Return text as it may be kept, its length bounded.

    Without secrets, private spans and memlayer's own earlier blocks. Redacted before it is cut: a cut through a secret
    would hide it from the detectors.
    """
    head, tail = redact_ends(text, MAX_EVENT_CHARS - KEPT_TAIL_CHARS, KEPT_TAIL_CHARS)
    out = strip_own_blocks(head)
    if tail:
        left_out = len(text) - len(head) - len(tail)
        out = "%s\n[… %d characters left out …]\n%s" % (out, left_out, strip_own_blocks(tail))
    # A lone surrogate cannot be written as UTF-8.
    return out.encode("utf-8", "replace").decode("utf-8") if not out.isascii() else out


def prompt_detail(prompt: str, *, is_run: bool = False) -> str:
    """Return NOISE, COMMAND, OWN_COMMAND, RUN, or "" for a person's prompt."""
    start = prompt.lstrip()[:64]
    if start.startswith(_OWN_COMMANDS):
        return OWN_COMMAND
    is_generated = is_noise(prompt)
    if is_generated and not start.startswith("/"):
        return NOISE
    return RUN if is_run else COMMAND if is_generated else ""


def continuation() -> bytes:
    """Return the Stop hook's output that makes the model follow REQUEST."""
    return json.dumps({"decision": "block", "reason": REQUEST}).encode()


def is_request(text: str) -> bool:
    """True for the host's message that tells the model of REQUEST."""
    return _MARK in text[:400]


def is_no_reply(text: str) -> bool:
    """True for the answer NO_REPLY."""
    return len(text) <= _MOST_CHARS and text.strip(" \t\r\n`*\"'.").upper() == NO_REPLY
