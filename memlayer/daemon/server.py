"""Server of the socket, a request a connection.

It reads the request, has `dispatch` answer it, and closes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable

from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from memlayer.edge.ipc.client import peer_uid
from memlayer.errors import ProtocolError

MAX_CONNECTIONS = 64
READ_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 5.0
BACKLOG = 128

Send = Callable[[bytes, bytes], None]  # (tag, body); raises OSError when the client has gone
Dispatch = Callable[[protocol.Request, Send], None]
log = logging.getLogger(__name__)


class Server:
    """A thread that accepts, and a thread for each connection.

    At most MAX_CONNECTIONS at once; the rest waits in the backlog, where each client's own deadline ends its wait.
    """

    def __init__(self, home: str, dispatch: Dispatch) -> None:
        self._home = home
        self._dispatch = dispatch
        self._slots = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self._closing = threading.Event()
        self._busy = 0
        self._changed = threading.Condition()
        self._socket = self._listen()

    def start(self) -> None:
        """Serve until close()."""
        threading.Thread(target=self._accept, name="accept", daemon=True).start()

    @property
    def busy(self) -> int:
        """Number of connections being answered now."""
        return self._busy

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
            os.unlink(paths.SOCKET_NAME)  # left by a daemon that was killed; the lock says that it is gone
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(paths.SOCKET_NAME)
        os.chmod(paths.SOCKET_NAME, paths.FILE_MODE)
        listening.listen(BACKLOG)
        return listening

    def _accept(self) -> None:
        while not self._closing.is_set():
            self._slots.acquire()
            try:
                connection, _ = self._socket.accept()
            except OSError as bad:
                self._slots.release()
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
                if peer_uid(connection) != os.getuid():
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
        self._slots.release()
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def _read(self, connection: socket.socket) -> protocol.Request:
        data = b""
        while b"\n" not in data:
            part = connection.recv(1 << 16)
            if not part or len(data) > protocol.MAX_HEADER_BYTES:
                raise ProtocolError("a request ended within its header")
            data += part
        line, _, rest = data.partition(b"\n")
        request, size = protocol.parse_header(line)
        parts, have = [rest], len(rest)
        while have < size:
            part = connection.recv(min(1 << 20, size - have))
            if not part:
                raise ProtocolError("a request ended within its body")
            parts.append(part)
            have += len(part)
        request.body = b"".join(parts)[:size]
        return request
