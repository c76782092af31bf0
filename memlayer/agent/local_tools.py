"""Tools of the project's folder: read files, write files, run commands.

Paths are resolved first, and one that leads out of the folder is refused. A command is not confined: it is asked about
instead. Its environment holds no keys, and no process of it outlives the call.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import select
import signal
import stat
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from memlayer.errors import ToolError

Approve = Callable[[str, str], None]  # (question, details); raises ToolError for a refusal

MAX_READ_CHARS = 9_000  # of a file in one call; the rest by its lines
MAX_LINE_CHARS = 2_000
MAX_OUTPUT_BYTES = 60_000  # of a command: head and tail are kept, and cut again to the talk's limit
MAX_DIFF_LINES = 40
GRACE_S = 0.5  # from SIGTERM to SIGKILL
POLL_S = 0.02
FILE_MODE = 0o644
# Kept of the environment: what programs need to run, and nothing that opens a door.
KEPT_VARIABLES = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "VIRTUAL_ENV", "JAVA_HOME",
)  # fmt: skip
RUN_MARK = "MEMLAYER_AGENT_RUN"  # in the environment of a command's processes, to find those that left its group


PATH = "relative to the project's folder"
WHOLE_NUMBERS = ("limit", "start_line")


def schema(*required: str, **descriptions: str) -> Mapping[str, Any]:
    """Return the JSON schema of arguments; all but WHOLE_NUMBERS are texts."""
    types = {name: "integer" if name in WHOLE_NUMBERS else "string" for name in descriptions}
    properties = {name: {"type": types[name], "description": said} for name, said in descriptions.items()}
    return {"type": "object", "properties": properties, "required": list(required)}


class Folder:
    """The project's folder, outside of which nothing is touched."""

    def __init__(self, path: str) -> None:
        self.root = Path(os.path.realpath(path))

    def resolve(self, path: str) -> Path:
        """Return a path without links. Raises ToolError for one outside."""
        if not path.strip() or "\0" in path:
            raise ToolError("path: a file of the project is expected")
        found = Path(os.path.realpath(self.root / os.path.expanduser(path)))
        if found != self.root and self.root not in found.parents:
            raise ToolError("%s is outside of the project's folder" % path)
        return found


class ReadFile:
    """Reads a text file of the project, or lists a folder."""

    name = "read_file"
    description = "Read a text file of the project, or list a folder. Long files come in parts: go on with start_line."
    parameters = schema("path", path=PATH, start_line="from 1")

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        path = self._folder.resolve(text_of(arguments, "path"))
        start = arguments.get("start_line") or 1
        if not isinstance(start, int) or start < 1:
            raise ToolError("start_line: a number from 1 is expected")
        if path.is_dir():
            return "\n".join(sorted(one.name + ("/" if one.is_dir() else "") for one in path.iterdir())) or "(empty)"
        return "".join(self._lines(path, start)) or "(empty)"

    def _lines(self, path: Path, start: int) -> Iterator[str]:
        """Yield lines from a number on, until there are enough."""
        left = MAX_READ_CHARS
        with open_regular(path) as file:
            for number in range(1, 1 << 40):
                line = file.readline(MAX_LINE_CHARS)  # a longer line counts as several
                if not line:
                    return
                if b"\0" in line:
                    raise ToolError("%s is no text file" % path.name)
                if number < start:
                    continue
                text = line.decode("utf-8", "replace")
                left -= len(text)
                if left < 0:
                    yield "\n[... more; go on with start_line %d]" % number
                    return
                yield text


class WriteFile:
    """Writes a text file of the project, whole or not at all."""

    name = "write_file"
    description = "Write a text file of the project: the whole content, in place of what it held."
    parameters = schema("path", "content", path=PATH, content="the whole text")

    def __init__(self, folder: Folder, approve: Approve) -> None:
        self._folder = folder
        self._approve = approve

    def permit(self, arguments: Mapping[str, Any]) -> None:
        """See execution.Guarded. Shows the change in short."""
        path, content = self._wanted(arguments)
        before = _text_in(path)
        relative = path.relative_to(self._folder.root)
        title = "%s %s (%d lines)?" % ("Change" if path.exists() else "Write", relative, len(content.splitlines()))
        self._approve(title, short_diff(before, content))

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        path, content = self._wanted(arguments)
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else FILE_MODE
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix="." + path.name[:40] + ".", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content.encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, mode)
            os.replace(temporary, path)
        except OSError:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        return "Written: %s, %d lines" % (path.relative_to(self._folder.root), len(content.splitlines()))

    def _wanted(self, arguments: Mapping[str, Any]) -> tuple[Path, str]:
        path = self._folder.resolve(text_of(arguments, "path"))
        if path.exists() and not path.is_file():
            raise ToolError("%s is no file" % path.name)
        return path, text_of(arguments, "content")


class Shell:
    """Runs a command in the project's folder, after asking."""

    name = "shell"
    description = (
        "Run a command with sh in the project's folder; its output comes back. Each call has a shell of its own,"
        " without input, and its processes end with it."
    )
    parameters = schema("command", command="for sh")

    def __init__(self, folder: Folder, approve: Approve) -> None:
        self._folder = folder
        self._approve = approve
        self._running: dict[str, tuple[Mapping[str, Any], subprocess.Popen[bytes]]] = {}
        self._lock = threading.Lock()

    def permit(self, arguments: Mapping[str, Any]) -> None:
        """See execution.Guarded."""
        command = text_of(arguments, "command")
        if not command.strip():
            raise ToolError("command: a command is expected")
        self._approve("Run this command?", command)

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool. Raises ToolError for an exit code but 0."""
        mark = "%d-%d" % (os.getpid(), time.monotonic_ns())
        environment = {**clean_environment(os.environ), RUN_MARK: mark}
        process = subprocess.Popen(
            ["/bin/sh", "-c", text_of(arguments, "command")], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=self._folder.root, env=environment, start_new_session=True,
        )  # fmt: skip
        with self._lock:
            self._running[mark] = arguments, process
        try:
            output = read_bounded(process)
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
        for mark, (given, process) in running.items():
            if arguments is None or arguments is given:
                end_processes(process, mark)


def text_of(arguments: Mapping[str, Any], name: str) -> str:
    """Return a text argument. Raises ToolError for another type."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError("%s: a text is expected" % name)
    return value


def open_regular(path: Path) -> Any:
    """Open a regular file without waiting for a pipe. Raises ToolError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as bad:
        raise ToolError("%s: %s" % (path.name, bad.strerror)) from bad
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ToolError("%s is no file" % path.name)
    return os.fdopen(handle, "rb")


def _text_in(path: Path) -> str:
    """Return a file's text, "" for none."""
    if not path.exists():
        return ""
    with open_regular(path) as file:
        return str(file.read(1 << 20).decode("utf-8", "replace"))


def short_diff(before: str, after: str) -> str:
    """Return a unified diff without its head, cut."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    left = len(lines) - MAX_DIFF_LINES
    return "\n".join([*lines[:MAX_DIFF_LINES], *(["[... %d more lines]" % left] if left > 0 else [])])


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a command is given."""
    kept = {name: environ[name] for name in environ if name in KEPT_VARIABLES or name.startswith("LC_")}
    return {**kept, "TERM": "dumb", "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


def read_bounded(process: subprocess.Popen[bytes]) -> str:
    """Read a command's output, bounded, until its shell ends."""
    assert process.stdout is not None
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
    wanted = f"{RUN_MARK}={mark}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if wanted in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
    return found
