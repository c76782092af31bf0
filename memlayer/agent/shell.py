"""The shell tool: a command in the project's folder, after asking.

A command is not confined. Its environment holds no keys, and no process of it outlives the call.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memlayer.agent.files import Approve, ProjectFolder, schema, text_of
from memlayer.edge.home import agents
from memlayer.errors import ToolError

MAX_OUTPUT_BYTES = 60_000  # of a command: head and tail are kept, and cut again to the talk's limit
GRACE_S = 0.5  # from SIGTERM to SIGKILL
POLL_S = 0.02
# Kept of the environment: the variables that programs need, and nothing that opens a door.
KEPT_VARIABLES = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "JAVA_HOME",
)  # fmt: skip

OnOutput = Callable[[str], None]  # a part of a command's output, from the tool's thread


@dataclass
class _RunningCommand:
    """A running command; a stopped one shows nothing any more."""

    arguments: Mapping[str, Any]
    process: subprocess.Popen[bytes]
    is_stopped: bool = False


class Shell:
    """Runs a command in the project's folder, after asking."""

    name = "shell"
    description = (
        "Run a command with sh in the project's folder; its output comes back. Each call has a shell of its own,"
        " without input, and its processes end with it."
    )
    parameters = schema("command", command="for sh")

    def __init__(self, folder: ProjectFolder, approve: Approve, on_output: OnOutput = lambda _: None) -> None:
        self._folder = folder
        self._approve = approve
        self._on_output = on_output
        self._running: dict[str, _RunningCommand] = {}
        self._lock = threading.Lock()

    def permit(self, arguments: Mapping[str, Any]) -> None:
        """See execution.Guarded."""
        command = text_of(arguments, "command")
        if not command.strip():
            raise ToolError("command: a command is expected")
        self._approve("Run this command?", command, always=command)

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool. Raises ToolError for an exit code but 0."""
        mark = "%d-%d" % (os.getpid(), time.monotonic_ns())
        environment = {**clean_environment(os.environ), agents.OWN: mark, agents.OWN_PROJECT: str(self._folder.root)}
        process = subprocess.Popen(
            ["/bin/sh", "-c", text_of(arguments, "command")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=self._folder.root, env=environment, start_new_session=True,
        )  # fmt: skip
        running = _RunningCommand(arguments, process)
        with self._lock:
            self._running[mark] = running
        try:
            output = read_bounded(process, lambda text: None if running.is_stopped else self._on_output(text))
        finally:
            with self._lock:
                self._running.pop(mark, None)
            end_processes(process, mark)
        code = process.wait()
        if code:
            ended = "Exit code %d" % code if code > 0 else "Ended by signal %d" % -code
            raise ToolError("%s\n%s" % (ended, output))
        return output or "(no output)"

    def stop(self, arguments: Mapping[str, Any] | None = None) -> None:
        """See execution.Stoppable."""
        with self._lock:
            running = dict(self._running)
        for mark, run in running.items():
            if arguments is None or arguments is run.arguments:
                run.is_stopped = True
                end_processes(run.process, mark)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command is given."""
    kept = {name: environ[name] for name in environ if name in KEPT_VARIABLES or name.startswith("LC_")}
    return {**kept, "TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


def read_bounded(process: subprocess.Popen[bytes], on_output: OnOutput = lambda _: None) -> str:
    """Read a command's output, bounded, until its shell ends."""
    assert process.stdout is not None
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode  # a character may come in two reads
    head, tail, size, half = b"", b"", 0, MAX_OUTPUT_BYTES // 2
    with process.stdout:
        while True:
            is_over = process.poll() is not None  # before the last read: everything is in the pipe by then
            if not select.select([process.stdout], [], [], 0 if is_over else POLL_S)[0]:
                if is_over:  # a process in the background holds the pipe
                    break
                continue
            data = os.read(process.stdout.fileno(), 65536)
            if not data:
                break
            on_output(decode(data))
            room = half - len(head)
            head, tail, size = head + data[:room], (tail + data[room:])[-half:], size + len(data)
    process.wait()
    left_out = size - len(head) - len(tail)
    between = b"\n[... %d bytes left out ...]\n" % left_out if left_out else b""
    return (head + between + tail).decode("utf-8", "replace").strip("\n")


def end_processes(process: subprocess.Popen[bytes], mark: str) -> None:
    """End a command's process group, then processes that left it."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, sign)
        ends = time.monotonic() + GRACE_S
        while sign == signal.SIGTERM and _group_lives(process) and time.monotonic() < ends:
            time.sleep(POLL_S)
    for pid in marked_processes(mark):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _group_lives(process: subprocess.Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def marked_processes(mark: str) -> list[int]:
    """Return the processes with this run's mark, where /proc shows them."""
    wanted = f"{agents.OWN}={mark}".encode()  # also of those that left the group
    pids = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in entry.read_bytes().split(b"\0"):
                pids.append(int(entry.parent.name))
    return pids
