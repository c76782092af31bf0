"""Daemons forked from a process that has imported LanceDB already.

Importing it takes most of a daemon's start, and the suites start hundreds. A forked daemon runs the same `main` with
the same environment. Tests of the start itself, of memory and of faults start fresh processes.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, NoReturn

ROOT = Path(__file__).resolve().parents[2]
READY = b"ready\n"


class ForkedDaemon:
    """A forked daemon with the part of subprocess.Popen's interface that tests use."""

    def __init__(self, control: socket.socket, pid: int, errors: IO[bytes]) -> None:
        self.pid, self.stderr = pid, errors
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
            if not select.select([self._control], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("daemon", timeout or 0.0)
            said = self._control.recv(64)
            self._control.close()
            assert said, "the process that forks daemons has died"
            self.returncode = int(said)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the daemon has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks daemons, started with the first."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def fork(self, environment: dict[str, str]) -> ForkedDaemon:
        """Start a daemon with exactly this environment."""
        if self._process is None or self._process.poll() is not None:
            self._begin()
        assert self._control is not None
        ours, theirs = socket.socketpair()
        errors = tempfile.TemporaryFile()  # noqa: SIM115  # the daemon's, and read until it has ended
        with theirs:
            socket.send_fds(self._control, [json.dumps(environment).encode()], [theirs.fileno(), errors.fileno()])
        pid = int(ours.recv(64))
        return ForkedDaemon(ours, pid, errors)

    def _begin(self) -> None:
        # Messages keep their bounds, so a request is read whole.
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "faulthandler", __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, cwd="/",
            )  # fmt: skip
        assert self._process.stdout is not None
        with self._process.stdout as said:
            assert said.readline() == READY


NURSERY = Nursery()


def serve(control: socket.socket) -> None:
    """Fork a daemon for each request until the tests' process has gone."""
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
            environment, fds, _, _ = socket.recv_fds(control, 1 << 16, 2)
            if not environment:
                return
            caller = socket.socket(fileno=fds[0])
            pid = os.fork()
            if not pid:
                _become_daemon(
                    json.loads(environment), fds[1], [control, caller, *running.values()], [reading, writing]
                )
            os.close(fds[1])
            running[pid] = caller
            caller.send(b"%d" % pid)


def _become_daemon(environment: dict[str, str], errors: int, sockets: list[socket.socket], pipe: list[int]) -> NoReturn:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for fd in (*pipe, *(other.detach() for other in sockets)):
            os.close(fd)
        os.dup2(errors, 2)
        os.close(errors)
        os.environ.clear()
        os.environ.update(environment)
        time.tzset()
        from memlayer.daemon.lifecycle import main

        main()
    except SystemExit as left:
        os._exit(left.code if isinstance(left.code, int) else 1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    os._exit(1)


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


def main() -> None:
    """Import everything that a daemon without a model needs, then serve."""
    import warnings

    sys.path.insert(0, str(ROOT))
    warnings.filterwarnings("ignore", "lancedb fork support", RuntimeWarning)
    from memlayer.adapters.embedding import lazy_import
    from memlayer.daemon import lifecycle  # noqa: F401

    lazy_import.import_lancedb()
    from memlayer.adapters import sqlite_files  # noqa: F401
    from memlayer.adapters.lance import store  # noqa: F401

    sys.stdout.write(READY.decode())
    sys.stdout.close()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
