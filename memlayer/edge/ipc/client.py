"""Call the daemon for a person: connect, start, wait, raise.

The hooks use edge.ipc.protocol.forward instead, which never starts, never waits long and never raises.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time

from memlayer import __version__
from memlayer.edge.bootstrap import runtime
from memlayer.edge.bootstrap.runtime import find_runtime
from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from memlayer.errors import DaemonError, EmbedderError, MemlayerError, ProtocolError, StoreError, UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol, TypeVar

    Answer = TypeVar("Answer", covariant=True)

    class Asked(Protocol[Answer]):
        """Arguments of an operation; see memlayer.wire."""

        @property
        def op(self) -> str: ...

        def fields(self) -> dict[str, Any]: ...

        def limited_to(self, folder: str) -> Asked[Answer]: ...

        def read_answer(self, sent: Any) -> Answer: ...

    Progress = Callable[[dict[str, Any]], None]

WAIT_S = 15.0  # for a daemon to come, or for an older version to go
SPAWN_AGAIN_S = 2.0
STATUS_S = 3.0
STOP_AGAIN_S = 0.5
POLL_S = 0.05
MAX_LOST = 2  # connections lost before an answer, until we call it an error

# Error frames are `kind: message`.
ERROR_KINDS: dict[str, type[MemlayerError]] = {"user": UserError, "store": StoreError, "embedder": EmbedderError}

_STAYS = "a daemon of another memlayer version serves this home and stays: update the older plugin, or stop it there"

# Outcomes of an attempt without a reply.
_ABSENT = "absent"
_BUSY = "busy"
_VERSION = "version"
_LOST = "lost"

MAX_ADDRESS_BYTES = 103  # macOS: 104 with the closing zero. Linux: 108


class Client:
    """A person's side of the socket: a connection per call, one thread."""

    def __init__(self, home: str, root: str, python: str | None = None, *, wait_s: float = WAIT_S) -> None:
        """Keep the home and how to start its daemon.

        home: the memlayer home. root: the plugin's root. python: the interpreter to start a daemon with. None: the
        result of find_runtime(home, root). wait_s: how long to wait for a daemon to come.
        """
        self.home = home
        self.root = root
        self.python = python
        self.wait_s = wait_s

    def call(
        self,
        op: str,
        payload: Mapping[str, object],
        *,
        deadline_s: float = 10.0,
        project_dir: str = "",
        on_progress: Progress | None = None,
        start: bool = True,
    ) -> dict[str, Any]:
        """Return the daemon's reply to `op`.

        Starts a daemon when there is none (unless `start` is False), and waits for a daemon of another version to be
        replaced.

        deadline_s: from the moment the daemon is connected to its reply. on_progress gets each progress frame
        ({"phase", "done", "total"}). Raises UserError, StoreError or EmbedderError as the daemon reports, and
        DaemonError when there is none, it is late or it goes away. Each op may be sent twice: when the daemon leaves
        before it answers, the next daemon is asked.
        """
        request = self._request(op, payload, deadline_s, project_dir)
        ends = time.monotonic() + self.wait_s
        spawned_at = -SPAWN_AGAIN_S
        lost = 0
        while True:
            outcome, reply = self._attempt(op, request, deadline_s, on_progress)
            if reply is not None:
                return reply
            if not start and outcome in (_ABSENT, _VERSION):
                raise DaemonError(
                    "no daemon is running" if outcome == _ABSENT else "the daemon that runs is of another version"
                )
            lost += outcome == _LOST
            if lost > MAX_LOST:
                raise DaemonError(f"the daemon goes away while it answers `{op}`: see {paths.daemon_log(self.home)}")
            if time.monotonic() > ends:
                raise DaemonError(_STAYS if outcome == _VERSION else self._why_none())
            if start and outcome in (_ABSENT, _LOST) and time.monotonic() - spawned_at > SPAWN_AGAIN_S:
                self._spawn()
                spawned_at = time.monotonic()
            time.sleep(POLL_S)

    def ask(
        self,
        arguments: Asked[Answer],
        *,
        deadline_s: float = 10.0,
        on_progress: Progress | None = None,
        start: bool = True,
    ) -> Answer:
        """Return the daemon's answer to a typed operation; see call."""
        reply = self.call(arguments.op, arguments.fields(), deadline_s=deadline_s, on_progress=on_progress, start=start)
        return arguments.read_answer(reply)

    def status(self) -> dict[str, Any] | None:
        """Return a running daemon's status. None when none runs.

        Starts nothing. A daemon of another version leaves when asked: it counts as none. Raises DaemonError when it
        hangs.
        """
        request = self._request("status", {}, STATUS_S, "")
        outcome, reply = self._attempt("status", request, STATUS_S, None)
        if outcome == _BUSY:
            pid = _pid_of(self.home)
            raise DaemonError(f"the daemon{pid} takes no more connections. Run `memlayer daemon restart`")
        return reply

    def stop(self, *, deadline_s: float = 30.0) -> bool:
        """Stop the daemon and wait; False without one. Raises DaemonError."""
        ends = time.monotonic() + deadline_s
        while not is_locked(self.home) and is_starting(self.home):
            time.sleep(POLL_S)
        was_there = is_locked(self.home)
        request = self._request("stop", {}, deadline_s, "")
        self._attempt("stop", request, deadline_s, None)
        asked_at = time.monotonic()
        while is_locked(self.home):
            if time.monotonic() > ends:
                raise DaemonError(f"the daemon{_pid_of(self.home)} does not stop. End that process by hand")
            if time.monotonic() - asked_at > STOP_AGAIN_S:
                # A daemon that has only just begun did not listen yet, or took over from the one that was asked.
                self._attempt("stop", request, max(POLL_S, ends - time.monotonic()), None)
                asked_at = time.monotonic()
            time.sleep(POLL_S)
        with contextlib.suppress(OSError):
            os.unlink(paths.wake_stamp(self.home))  # whoever stops it again need not wait
        return was_there

    def _request(self, op: str, payload: Mapping[str, object], deadline_s: float, project_dir: str) -> bytes:
        return protocol.request(
            op,
            json.dumps(payload).encode("ascii"),
            build=__version__,
            deadline_ms=int(deadline_s * 1000),
            at_ms=time.time_ns() // 1_000_000,
            project_dir=os.fsencode(project_dir),
        )

    def _attempt(
        self, op: str, request: bytes, deadline_s: float, on_progress: Progress | None
    ) -> tuple[str, dict[str, Any] | None]:
        """Return ("", reply), or (outcome, None)."""
        ends = time.monotonic() + deadline_s
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            sock.settimeout(deadline_s)
            try:
                connect(sock, self.home)
            except BlockingIOError:
                return _BUSY, None  # Linux: more clients wait than the daemon's backlog holds
            except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
                return _ABSENT, None
            check_peer(sock)
            sock.sendall(request)
            reader = protocol.AnswerReader()
            while True:
                left_s = ends - time.monotonic()
                if left_s <= 0:
                    raise TimeoutError
                sock.settimeout(left_s)
                data = sock.recv(1 << 20)
                if not data:
                    return _LOST, None
                for tag, body in reader.feed(data):
                    if tag == protocol.VERSION:
                        return _VERSION, None
                    if tag == protocol.REPLY:
                        return "", _object(body)
                    if tag == protocol.ERROR:
                        raise _error(body)
                    if tag == protocol.PROGRESS and on_progress is not None:
                        on_progress(_object(body))
        except (BrokenPipeError, ConnectionResetError):
            return _LOST, None
        except (TimeoutError, socket.timeout) as late:  # the same class from Python 3.10 on
            raise DaemonError(
                f"the daemon{_pid_of(self.home)} did not answer `{op}` within {deadline_s:g} s: "
                f"see {paths.daemon_log(self.home)}, or run `memlayer daemon restart`"
            ) from late
        except PermissionError as denied:
            raise UserError(f"{paths.socket(self.home)} cannot be used: {denied.strerror}") from denied
        finally:
            sock.close()

    def _spawn(self) -> None:
        python = self.python or find_runtime(self.home, self.root)
        if python is None:
            raise DaemonError("There is no runtime yet. Run `memlayer setup`")
        if file := _unwritable(self.home):
            raise DaemonError(f"no daemon can start: {file} cannot be written. Make it this user's own, and writable")
        try:
            paths.make_folder(self.home)
            runtime.spawn_daemon(self.home, python)
        except OSError as bad:
            raise DaemonError(f"the daemon cannot be started: {bad.strerror}: {bad.filename or self.home}") from bad

    def _why_none(self) -> str:
        if is_locked(self.home):
            return f"a daemon{_pid_of(self.home)} runs but does not listen: run `memlayer daemon restart`"
        last = last_line(os.path.join(paths.logs(self.home), "daemon.err"))
        return f"the daemon did not come up within {self.wait_s:g} s: {last or 'run `memlayer doctor`'}"


def _unwritable(home: str) -> str:
    """Return a file that a daemon must write and cannot, or ""."""
    log = os.path.join(paths.logs(home), "daemon.err")
    needed = [home, paths.lock(home), log if os.path.exists(log) else paths.logs(home)]
    return next((path for path in needed if os.path.exists(path) and not os.access(path, os.W_OK)), "")


def _pid_of(home: str) -> str:
    pid = lock_holder(home)
    return f" (process {pid})" if pid else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError as bad:
        raise ProtocolError("the daemon's answer is not JSON") from bad
    if not isinstance(value, dict):
        raise ProtocolError("the daemon's answer is not a JSON object")
    return value


def _error(body: bytes) -> MemlayerError:
    """Return the exception of an error frame."""
    text = " ".join(body.decode("utf-8", "replace").split())
    kind, colon, message = text.partition(": ")
    if colon and kind.isidentifier():
        return ERROR_KINDS.get(kind, DaemonError)(message)
    return DaemonError(text or "the daemon failed and does not say why: see its log")


def connect(sock: socket.socket, home: str) -> None:
    """Connect to the daemon of `home`, whatever the path's length.

    Raises OSError. A unix socket's address holds about a hundred bytes. Longer paths are reached by a relative name: on
    Linux through /proc/self/fd, which disturbs nothing. Elsewhere by changing into the home and back, which the whole
    process sees.
    """
    address = os.fsencode(paths.socket(home))
    if len(address) <= MAX_ADDRESS_BYTES:
        sock.connect(address)
        return
    folder = os.open(home, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        through_proc = f"/proc/self/fd/{folder}"
        if os.path.isdir(through_proc):
            sock.connect(f"{through_proc}/{paths.SOCKET_NAME}")
            return
        connect_from(sock, folder)
    finally:
        os.close(folder)


def connect_from(sock: socket.socket, folder: int) -> None:
    """Connect from an open folder, and go back. Raises OSError."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.fchdir(folder)
        sock.connect(paths.SOCKET_NAME)
    finally:
        os.fchdir(before)
        os.close(before)


def check_peer(sock: socket.socket) -> None:
    """Raise UserError when another user, who could read prompts, listens."""
    uid = protocol.peer_uid(sock)
    if uid != os.getuid():
        raise UserError(
            f"another user (uid {uid}) listens on memlayer's socket: set MEMLAYER_HOME to a folder of yours"
        )


def is_locked(home: str) -> bool:
    """True while a daemon runs, starts or leaves: it holds the lock."""
    return paths.is_locked(paths.lock(home))


def is_starting(home: str) -> bool:
    """True while a woken daemon may not have its lock yet."""
    try:
        return 0 <= time.time() - os.lstat(paths.wake_stamp(home)).st_mtime < WAIT_S
    except OSError:
        return False


def lock_holder(home: str) -> int:
    """Return the process id of the lock's holder; 0 for none."""
    if not is_locked(home):
        return 0
    first = last_line(paths.lock(home)).split(" ")[0]
    return int(first) if first.isdigit() else 0


def last_line(path: str) -> str:
    """Return the last line with text of a small file, or ""."""
    lines = paths.read_start(path, 1 << 16).decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
