"""Server of the socket: a connection a request, dispatched to its handler."""

import contextlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from memlayer import __version__
from memlayer.daemon import hooks
from memlayer.daemon.handlers import ASKING, HANDLERS
from memlayer.daemon.ops import (
    agent_turns,
    deletion,
    disclosure,
    maintenance,
    memories,
    notes,
    queries,
    review,
    sessions,
    transfer,
)
from memlayer.daemon.ops.project import choice, past_work, record, tasks, topics
from memlayer.daemon.ops.requests import handlers
from memlayer.daemon.ops.sharing import share, team
from memlayer.daemon.resources.jobs import where
from memlayer.daemon.resources.state import Send, State
from memlayer.daemon.tasks import batches, derived
from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from memlayer.errors import DaemonError, ProtocolError, StoreError, UserError
from memlayer.wire import memories as memory_ops
from memlayer.wire import tasks as task_ops
from memlayer.wire import tools as tool_ops
from memlayer.wire import upkeep as upkeep_ops

OPERATIONS = handlers(
    (
        queries, disclosure, agent_turns, memories, sessions, notes, review, topics, past_work, tasks, record, choice,
        deletion, transfer, share, team, maintenance,
    )
)  # fmt: skip
# Operations that read nothing, answer in the background, or take waiting events in by themselves.
AS_IT_IS: frozenset[type[Any]] = frozenset(
    (
        upkeep_ops.Status, upkeep_ops.Stop, upkeep_ops.Flush, tool_ops.Turn, memory_ops.Remember, tool_ops.MemRemember,
        task_ops.Tasks, task_ops.TaskShow, task_ops.TaskChange,
    )
)  # fmt: skip
# A newer daemon that still serves clients of its own build does not give way to an old one that happens to be about.
STAYS_FOR_OWN_S = 600.0
# A daemon whose runtime does not work says so while it is that young, and later leaves for a luckier one.
FRESH_S = 3.0
MAX_CONNECTIONS = 64
READ_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 5.0
BACKLOG = 128
log = logging.getLogger(__name__)


class Dispatch:
    """Answers of a daemon to requests, for a Server."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __call__(self, request: protocol.Request, send: Send) -> None:
        """Answer one request. Raises OSError when the client has gone."""
        state = self._state
        started = time.monotonic()
        if (request.protocol, request.build) != (protocol.PROTOCOL, __version__):
            if self._leaves_to_newer(request):
                log.info("leaving for a client of build %s", request.build)
                state.life.leaving.set()
            if request.protocol != protocol.PROTOCOL or state.life.leaving.is_set():
                send(protocol.VERSION, b"%d %s" % (protocol.PROTOCOL, __version__.encode()))
                return
        elif request.op != "status":
            state.life.last_own_client = started
        is_work = request.op not in ("status", "stop")
        if is_work and state.has_broken_runtime and state.times.since("open") > FRESH_S:
            log.error("leaving: the runtime does not work")  # a fresh process may find it mended
            state.life.leaving.set()
        if state.held.read() and state.is_open:
            state.jobs.submit("settings", lambda: derived.publish_of(state, state.projects.scopes()))
        if state.life.leaving.is_set() and is_work:
            send(protocol.VERSION, b"leaving")
            return
        if request.op not in ("status", "stats"):
            state.life.last_request = started
        try:
            if request.op in ASKING:
                ASKING[request.op](request, send, state)
            elif request.op in HANDLERS:
                hooks.answer(HANDLERS[request.op], request, send, state)
            else:
                self._operate(request, send)
        except OSError:
            raise
        except BaseException as bad:  # a request, or a panic in Rust, takes nobody with it
            if isinstance(bad, (UserError, StoreError, DaemonError)):
                kind = "user" if isinstance(bad, UserError) else "store" if isinstance(bad, StoreError) else "daemon"
                send(protocol.ERROR, ("%s: %s" % (kind, bad)).encode("utf-8", "replace"))
            elif isinstance(bad, ImportError) and state.life.program.is_changed():
                state.life.begin_anew()
                send(protocol.VERSION, b"leaving")
            else:
                log.error("%s failed: %s", request.op, where(bad))
                send(protocol.ERROR, b"daemon: %s failed inside the daemon; see logs/daemon.log" % request.op.encode())
        finally:
            took_ms = (time.monotonic() - started) * 1000
            state.metrics.record(request.op, took_ms, late=took_ms > request.deadline_ms)

    def _operate(self, request: protocol.Request, send: Send) -> None:
        if request.op not in OPERATIONS:
            raise UserError("this daemon knows no op %r; try `memlayer daemon restart`" % request.op)
        try:
            sent = json.loads(request.body or b"{}")
        except (ValueError, RecursionError):
            sent = None
        arguments, handler = OPERATIONS[request.op]
        if arguments not in AS_IT_IS:
            batches.taken_in(self._state, batches.ASKED_S)

        def progress(phase: str, done: int, total: int) -> None:
            send(protocol.PROGRESS, json.dumps({"phase": phase, "done": done, "total": total}).encode())

        answer = handler(self._state, arguments.parse(sent), progress).fields()
        send(protocol.REPLY, json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace"))

    def _leaves_to_newer(self, request: protocol.Request) -> bool:
        """Return whether to leave for a client of another build.

        An older daemon always gives way to a newer client. A newer one only when nobody else needs it any more, so that
        two plugin versions in use at once do not drive each other out by turns.
        """
        if _order(request.build, request.protocol) > _order(__version__, protocol.PROTOCOL):
            return True
        return time.monotonic() - self._state.life.last_own_client > STAYS_FOR_OWN_S


def _order(build: str, version: int) -> tuple[int, list[int]]:
    return version, [int(part) if part.isdigit() else 0 for part in build.replace("-", ".").split(".")]


class Server:
    """A thread that accepts, and a thread for each connection.

    At most MAX_CONNECTIONS at once. The rest waits in the backlog, where each client's own deadline ends its wait.
    """

    def __init__(self, home: str, dispatch: Callable[[protocol.Request, Send], None]) -> None:
        self._home = home
        self._dispatch = dispatch
        self._closing = threading.Event()
        self._busy = 0  # connections that are being answered
        self._changed = threading.Condition()
        self._socket = self._listen()

    def start(self) -> None:
        """Serve until close()."""
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    def close(self, wait_s: float) -> None:
        """Stop listening, and wait for the connections that are being answered."""
        self._closing.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._changed:
            self._changed.wait_for(lambda: self._busy == 0, wait_s)

    def _listen(self) -> socket.socket:
        # The daemon's working folder is its home: the address stays short however long the home's path is.
        os.chdir(self._home)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(paths.SOCKET_NAME)  # left by a daemon that was killed. The lock says that it is gone
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(paths.SOCKET_NAME)
        os.chmod(paths.SOCKET_NAME, paths.FILE_MODE)
        listening.listen(BACKLOG)
        return listening

    def _accept(self) -> None:
        while not self._closing.is_set():
            with self._changed:
                self._changed.wait_for(lambda: self._busy < MAX_CONNECTIONS)
            try:
                connection, _ = self._socket.accept()
            except OSError as bad:
                if not self._closing.is_set():
                    log.warning("accept failed: %s", bad.strerror)
                    self._closing.wait(0.1)  # out of file descriptors: let some connections end
                continue
            with self._changed:
                self._busy += 1
            try:
                threading.Thread(target=self._serve, args=(connection,), name="connection", daemon=True).start()
            except (RuntimeError, MemoryError):  # too many processes, or too little memory: for this moment
                connection.close()  # the client keeps its event by itself
                self._answered()
                log.warning("no thread to be had for a connection")
                self._closing.wait(0.1)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                if protocol.peer_uid(connection) != os.getuid():
                    log.warning("refused a connection of another user")
                    return
                connection.settimeout(READ_TIMEOUT_S)
                request = self._read(connection)
                connection.settimeout(SEND_TIMEOUT_S)
                self._dispatch(request, lambda tag, body: connection.sendall(protocol.answer(tag, body)))
        except ProtocolError as bad:
            log.warning("%s", bad)
        except OSError:
            pass  # the client has gone: it kept its event by itself, or does not want the answer any more
        finally:
            self._answered()

    def _answered(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def _read(self, connection: socket.socket) -> protocol.Request:
        data = b""
        while b"\n" not in data:
            part = connection.recv(1 << 16)
            if not part:
                raise ConnectionAbortedError("a request ended within its header")
            if len(data) > protocol.MAX_HEADER_BYTES:
                raise ProtocolError("the header of a request does not end")
            data += part
        line, _, rest = data.partition(b"\n")
        request, size = protocol.parse_header(line)
        parts, have = [rest], len(rest)
        while have < size:
            part = connection.recv(min(1 << 20, size - have))
            if not part:
                raise ConnectionAbortedError("a request ended within its body")
            parts.append(part)
            have += len(part)
        request.body = b"".join(parts)[:size]
        return request
