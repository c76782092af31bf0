"""LanguageModel over the host's own command line.

It runs headless: no tools, no hooks, no session, nothing written.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any

from memlayer.adapters.llm.model_call import tokens_of
from memlayer.edge.bootstrap.runtime import kept_environment
from memlayer.edge.capture.payload import clean
from memlayer.errors import ConsolidationError
from memlayer.ports import Completion, ModelMissing

NAME = "claude-cli"
PROGRAM = "claude"
# Where the host's installers put it; a background process may have a shorter PATH than the user's shell.
USUAL_PLACES = ("~/.local/bin", "~/.claude/local", "/usr/local/bin", "/opt/homebrew/bin")
ARGUMENTS = (
    "-p", "--setting-sources", "", "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
    "--no-session-persistence", "--output-format", "json", "--max-turns", "1",
)  # fmt: skip
KILL_WAIT_S = 5.0
MAX_SAID_CHARS = 160

_one_at_a_time = threading.Lock()


class ClaudeCliModel:
    """LanguageModel over `claude -p`.

    variables: environment variables it may see beside the usual ones (sign-in, proxy).
    """

    own_tokens = 1500  # the host's own words around a turn; up to 3,600 characters were seen

    def __init__(self, model: str, *, variables: Sequence[str] = ()) -> None:
        self._model, self._variables = model, tuple(variables)
        self._running: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    def check(self) -> None:
        """See CheckedModel."""
        find_claude()

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """See LanguageModel; by stdin, so that no process list shows prompts."""
        ends = time.monotonic() + deadline_s
        program = find_claude()
        if not _one_at_a_time.acquire(timeout=deadline_s):
            raise ConsolidationError("%s is still busy with another call" % NAME)
        try:
            # An empty folder: no project is looked at.
            with tempfile.TemporaryDirectory(prefix="memlayer-", ignore_cleanup_errors=True) as folder:
                arguments = [program, *ARGUMENTS, "--model", self._model, "--system-prompt", system]
                environment = self._environment(max_tokens, deadline_s)
                code, output = self._run(arguments, prompt, folder, environment, max(0.1, ends - time.monotonic()))
        finally:
            _one_at_a_time.release()
        return _read(code, output)

    def close(self) -> None:
        """Kill the running call, if any, and refuse others: daemon shutdown."""
        self._closed.set()
        process = self._running
        if process is not None:
            _kill_group(process)

    def _environment(self, max_tokens: int, deadline_s: float) -> dict[str, str]:
        return {
            **kept_environment(self._variables),
            "MEMLAYER_DISABLE": "1",  # should a hook of ours run in there after all, it does nothing
            "MAX_THINKING_TOKENS": "0",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",  # the reason is told within the deadline; the next turn tries again
            "API_TIMEOUT_MS": str(int(deadline_s * 1000)),  # it ends by itself if we are killed meanwhile
        }

    def _run(
        self, arguments: list[str], prompt: str, folder: str, environment: dict[str, str], deadline_s: float
    ) -> tuple[int, bytes]:
        if self._closed.is_set():
            raise ModelMissing("the daemon is leaving")
        try:
            process = subprocess.Popen(
                arguments, cwd=folder, env=environment, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as bad:
            raise ModelMissing("%s cannot be started: %s" % (arguments[0], bad.strerror)) from bad
        self._running = process
        try:
            if self._closed.is_set():  # close() came between
                _kill_group(process)
            output, _ = process.communicate(prompt.encode("utf-8", "replace"), timeout=deadline_s)
        except subprocess.TimeoutExpired as bad:
            raise ConsolidationError("%s did not answer in time and was killed" % NAME) from bad
        finally:
            self._running = None
            _kill_group(process)  # also children left behind after an answer
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(KILL_WAIT_S)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        return process.returncode, output


def find_claude() -> str:
    """The absolute path of the host's program. Raises ModelMissing."""
    found = shutil.which(PROGRAM)
    for place in USUAL_PLACES:
        found = found or shutil.which(PROGRAM, path=os.path.expanduser(place))
    if not found:
        raise ModelMissing("no `claude` on the daemon's PATH: in a shell that has it, run memlayer daemon restart")
    return os.path.abspath(found)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children.

    It leads a group of its own, so its id is the group's.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(code: int, output: bytes) -> Completion:
    """Parse the JSON answer: one object with result, usage and total_cost_usd."""
    try:
        found: Any = json.loads(output.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ConsolidationError("%s ended with exit code %d and no answer" % (NAME, code))
    text = found.get("result")
    if found.get("is_error") or not isinstance(text, str) or not text:
        why = text if isinstance(text, str) and text else str(found.get("subtype") or "no answer")
        raise ConsolidationError("%s: %s" % (NAME, " ".join(clean(why).split())[:MAX_SAID_CHARS]))
    usage: Any = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    read = tokens_of(
        usage.get("input_tokens"), usage.get("cache_creation_input_tokens"), usage.get("cache_read_input_tokens")
    )
    cost: Any = found.get("total_cost_usd")
    is_cost = isinstance(cost, int | float) and not isinstance(cost, bool)
    return Completion(text, read, tokens_of(usage.get("output_tokens")), float(cost) if is_cost else 0.0)
