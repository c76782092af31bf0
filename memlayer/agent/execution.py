"""Execution of a model's tool calls: permission, time limits, repeats.

A call never raises into the talk: what goes wrong with it is its result, marked as an error, which the model reads.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

from memlayer.chat import ToolCall, ToolResult, ToolSpec
from memlayer.errors import MemlayerError, ToolError

MAX_OUTPUT_CHARS = 10_000
TIME_LIMIT_S = 120.0
INTERRUPTED = "Interrupted by the user."
NOT_STARTED = "Not started: the user interrupted an earlier call."
REPEATED = "\n[Note: the same calls gave the same results three times. Do something else, or answer.]"

_log = logging.getLogger("memlayer.agent")


class Tool(Protocol):
    """A tool that a model may call."""

    @property
    def name(self) -> str:
        """The name in calls: letters, digits, `_` and `-`."""

    @property
    def description(self) -> str:
        """Text for the model: purpose and limits."""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """A JSON schema of an object, checked before a run."""

    def run(self, arguments: Mapping[str, Any]) -> str:
        """Return the output, of any length. It is cut later.

        Runs in a thread of its own, with others at the same time where the settings say so. Raises ToolError, or any
        error: its message becomes the call's result.
        """


@runtime_checkable
class Guarded(Protocol):
    """A tool that needs permission."""

    def permit(self, arguments: Mapping[str, Any]) -> None:
        """Ask the person, in the talk's thread. Raises ToolError for a refusal."""


@runtime_checkable
class Stoppable(Protocol):
    """A tool that can be ended from another thread."""

    def stop(self, arguments: Mapping[str, Any] | None = None) -> None:
        """End the run of these arguments at once, None: all.

        arguments: the very object that run was given. Equal ones are others. It may then return or raise anything.
        """


@dataclass(frozen=True)
class ToolStarted:
    """Event: a call begins."""

    call: ToolCall


@dataclass(frozen=True)
class ToolOutput:
    """Event: a part of a running command's output, from the tool's thread."""

    text: str


@dataclass(frozen=True)
class ToolEnded:
    """Event: a call has its result."""

    result: ToolResult
    seconds: float


class Toolbox:
    """The tools of a talk."""

    def __init__(
        self, tools: Sequence[Tool] = (), *, is_parallel: bool = False, time_limit_s: float = TIME_LIMIT_S
    ) -> None:
        """time_limit_s: of each call."""
        self._tools = {tool.name: tool for tool in tools}
        self._is_parallel, self._time_limit_s = is_parallel, time_limit_s

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as a model sees them."""
        return tuple(ToolSpec(tool.name, tool.description, tool.parameters) for tool in self._tools.values())

    def run(
        self, calls: Sequence[ToolCall], on_event: Callable[[ToolStarted | ToolEnded], None] = lambda _: None
    ) -> tuple[ToolResult, ...]:
        """Execute calls and return their results in the same order.

        KeyboardInterrupt ends the running calls. Theirs and the remaining results are errors that say so.
        """
        width = len(calls) if self._is_parallel else 1
        results: list[ToolResult] = []
        for at in range(0, len(calls), max(1, width)):
            done, is_interrupted = self._run_together(calls[at : at + width], on_event)
            results += done
            if is_interrupted:
                break
        left = calls[len(results) :]
        return (*results, *(ToolResult(call.id, call.name, NOT_STARTED, is_error=True) for call in left))

    def _run_together(
        self, calls: Sequence[ToolCall], on_event: Callable[[ToolStarted | ToolEnded], None]
    ) -> tuple[list[ToolResult], bool]:
        """Execute calls at once; return results, and whether the person ended them."""
        results: list[ToolResult] = []
        started: list[tuple[float, Future[str]]] = []
        try:
            refused = [self._refusal(call) for call in calls]
            for call, problem in zip(calls, refused, strict=True):
                on_event(ToolStarted(call))
                started.append((time.monotonic(), self._start(call, problem)))
            for call, (begin, future) in zip(calls, started, strict=True):
                results.append(self._result(call, begin, future))
                on_event(ToolEnded(results[-1], time.monotonic() - begin))
        except KeyboardInterrupt:
            for call in calls[len(results) :]:
                self._stop(call)
                results.append(ToolResult(call.id, call.name, INTERRUPTED, is_error=True))
            return results, True
        return results, False

    def _refusal(self, call: ToolCall) -> str:
        """Why a call may not run, or ""."""
        tool = self._tools.get(call.name)
        if tool is None:
            return "There is no tool %r. Tools: %s." % (call.name, ", ".join(self._tools) or "none")
        missing = [name for name in tool.parameters.get("required", ()) if name not in call.arguments]
        if call.problem or missing:
            return call.problem or "Missing arguments: %s." % ", ".join(missing)
        if isinstance(tool, Guarded):
            try:
                tool.permit(call.arguments)
            except (MemlayerError, OSError, EOFError) as refused:
                return str(refused) or "Refused."
        return ""

    def _start(self, call: ToolCall, problem: str) -> Future[str]:
        """Run a call in a thread that no exit waits for."""
        future: Future[str] = Future()
        if problem:
            future.set_exception(ToolError(problem))
            return future
        parts = (future, self._tools[call.name], call.arguments)
        threading.Thread(target=_fill, args=parts, name=call.name, daemon=True).start()
        return future

    def _result(self, call: ToolCall, begin: float, future: Future[str]) -> ToolResult:
        """Wait for a call's output, or its error, until its time limit."""
        try:
            failed = future.exception(timeout=max(0.0, begin + self._time_limit_s - time.monotonic()))
        except TimeoutError:
            self._stop(call)
            text = "No result within %g s; the call was ended." % self._time_limit_s
            return ToolResult(call.id, call.name, text, is_error=True)
        if isinstance(failed, KeyboardInterrupt):
            raise failed
        if failed is not None:
            problem = str(failed) if isinstance(failed, MemlayerError) else "%s: %s" % (type(failed).__name__, failed)
            return ToolResult(call.id, call.name, cut_middle(problem, MAX_OUTPUT_CHARS), is_error=True)
        # Names of files may hold surrogates, which no request can carry.
        output = future.result().encode("utf-8", "replace").decode()
        return ToolResult(call.id, call.name, cut_middle(output, MAX_OUTPUT_CHARS))

    def _stop(self, call: ToolCall) -> None:
        tool = self._tools.get(call.name)
        if tool is not None and isinstance(tool, Stoppable):
            tool.stop(call.arguments)


def _fill(future: Future[str], tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Run a tool and hand over its output or error."""
    try:
        future.set_result(str(tool.run(arguments)))
    except BaseException as failed:  # the thread ends here, and the model reads the error
        _log.debug("%s failed", tool.name, exc_info=True)
        future.set_exception(failed)


def cut_middle(text: str, max_chars: int) -> str:
    """At most max_chars characters: head and tail, with a line between."""
    if len(text) <= max_chars:
        return text
    kept = max(2, max_chars - 60)
    head, tail = text[: kept - kept // 3], text[len(text) - kept // 3 :]
    return "%s\n[... %s characters left out ...]\n%s" % (head, format(len(text) - kept, ","), tail)


class RepeatDetector:
    """Detector of calls that repeat with the same results, within one turn.

    Noticed are one call three times, and two or three calls by turns three times. A first notice is a note in the
    result. The same in the next answer ends the turn. Results count: polling until something changes is no loop.
    """

    _TIMES, _LONGEST = 3, 3

    def __init__(self) -> None:
        self._seen: list[tuple[str, str, str]] = []
        self._is_noted = False

    def check(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> tuple[tuple[ToolResult, ...], bool]:
        """Return one answer's results with notes, and whether to stop."""
        checked: list[ToolResult] = []
        has_repeats = False
        for call, result in zip(calls, results, strict=True):
            self._seen.append((call.name, json.dumps(call.arguments, sort_keys=True, default=str), result.text))
            is_repeat = self._repeats()
            has_repeats = has_repeats or is_repeat
            checked.append(replace(result, text=result.text + REPEATED) if is_repeat else result)
        was_noted, self._is_noted = self._is_noted, has_repeats
        return tuple(checked), has_repeats and was_noted

    def _repeats(self) -> bool:
        lasts = [(period, self._seen[-period * self._TIMES :]) for period in range(1, self._LONGEST + 1)]
        return any(last == last[:period] * self._TIMES for period, last in lasts)
