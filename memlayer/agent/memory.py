"""The memory of a talk: its turns kept, notes for its prompts.

The events go into the spool first, redacted, as those of a hook without a daemon do. Then the daemon is told. Whatever
happens to the daemon, nothing is lost and the talk goes on.
"""

import contextlib
import json
import logging
import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memlayer.agent.execution import INTERRUPTED
from memlayer.chat import AssistantToolCalls, Chat, Message, ToolCall, ToolResult, ToolResults
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import NOISE, OWN_COMMAND, clean, read_payload
from memlayer.edge.home import paths
from memlayer.edge.home import project as places
from memlayer.edge.home.project_env import is_disabled
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.edge.ipc.client import Client
from memlayer.edge.redaction import own_patterns
from memlayer.errors import DaemonError, MemlayerError, UserError
from memlayer.model import Event, unix_ms
from memlayer.text.sentences import only_asks
from memlayer.text.terms import index_terms
from memlayer.wire.tools import TalkStep, Turn

# Tools are stored under the names that the host has for them, so that summaries and rules know them.
HOST_NAMES = {"shell": "Bash", "write_file": "Write", "edit_file": "Edit"}
HOST_ARGUMENTS = {"path": "file_path", "old_text": "old_string", "new_text": "new_string"}
_OWN_NAMES = {host: own for own, host in HOST_NAMES.items()}
_ARGUMENTS = {"shell": "command", "write_file": "path", "edit_file": "path"}
_NOT_STORED = "(The output is not stored.)"
ASK_S = 5.0
AT_CALL_S = 0.3  # a tool call waits so long for a line about it
MAX_ERROR_CHARS = 4000
PROBE_S = 3.0
PROBE_AGAIN_S = 2.0  # after a probe without an answer
START_AGAIN_S = 30.0  # after a daemon that did not come
_log = logging.getLogger("memlayer.agent")
# In the daemon's sentences: the head of a block, the rest of the rules, the end of a search, a text that goes on.
_HOST_TOOL = re.compile(
    r"(?m)(?<=; )mem-(search)(?= finds more\.$)|(?<=, found by )mem-(?P<rest>search)(?=\.$)|"
    r"(?<=; )mem-(?P<opens>details)(?= opens it, mem-search finds more\.$)|"
    r"(?<=; mem-details opens it, )mem-(?P<finds>search)(?= finds more\.$)|"
    r"(?<=: )mem-(?P<older>search)(?= finds them\.$)|"
    r"(?<=^Open with )mem-(?P<open>details)|(?<=^Open with mem-details, look around with )mem-(?P<around>timeline)|"
    r"(?<= characters more: )mem-(?P<more>details)(?= with from=)"
)
COMPACT_S = 60.0  # the turns of a long talk are consolidated first
FAILED = "Execution error: %s"  # in the place of an answer
QUOTED_SHARE = 0.7  # of an answer's terms
# Memories would be captured again. Files are there.
READS = ("memory_search", "memory_details", "memory_timeline")
NOT_KEPT = (*READS, "memory_remember", "read_file")


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


class DaemonLine:
    """Calls of one talk, with a circuit breaker. Thread-safe.

    After M. Nygard, Release It! (2007): after a failure the daemon is asked when it has answered a probe. One that
    hangs costs a talk one wait. Events that it was not told of are in the spool.
    client: makes a new one. Threads share none. starts: False for a talk that starts no daemon.
    """

    def __init__(self, client: Callable[[], Client], *, starts: bool = True) -> None:
        self._client, self._starts = client, starts
        self._started_s = -START_AGAIN_S
        self._problem = ""
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._prober: threading.Thread | None = None

    def call(
        self, op: str, fields: Mapping[str, object], *, project_dir: str, deadline_s: float = ASK_S
    ) -> dict[str, Any]:
        """Return the daemon's reply.

        Raises DaemonError, at once after a failure until a probe in the background was answered. A call that may take
        longer than ASK_S begins with a short one: a daemon that hangs is found by that.
        """
        if self._problem:
            self._probe_on()
            raise DaemonError(self._problem)
        try:
            if deadline_s > ASK_S:
                self._call("status", {}, ASK_S)
            return self._call(op, fields, deadline_s, project_dir)
        except DaemonError as bad:
            self._problem = str(bad)
            self._probe_on()
            raise

    def close(self) -> None:
        """Probe no more."""
        self._closed.set()

    def _call(self, op: str, fields: Mapping[str, object], deadline_s: float, project_dir: str = "") -> dict[str, Any]:
        is_due = time.monotonic() - self._started_s > START_AGAIN_S
        try:
            return self._client().call(
                op, fields, deadline_s=deadline_s, project_dir=project_dir, start=self._starts and is_due
            )
        except DaemonError:
            self._started_s = time.monotonic() if is_due else self._started_s
            raise

    def _probe_on(self) -> None:
        with self._lock:
            if self._prober is None and not self._closed.is_set():
                self._prober = threading.Thread(target=self._probe, name="probes of the daemon", daemon=True)
                self._prober.start()

    def _probe(self) -> None:
        while self._problem and not self._closed.is_set():
            try:
                self._call("status", {}, PROBE_S)
                self._problem = ""
            except MemlayerError:
                self._closed.wait(PROBE_AGAIN_S)
        with self._lock:
            self._prober = None


@dataclass(frozen=True)
class Survivors:
    """Texts that a compaction must leave in the context, verbatim.

    orders: a block, "" for none. constraints: preferences and decisions that the person stated in this talk.
    """

    orders: str = ""
    constraints: tuple[str, ...] = ()


@dataclass
class TalkMemory:
    """The memory of one talk.

    client: makes a new one. Threads share none. starts: whether it starts a daemon. is_on: False for a talk without
    memory. keeps: whether its turns are stored. session_id: begins with AGENT_SESSION. context: the notes that the last
    prompt was given. problem: why the last turn was not kept or memory was silent, notice: about its health. One line
    each, or "".
    on_recalled: called with the notes of each prompt.
    """

    home: str
    project_dir: str
    client: Callable[[], Client]
    is_on: bool = True
    keeps: bool = True
    starts: bool = True
    session_id: str = field(default_factory=lambda: AGENT_SESSION + uuid.uuid4().hex[:12])
    context: str = ""
    on_recalled: Callable[[str], None] = lambda _: None
    problem: str = ""
    notice: str = ""
    prompt_id: str = ""
    _prompt: str = ""
    _calls: int = 0
    _found: str = ""  # by calls of the memory in this turn

    def __post_init__(self) -> None:
        self._line = DaemonLine(self.client, starts=self.starts)
        if is_disabled(os.environ.get("MEMLAYER_DISABLE")) or not places.enabled(self.project_dir):
            self.is_on = False
        own_patterns.use_file(paths.own_patterns(self.home))

    def start(self, *, is_resumed: bool = False, model: str = "") -> str:
        """Begin the talk; return the working set, "" for none."""
        event = self._keep("session_start", source="resume" if is_resumed else "startup", model=model)
        step = self._tell("start", event, model=model)
        self.notice = step.notice
        return _notes(step)

    def recall(self, prompt: str) -> str:
        """Keep a prompt; return the notes for it, "" for none."""
        self.prompt_id, self._prompt, self._calls, self._found, self.problem = uuid.uuid4().hex, prompt, 0, "", ""
        event = self._keep("user_prompt_submit", prompt=prompt)
        self.context = _notes(self._tell("prompt", event))
        self.on_recalled(self.context)
        return self.context

    def advice(self, call: ToolCall, result: ToolResult) -> str:
        """Return the line on a call that failed before, "" for none."""
        if call.name in NOT_KEPT:
            return ""
        name, arguments = self._as_host(call)
        sent = {"input": arguments, "error": result.text[:MAX_ERROR_CHARS] if result.is_error else ""}
        event = {"text": json.dumps(sent, ensure_ascii=False), "detail": name, "at_ms": unix_ms()}
        return self._tell("call", event, deadline_s=AT_CALL_S).context

    def _as_host(self, call: ToolCall) -> tuple[str, dict[str, Any]]:
        """Return a call's tool and arguments as the host names them."""
        name, arguments = HOST_NAMES.get(call.name, call.name), dict(call.arguments)
        if _ARGUMENTS.get(call.name) == "path":
            arguments = {HOST_ARGUMENTS.get(key, key): value for key, value in arguments.items()}
            arguments["file_path"] = os.path.join(self.project_dir, str(arguments.get("file_path", "")))
        return name, arguments

    def called(self, call: ToolCall, result: ToolResult) -> None:
        """Keep a tool call of this turn, in short."""
        if call.name in NOT_KEPT:
            self._found += result.text + "\n" if call.name in READS else ""
            return
        self._calls += 1
        name, arguments = self._as_host(call)
        fields: dict[str, Any] = {"tool_name": name, "tool_input": arguments, "tool_use_id": str(self._calls)}
        if result.is_error:
            is_interrupt = result.text == INTERRUPTED
            self._keep("post_tool_use_failure", error=result.text, is_interrupt=is_interrupt, **fields)
        else:
            self._keep("post_tool_use", tool_response={"stdout": result.text}, **fields)

    def end(self, answer: str, *, failure: str = "", tokens: int = 0) -> None:
        """End the turn with its answer. tokens: in the model's context.

        failure: of the model, without an answer. Such a turn is no memory, nor is a question whose answer quotes the
        memory.
        """
        detail = ""
        if failure and not answer and not self._calls:
            answer, detail = FAILED % failure, NOISE
        elif not self._calls and only_asks(self._prompt) and _share(answer, self._found) >= QUOTED_SHARE:
            detail = OWN_COMMAND
        self._tell("end", self._keep("stop", detail=detail, last_assistant_message=answer), tokens=tokens)

    def survivors(self) -> Survivors:
        """Consolidate the talk so far; return the texts to keep."""
        return self.compacted("")

    def compacted(self, summary: str, *, kept: Collection[str] = ()) -> Survivors:
        """Store the summary of a compaction. See survivors.

        kept: prompt ids of the turns that stay in the context. Without a daemon the summary is not stored, and a
        resumed talk has all of its turns.
        """
        event: dict[str, Any] | None = {"detail": "compact", "at_ms": unix_ms()}
        if summary:
            event = self._keep("session_start", source="compact")
        step = self._tell("compact", event, deadline_s=COMPACT_S, text=clean(summary), kept=tuple(kept))
        return Survivors(with_own_tools(step.orders), tuple(step.constraints))

    def finish(self, reason: str = "exit") -> None:
        """End the talk: the daemon settles it and writes its summary."""
        self._tell("finish", self._keep("session_end", reason=reason))
        self._line.close()

    def resume(self, session_id: str) -> PastTalk:
        """Resume a talk, "" for the last. Raises UserError, DaemonError."""
        return self._past("history", session_id)

    def undo(self) -> PastTalk:
        """Undo the talk's last compaction. Raises as resume does."""
        return self._past("undo", self.session_id)

    def _past(self, phase: str, session_id: str) -> PastTalk:
        if not self.is_on:
            raise DaemonError("memory is switched off here, so no talk is known")
        arguments = Turn(phase=phase, session_id=session_id, project_dir=self.project_dir)
        answer = self._ask(arguments, COMPACT_S)
        self.session_id = answer.session_id
        return PastTalk(self.session_id, answer.summary, turns_of(answer.events))

    def _keep(self, hook: str, *, detail: str = "", **fields: Any) -> dict[str, Any] | None:
        """Put an event into the spool, redacted; None for none."""
        if not self.is_on:
            return None
        payload = {"session_id": self.session_id, "prompt_id": self.prompt_id, "cwd": self.project_dir, **fields}
        raw = json.dumps(payload).encode()
        event = read_payload(hook, raw, project_dir=self.project_dir, at_ms=unix_ms()).event
        if event is not None and detail:
            event["detail"] = detail
        if event is not None and self.keeps:
            try:
                spool.put(self.home, event)
            except OSError as bad:
                self.problem = f"this turn is not kept: {bad.strerror}"
        return event

    def _tell(self, phase: str, event: dict[str, Any] | None, *, deadline_s: float = ASK_S, **fields: Any) -> TalkStep:
        """Tell the daemon of an event; {} where it does not answer."""
        if event is None or not self.is_on:
            return TalkStep()
        fields = {"text": event.get("text", ""), "prompt_id": event.get("prompt_id", ""), **fields}
        step = Turn(
            phase=phase,
            session_id=self.session_id,
            detail=event["detail"],
            at_ms=event["at_ms"],
            project_dir=self.project_dir,
            **fields,
        )
        try:
            return self._ask(step, deadline_s)
        except MemlayerError as bad:
            self.problem = str(bad)
            return TalkStep()

    def _ask(self, step: Turn, deadline_s: float) -> TalkStep:
        """Return the daemon's answer. Raises MemlayerError; see DaemonLine."""
        reply = self._line.call(step.op, step.fields(), project_dir=self.project_dir, deadline_s=deadline_s)
        return step.read_answer(reply)

    def told(self, tool: str, arguments: Mapping[str, object]) -> str:
        """Return the answer of a tool of the server. Raises MemlayerError."""
        if not self.is_on:
            raise UserError("Memory is switched off in this talk")
        sent = {**arguments, "project_dir": self.project_dir, "session_id": self.session_id}
        return with_own_tools(self._line.call(tool.replace("-", "."), sent, project_dir=self.project_dir)["text"])


@contextlib.contextmanager
def memory_outlived() -> Iterator[None]:
    """Log a failure of the memory, which ends no turn."""
    try:
        yield
    except BrokenPipeError:  # of whoever reads the talk, who is told of the notes here
        raise
    except (MemlayerError, OSError) as bad:
        _log.warning("memory failed, and the talk goes on: %s", bad)


def with_own_tools(text: str) -> str:
    """Name this agent's tools where the daemon names those of the host.

    Only in the daemon's own sentences: texts of memories stay as they are.
    """
    return _HOST_TOOL.sub(lambda match: "memory_" + str(match[match.lastindex or 0]), text)


def _share(answer: str, found: str) -> float:
    """Return the share of an answer's terms that stand in found texts."""
    terms = set(index_terms(answer).split())
    return len(terms.intersection(index_terms(found).split())) / len(terms) if terms else 0.0


def _notes(step: TalkStep) -> str:
    return with_own_tools(step.context)
