"""Daemons and verbs forked from processes that have imported their modules already.

Importing LanceDB takes most of a daemon's start, and importing the command line most of a verb; the suites start
thousands. A forked process runs the same `main` with the same environment, folder and streams. Tests of the start
itself, of memory and of faults start fresh processes.
"""

import atexit
import contextlib
import gc
import importlib
import inspect
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import IO, Any, NoReturn

ROOT = Path(__file__).resolve().parents[2]
MAIN = ROOT / "memlayer" / "cli" / "__main__.py"
READY = b"ready\n"
MAX_REQUEST = 1 << 16  # bytes
DAEMON, VERB = "daemon", "verb"
PLAIN_LOCALES = ("", "C", "C.UTF-8")
# Imported before the first fork that names them.
MODULES = {
    DAEMON: (
        "memlayer.daemon.lifecycle",
        "memlayer.adapters.sqlite_files",
        "memlayer.adapters.lance.store",
        "memlayer.edge.redaction.*",
        "memlayer.notes.*",
        "encodings.utf_8_sig",
    ),
    VERB: ("memlayer.cli.edge", "memlayer.cli.*", "memlayer.cli.terminal.output"),
    "view": ("memlayer.view.server", "memlayer.view.app", "memlayer.view.pages.*"),
    "agent": ("memlayer.agent.*", "memlayer.providers.*", "prompt_toolkit", "openai"),
    "openai": ("openai", "memlayer.providers.*"),
}


def _messages() -> tuple[socket.socket, socket.socket]:
    """Return a pair whose messages keep their bounds: a request, a pid and an exit code are each read whole."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class ForkedProcess:
    """A forked process with the part of subprocess.Popen's interface that tests use."""

    def __init__(self, control: socket.socket, pid: int) -> None:
        self.pid = pid
        self.stdout: IO[Any] | None = None
        self.stderr: IO[Any] | None = None
        self.returncode: int | None = None
        self._control = control

    def poll(self) -> int | None:
        """Return the exit code, None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code, negative for a signal. Raises TimeoutExpired."""
        if self.returncode is None:
            self._control.settimeout(timeout)
            try:
                said = self._control.recv(64)
            except (BlockingIOError, TimeoutError):
                raise subprocess.TimeoutExpired("forked process", timeout or 0.0) from None
            self._control.close()
            assert said, "the process that forks has died"
            self.returncode = int(said)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks daemons or verbs, started with the first."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(
        self, environment: dict[str, str], streams: Sequence[int], arguments: Sequence[str] = (), cwd: str = "/",
        *, imports: str = "", has_terminal: bool = False,
    ) -> ForkedProcess:  # fmt: skip
        """Start a process with exactly this environment and these three streams.

        imports: a row of MODULES more; has_terminal: its stdin becomes its controlling terminal.
        """
        if self._process is None or self._process.poll() is not None:
            self._begin()
        assert self._control is not None
        request = {
            "environment": environment, "arguments": list(arguments), "cwd": cwd, "imports": imports,
            "has_terminal": has_terminal,
        }  # fmt: skip
        ours, theirs = _messages()
        with theirs:
            socket.send_fds(self._control, [json.dumps(request).encode()], [theirs.fileno(), *streams])
        return ForkedProcess(ours, int(ours.recv(64)))

    def _begin(self) -> None:
        self._control, theirs = _messages()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "faulthandler", __file__, self.kind, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, cwd="/",
            )  # fmt: skip
        assert self._process.stdout is not None
        with self._process.stdout as said:
            assert said.readline() == READY
        atexit.register(self.close)

    def close(self) -> None:
        """Let the process end; what it forked goes on."""
        if self._process is not None and self._control is not None:
            self._control.close()
            self._process.wait(10)
            self._process = self._control = None


DAEMONS, VERBS = Nursery(DAEMON), Nursery(VERB)


def fork_daemon(environment: dict[str, str], *, imports: str = "") -> ForkedProcess:
    """Start a daemon; its stderr can be read once it has ended."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  # the daemon's, and read until it has ended
    null = os.open(os.devnull, os.O_RDWR)
    try:
        process = DAEMONS.fork(environment, (null, null, errors.fileno()), imports=imports)
    finally:
        os.close(null)
    process.stderr = errors
    return process


def can_fork_verb(arguments: Sequence[str], environment: dict[str, str]) -> bool:
    """Return whether a forked verb would meet what a fresh one does: its locale, its interpreter."""
    return (
        not any(name.startswith(("PYTHON", "LC_", "LD_")) for name in environment)
        and environment.get("LANG", "") in PLAIN_LOCALES
        and sum(map(len, (*arguments, *environment, *environment.values()))) < MAX_REQUEST // 8
    )


def start_verb(
    arguments: Sequence[str], environment: dict[str, str], cwd: str | Path, streams: Sequence[int], *,
    has_terminal: bool = False, is_fresh: bool = False,
) -> ForkedProcess | subprocess.Popen[bytes]:  # fmt: skip
    """Start the command line on three streams: forked where it would meet what a fresh interpreter does."""
    if is_fresh or not can_fork_verb(arguments, environment):
        stdin, stdout, stderr = streams
        return subprocess.Popen(
            [sys.executable, "-I", str(MAIN), *arguments], stdin=stdin, stdout=stdout, stderr=stderr,
            env=environment, cwd=cwd, start_new_session=has_terminal,
            preexec_fn=take_terminal if has_terminal else None,
        )  # fmt: skip
    imports = arguments[0] if arguments and arguments[0] in MODULES else ""
    return VERBS.fork(environment, streams, arguments, str(cwd), imports=imports, has_terminal=has_terminal)


def run_verb_on_pipes(
    arguments: Sequence[str], environment: dict[str, str], cwd: str | Path, stdin: bytes = b"", *,
    is_fresh: bool = False, timeout_s: float = 50.0,
) -> subprocess.CompletedProcess[bytes]:  # fmt: skip
    """Run the command line to its end."""
    ours, theirs = zip(*((os.pipe()[::-1]), *(os.pipe() for _ in range(2))), strict=True)
    process = start_verb(arguments, environment, cwd, theirs, is_fresh=is_fresh)
    for fd in theirs:
        os.close(fd)
    with ThreadPoolExecutor(3) as pool:
        pool.submit(_feed, ours[0], stdin)
        said = [pool.submit(_drain, fd) for fd in ours[1:]]
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        stdout, stderr = (one.result() for one in said)
    return subprocess.CompletedProcess([str(MAIN), *arguments], code, stdout, stderr)


def _feed(fd: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(fd, "wb") as into:
        into.write(data)


def _drain(fd: int) -> bytes:
    with open(fd, "rb") as out:
        return out.read()


def serve(kind: str, control: socket.socket) -> Callable[[], None] | None:
    """Fork for each request until the tests' process has gone; in a child, return its `main`."""
    running: dict[int, socket.socket] = {}
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.set_blocking(reading, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready = select.select([control, reading], [], [])[0]
        if reading in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(reading, 4096)
            _report_ended(running)
        if control in ready:
            said, fds, _, _ = socket.recv_fds(control, MAX_REQUEST, 4)
            if not said:
                return None
            request = json.loads(said)
            import_all(request["imports"])
            caller, streams = socket.socket(fileno=fds[0]), fds[1:]
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _take_over(request, streams, [control, caller, *running.values()], [reading, writing])
                return _become_daemon if kind == DAEMON else partial(_become_verb, request["arguments"])
            for fd in streams:
                os.close(fd)
            running[pid] = caller
            caller.send(b"%d" % pid)


def _take_over(request: dict[str, Any], streams: list[int], sockets: list[socket.socket], pipe: list[int]) -> None:
    for fd in (*pipe, *(other.detach() for other in sockets)):
        os.close(fd)
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
    for fd in streams:
        os.close(fd)
    if request["has_terminal"]:
        os.setsid()
        take_terminal()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["cwd"])
    time.tzset()


def take_terminal() -> None:
    """Make stdin the controlling terminal of this session."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _become_daemon() -> NoReturn:
    try:
        from memlayer.daemon.lifecycle import main

        main(time.time_ns())
    except SystemExit as left:
        os._exit(left.code if isinstance(left.code, int) else 1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


def _become_verb(arguments: list[str]) -> NoReturn:
    """Run the command line with the streams that a fresh interpreter would open in the C locale."""
    from memlayer.cli import main

    sys.argv = [str(MAIN), *arguments]
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # type: ignore[misc]  # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(  # type: ignore[misc]  # noqa: SIM115
        1, "w", buffering=1 if os.isatty(1) else -1, encoding="utf-8", errors="surrogateescape", closefd=False
    )
    sys.stderr = sys.__stderr__ = open(  # type: ignore[misc]  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False
    )
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    # As an interpreter ends, but for taking its modules apart: that is three quarters of a short verb.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 120
    os._exit(code)


def _report_ended(running: dict[int, socket.socket]) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        with running.pop(pid) as caller, contextlib.suppress(OSError):  # the test does not care any more
            caller.send(b"%d" % os.waitstatus_to_exitcode(status))


def import_all(row: str) -> None:
    """Import the modules of a row; `*` stands for all below a package."""
    for name in MODULES.get(row, ()):
        package = importlib.import_module(name.removesuffix(".*"))
        if name.endswith(".*"):
            for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
                if not found.name.endswith("__main__"):
                    importlib.import_module(found.name)
    fill_tables()
    gc.freeze()  # what a child shares with this process, its collector leaves alone


def fill_tables() -> None:
    """Make the tables that modules make once: compiling the signs of statements takes a third of a second."""
    for module in [module for name, module in sys.modules.items() if name.startswith("memlayer.")]:
        for table in list(vars(module).values()):
            if hasattr(table, "cache_info") and not inspect.signature(table).parameters:
                table()


def main() -> None:
    """Import everything that a daemon without a model, or a verb, needs, then serve."""
    import warnings

    kind, number = sys.argv[1:]
    sys.path.insert(0, str(ROOT))
    warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)
    if kind == DAEMON:
        from memlayer.adapters.embedding import lazy_import

        lazy_import.import_lancedb()
    import_all(kind)
    sys.stdout.write(READY.decode())
    sys.stdout.close()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    become = serve(kind, socket.socket(fileno=int(number)))
    if become is not None:
        become()


if __name__ == "__main__":
    main()
