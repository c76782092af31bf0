"""Turns of the host's transcript: prompts, answers and compactions.

Facts about the format (2.1.197 and later) that decide the code:

* Only the top-level `type` names the kind of a record. Newer hosts embed whole API messages in other records.
* One API message is several lines, one per content block, with one `message.id`.
* `user` records are also tool results, command bodies, summaries and notifications. Answers carry no prompt id.
* Words of the person in a dialog at a tool call stand in the record of its result. See dialogs.py.
* A prompt typed while the model works is an `attachment` of type `queued_command` inside the running turn.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, NamedTuple

from memlayer.edge.capture.answers import answers_given, quoted
from memlayer.edge.capture.noise import is_noise, own_words
from memlayer.edge.capture.payload import is_request
from memlayer.edge.capture.runs import run_of
from memlayer.text.word_lists import words
from memlayer.transcripts.lines import Tally, blocks_of, open_transcript, read_records, string

# The person's words in dialogs at a call. The host's own fields say who spoke: the same in a tool's output counts for
# nothing.
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

_COMMAND_NAME = re.compile(r"<command-name>\s*(/?[^<\s]+)\s*</command-name>")
_COMMAND_WORDS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Origins of `user` records not by people. `human`, `channel`, `remote` and the like are people.
_MACHINE_ORIGINS = frozenset(
    words(
        """
        task-notification auto-continuation plugin peer observer observer-activity coordinator
        scheduled-trigger teammate
        """
    )
)

TOOL_RESULT = "tool results"
GENERATED = "commands and generated"

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


def may_be_of_server(record: _Json, call: DialogCall) -> bool:
    """True where a server of tools may have written a refusal.

    It chooses the text of its errors. The next answer tells which of its tools ran last (2.1.197).
    """
    return call.tool.startswith("mcp__") and "toolDenialKind" not in record


def is_of_server(answer: _Json, call: DialogCall) -> bool:
    """True unless the answer behind a call shows that none ran."""
    message = answer.get("message")
    is_models = isinstance(message, dict) and message.get("model") != "<synthetic>"
    ran, called = (re.sub(r"[\W_]", "", name) for name in (string(answer, "attributionMcpTool"), call.tool))
    return not is_models or answer.get("isSidechain") is True or bool(ran and called.endswith(ran))


def _refusal(record: _Json, block: _Json, call: DialogCall) -> tuple[bool, str]:
    """Return (whether the person refused a call, their words)."""
    content, result = string(block, "content"), string(record, "toolUseResult")
    if "toolDenialKind" in record:
        holds_words = record.get("holdsPersonsWords") is True  # also where another program shows the dialog
        is_refused = holds_words or record["toolDenialKind"] == "user-rejected"
        words = string(record, "userFeedback") or (content.removeprefix(_WITH_WORDS) if holds_words else "")
    elif result == _WITHOUT_WORDS:
        return True, ""
    else:
        is_refused = content.startswith(_WITH_WORDS)
        words = content[len(_WITH_WORDS) :].partition(_HOST_NOTE)[0]
    return is_refused, words if is_refused and not words.startswith(_CLARIFY) else ""


class TranscriptRecord(NamedTuple):
    """A prompt, an answer or a compaction.

    kind: user | assistant | compact. prompt_id groups an answer with its prompt. It is "" for a compaction. command:
    for an answer to a slash command, its name with the slash, else "". at_ms: Unix time, 0 if unknown. resume_offset:
    byte offset of the start of the turn. Reading again from there yields this turn anew, complete. call_id: of
    the tool call at whose dialog the person said it, "" for a prompt. is_run: nobody typed this prompt. is_further:
    a prompt within the turn of another.
    """

    kind: str
    text: str
    prompt_id: str
    uuid: str
    session_id: str
    at_ms: int
    cwd: str
    command: str
    resume_offset: int
    call_id: str = ""
    is_run: bool = False
    is_further: bool = False


@dataclass(slots=True)
class _Answer:
    """The last API message with text in the running turn."""

    message_id: str
    blocks: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    record: _Json = field(default_factory=dict)


@dataclass(slots=True)
class _Turn:
    prompt_id: str
    start: int
    command: str = ""
    typed: TranscriptRecord | None = None  # a command and the words behind it. The host's own commands get no answer
    calls: dict[str, DialogCall] = field(default_factory=dict)
    doubtful: list[TranscriptRecord] = field(default_factory=list)  # words that a server of tools may have written
    is_over: bool = False  # later answers are to memlayer's own request, not to the user
    answer: _Answer | None = None


def read_turns(path: str, *, start_offset: int = 0, tally: Tally | None = None) -> Iterator[TranscriptRecord]:
    """Yield the records in file order, an answer after its turn.

    So the answer of a turn that an automatic compaction ran into comes after that compaction.
    start_offset: 0 or the resume_offset of an earlier record. The conversation of a sub-agent
    is left out. tally: counts the records left out. Only complete lines count. A file that does not exist
    yields nothing. Other OSErrors are raised. Memory is bounded (see lines.py).
    """
    tally = tally or Tally()
    try:
        file = open_transcript(path)  # only its absence is forgiven
    except FileNotFoundError:
        return
    with file:
        yield from _turns(file, start_offset, tally)


def _turns(file: BinaryIO, start_offset: int, tally: Tally) -> Iterator[TranscriptRecord]:
    turn: _Turn | None = None
    for offset, record in read_records(file, start_offset, tally):
        kind = record.get("type")
        if kind == "user":
            machine = _machine_record(record)
            text = None if machine else _prompt_text(record)
            if text is None:
                tally.passes(machine or TOOL_RESULT)
                if turn is not None and machine in ("", TOOL_RESULT) and not turn.is_over:
                    for call_id, said in said_at_calls(record, turn.calls):
                        told = _make("user", said, turn.prompt_id, record, "", turn.start)._replace(call_id=call_id)
                        if may_be_of_server(record, turn.calls[call_id]):
                            turn.doubtful.append(told)
                        else:
                            yield told
                if turn is not None and record.get("isMeta") is True and is_request(_prompt_text(record) or ""):
                    turn.is_over = True
                continue
            prompt_id = _prompt_id(record)
            human = not is_noise(text) and not _has_machine_origin(record)
            if not human:
                tally.passes(GENERATED)
            if not human and turn is not None and turn.prompt_id == prompt_id:
                continue  # an interrupt or a command's output inside the running turn
            yield from _close(turn)
            command = _COMMAND_NAME.search(text) if not human else None
            turn = _Turn(prompt_id, offset, command.group(1) if command else "")
            behind = _COMMAND_WORDS.search(text) if command and not _has_machine_origin(record) else None
            if behind and behind.group(1).strip():
                typed = "/%s %s" % (turn.command.lstrip("/"), behind.group(1).strip())
                turn.typed = _make("user", typed, prompt_id, record, "", offset)
            if human:
                yield _make("user", text, prompt_id, record, "", offset)
        elif kind == "assistant":
            if turn is not None and not turn.is_over:
                yield from (told for told in turn.doubtful if not is_of_server(record, turn.calls[told.call_id]))
                turn.doubtful.clear()
                turn.calls.update(calls_in(record))
                _add_answer(turn, record)
        elif kind == "attachment":
            text = _queued_prompt(record)
            if text is not None:
                # It has an id of its own. The answer stays with the prompt that the turn began with.
                yield _make("user", text, _prompt_id(record), record, "", turn.start if turn else offset)
        elif kind == "system" and record.get("subtype") == "compact_boundary":
            metadata = record.get("compactMetadata")
            if isinstance(metadata, dict) and metadata.get("trigger") == "manual":
                yield from _close(turn)  # the person typed it, so the turn before it is over
                turn = None
            yield _make("compact", "", "", record, "", turn.start if turn else offset)
    yield from _close(turn)


def _machine_record(record: _Json) -> str:
    """Return the kind of a `user` record outside the conversation, else ""."""
    if record.get("isSidechain") is True:
        return "sub-agents"
    if record.get("isCompactSummary") is True:
        return "summaries"
    if record.get("isMeta") is True or record.get("isVisibleInTranscriptOnly") is True:
        return GENERATED
    return TOOL_RESULT if "toolUseResult" in record or "sourceToolAssistantUUID" in record else ""


def _has_machine_origin(record: _Json) -> bool:
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind in _MACHINE_ORIGINS or record.get("promptSource") == "system"


def _prompt_text(record: _Json) -> str | None:
    """Return the text of a `user` record, None for tool results."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    return _content_text(content)


def _content_text(content: object) -> str | None:
    """Return a prompt's own words, None for tool results."""
    if isinstance(content, str):
        return own_words(content)
    if not isinstance(content, list):
        return None
    blocks = [block for block in content if isinstance(block, dict)]
    if any(block.get("type") == "tool_result" for block in blocks):
        return None
    texts = [block.get("text") for block in blocks if block.get("type") == "text"]
    return own_words("\n".join(text for text in texts if isinstance(text, str))) if texts else None


def _queued_prompt(record: _Json) -> str | None:
    """Return the text of a prompt typed while the model worked."""
    attachment = record.get("attachment")
    if record.get("isSidechain") is True or not isinstance(attachment, dict):
        return None
    if attachment.get("type") != "queued_command" or attachment.get("isMeta") is True:
        return None
    if attachment.get("commandMode", "prompt") != "prompt" or _has_machine_origin(attachment):
        return None
    text = _content_text(attachment.get("prompt"))
    return None if text is None or is_noise(text) else text


def _prompt_id(record: _Json) -> str:
    """Return the host's prompt id, or before 2.1.196 the record's own id."""
    value = string(record, "promptId") if record.get("type") == "user" else ""
    return value or string(record, "uuid")


def _add_answer(turn: _Turn, record: _Json) -> None:
    message = record.get("message")
    if record.get("isSidechain") is True or record.get("isApiErrorMessage") is True:
        return
    if not isinstance(message, dict) or message.get("model") == "<synthetic>":
        return  # the host's own words: "No response requested."
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [block.get("text") for block in blocks if isinstance(block, dict) and block.get("type") == "text"]
    spoken = [text for text in texts if isinstance(text, str) and text.strip()]
    if not spoken:
        return
    uuid = string(record, "uuid")
    message_id = string(message, "id") or uuid
    if turn.answer is None or turn.answer.message_id != message_id:
        turn.answer = _Answer(message_id)
    if uuid and uuid in turn.answer.seen:
        return
    turn.answer.seen.add(uuid)
    turn.answer.blocks += spoken
    turn.answer.record = record


def _close(turn: _Turn | None) -> Iterator[TranscriptRecord]:
    if turn is not None and turn.answer is not None:
        if turn.typed is not None:
            yield turn.typed
        text = "\n\n".join(turn.answer.blocks)
        yield _make("assistant", text, turn.prompt_id, turn.answer.record, turn.command, turn.start)


def _make(kind: str, text: str, prompt_id: str, record: _Json, command: str, offset: int) -> TranscriptRecord:
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be written again
    return TranscriptRecord(
        kind=kind,
        text=text,
        prompt_id=prompt_id,
        uuid=string(record, "uuid"),
        session_id=string(record, "sessionId"),
        at_ms=at_ms_of(string(record, "timestamp")),
        cwd=string(record, "cwd"),
        command=command,
        resume_offset=offset,
        is_run=kind == "user" and bool(run_of(record)),
    )


def at_ms_of(stamp: str) -> int:
    """Return a timestamp's Unix time in ms; 0 if it is none."""
    try:
        at = datetime.fromisoformat(stamp)
    except ValueError:
        return 0
    return max(0, (at.replace(tzinfo=at.tzinfo or UTC) - EPOCH) // timedelta(milliseconds=1))
