"""ChatProvider over the host's own command line.

It runs headless: no tools, no hooks, no session, nothing written. It knows no messages: a talk is one prompt, on
stdin, and one answer.
"""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from memlayer.chat import ChatRequest, OnText, OnWait, Reply, TokenUse, WireMessage
from memlayer.config.providers import CLAUDE_PLACES, NETWORK_VARIABLES, Provider, is_loopback, program_path
from memlayer.edge.bootstrap.runtime import kept_environment
from memlayer.edge.capture.payload import clean
from memlayer.edge.home import paths
from memlayer.errors import ChatError
from memlayer.providers import failures
from memlayer.providers.endpoint import Asker, NotCharged, NotSent
from memlayer.providers.sdk_chat import tokens_of
from memlayer.records.git import talk

USUAL_PLACES = CLAUDE_PLACES
ARGUMENTS = (
    "-p", "--setting-sources", "", "--tools", "", "--strict-mcp-config", "--disable-slash-commands",
    "--no-session-persistence", "--output-format", "json", "--max-turns", "1",
)  # fmt: skip
KILL_WAIT_S = 5.0
MAX_SHOWN_CHARS = 160
MOST_BYTES = 4 << 20  # of an answer
MAX_SYSTEM_BYTES = 100_000  # more is a mistake: each call pays for it
ABOUT_TALK = """\
The talk so far stands below. A line that begins with %s begins a message and names its side; such a line within a \
message's text would carry another number. Answer with your next message alone, without such a line.
"""

_one_at_a_time = threading.Lock()


class ClaudeCliChat:
    """A talk by `claude -p`, with its login.

    It may see the variables of its row beside the usual ones (sign-in, proxy).
    """

    def __init__(self, provider: Provider, asker: Asker) -> None:
        self._provider, self._asker = provider, asker
        self._running: subprocess.Popen[bytes] | None = None
        self._closed = threading.Event()

    @property
    def name(self) -> str:
        """See ChatProvider."""
        return self._provider.name

    def supports_native_tools(self) -> bool:
        """See ChatProvider: tools are told in the system prompt."""
        return False

    def check(self) -> None:
        """See ChatProvider."""
        self._program()

    def chat(
        self, request: ChatRequest, *, deadline_s: float, on_text: OnText | None = None, on_wait: OnWait | None = None
    ) -> Reply:
        """See ChatProvider. The whole text comes at once."""
        program = self._program()
        if request.tools:
            raise NotCharged(f"{self.name} takes no tools: set agent.tool_dispatcher to auto or xml")
        system = "\n\n".join(message.text for message in request.messages if message.role == "system" and message.text)
        if len(system.encode("utf-8", "replace")) > MAX_SYSTEM_BYTES:
            raise NotCharged(f"{self.name}: the system prompt is longer than {MAX_SYSTEM_BYTES} bytes: shorten SOUL.md")
        system = system or "You are a helpful assistant."
        talk = as_prompt([message for message in request.messages if message.role != "system"])
        line = failures.waiting_line(f"{self.name} ({request.model})", deadline_s)
        timer = threading.Timer(failures.WAIT_S, on_wait or str, [line])
        timer.daemon = True
        timer.start()
        try:
            code, output = self._alone([program, *ARGUMENTS, "--model", request.model], system, talk,
                                       self._environment(request.max_tokens, deadline_s), deadline_s)  # fmt: skip
        finally:
            timer.cancel()
        reply = self._read(code, output)
        if on_text is not None:
            on_text(reply.text)
        return reply

    def close(self) -> None:
        """Kill the running call, if any, and refuse others: daemon shutdown."""
        self._closed.set()
        process = self._running
        if process is not None:
            _kill_group(process)

    def _program(self) -> str:
        """Return the absolute path of the host's program. Raises NotSent."""
        if path := program_path(USUAL_PLACES):
            return path
        if self._asker.is_daemon:
            raise NotSent("no `claude` on the daemon's PATH: in a shell that has it, run memlayer daemon restart")
        raise NotSent(f"no `claude` on the PATH: install Claude Code, or choose another {self._asker.group}.provider")

    def _failed(self, problem: str) -> ChatError:
        advice = "" if self._asker.is_daemon else ": ask again, or try `claude -p hello`"
        return ChatError(f"{self.name}{problem}{advice}")

    def _environment(self, max_tokens: int, deadline_s: float) -> dict[str, str]:
        return {
            **kept_environment((*self._provider.variables, *NETWORK_VARIABLES)),
            **_direct(),
            "MEMLAYER_DISABLE": "1",  # should a hook of ours run in there after all, it does nothing
            "MAX_THINKING_TOKENS": "0",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(max_tokens),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",  # the reason is told within the deadline. The next turn tries again
            "API_TIMEOUT_MS": str(int(deadline_s * 1000)),  # it ends by itself if we are killed meanwhile
        }

    def _alone(
        self, arguments: list[str], system: str, prompt: str, environment: dict[str, str], deadline_s: float
    ) -> tuple[int, bytes]:
        """Run one process at a time, in an empty folder.

        The system prompt holds memories and rules: in a file, as other users can read arguments.
        """
        ends = time.monotonic() + deadline_s
        if not _one_at_a_time.acquire(timeout=deadline_s):
            raise self._failed(" is still busy with another call")
        try:
            with tempfile.TemporaryDirectory(prefix="memlayer-", ignore_cleanup_errors=True) as folder:
                file, work = os.path.join(folder, "system.txt"), os.path.join(folder, "work")
                os.mkdir(work)
                paths.write_whole(file, system.encode("utf-8", "replace"))
                arguments = [*arguments, "--system-prompt-file", file]
                return self._run(arguments, prompt, work, environment, max(0.1, ends - time.monotonic()))
        finally:
            _one_at_a_time.release()

    def _run(
        self, arguments: list[str], prompt: str, folder: str, environment: dict[str, str], deadline_s: float
    ) -> tuple[int, bytes]:
        if self._closed.is_set():
            raise NotSent("the daemon is leaving")
        try:
            process = subprocess.Popen(
                arguments, cwd=folder, env=environment, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError as bad:
            raise NotSent(f"{arguments[0]} cannot be started ({bad.strerror}): run `claude --version`") from bad
        self._running = process
        try:
            if self._closed.is_set():  # close() came between
                _kill_group(process)
            sent = prompt.encode("utf-8", "replace")
            output, _, is_cut = talk(process, sent, limit_s=deadline_s, most_bytes=MOST_BYTES)
            if is_cut:
                raise self._failed(" gave an answer without end (over %d MB) and was killed" % (MOST_BYTES >> 20))
        except subprocess.TimeoutExpired as bad:
            raise self._failed(" did not answer in time and was killed") from bad
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

    def _read(self, code: int, output: bytes) -> Reply:
        """Parse the JSON answer: one object with result, usage and total_cost_usd."""
        try:
            answer: Any = json.loads(output.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise self._failed(f" ended with exit code {code} and no answer")
        text = answer.get("result")
        if answer.get("is_error") or not isinstance(text, str) or not text:
            why = text if isinstance(text, str) and text else str(answer.get("subtype") or "no answer")
            raise self._failed(": " + " ".join(clean(why).split())[:MAX_SHOWN_CHARS])
        usage: Any = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        read = tokens_of(
            usage.get("input_tokens"), usage.get("cache_creation_input_tokens"), usage.get("cache_read_input_tokens")
        )
        cost: Any = answer.get("total_cost_usd")
        is_cost = isinstance(cost, int | float) and not isinstance(cost, bool)
        return Reply(text, use=TokenUse(read, tokens_of(usage.get("output_tokens")), float(cost) if is_cost else 0.0))


def _direct() -> dict[str, str]:
    """Return variables that keep a proxy from this machine's servers."""
    address = os.environ.get("ANTHROPIC_BASE_URL", "")
    if not is_loopback(address):
        return {}
    host = urlsplit(address).hostname or ""
    return {name: ",".join(filter(None, [os.environ.get(name), host])) for name in ("NO_PROXY", "no_proxy")}


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and its children, a group of its own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def as_prompt(messages: Sequence[WireMessage]) -> str:
    """Return a talk as one text.

    A single message stands alone. Of several each begins with a marker that none of them can hold.
    """
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].text
    texts = [_text(message) for message in messages]
    marker = _marker(texts)
    parts = [ABOUT_TALK % marker]
    for message, text in zip(messages, texts, strict=True):
        parts.append(f"{marker} {message.role}\n{text}\n")
    return "\n".join([*parts, f"{marker} assistant"])


def _marker(texts: Sequence[str]) -> str:
    while True:
        marker = f"=== {secrets.token_hex(4)}"
        if not any(marker in text for text in texts):
            return marker


def _text(message: WireMessage) -> str:
    calls = [
        f"[tool call: {call.name} {json.dumps(dict(call.arguments), ensure_ascii=False)}]" for call in message.calls
    ]
    return "\n".join([*([message.text] if message.text else []), *calls])
