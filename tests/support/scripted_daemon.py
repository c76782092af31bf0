"""A double of the daemon for the client's side.

It listens on a real socket, sends its script, keeps the requests.
"""

import contextlib
import fcntl
import json
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memlayer.edge.ipc import protocol

Frames = list[tuple[bytes, bytes]]
Script = dict[str, Any]  # op -> the reply, or a list of frames, or a function of the request that gives either


class ScriptedDaemon:
    """A scripted daemon, as a context manager.

    An op that the script does not know is an error; one whose answer is an empty list closes the connection without a
    word, and the client then starts a daemon.
    """

    def __init__(self, home: Path, script: Script, *, holds_lock: bool = False) -> None:
        self.home, self.script, self.holds_lock = home, script, holds_lock
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.requests: list[protocol.Request] = []
        self._lock_fd = -1

    def __enter__(self) -> "ScriptedDaemon":
        self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if self.holds_lock:
            self._lock_fd = os.open(self.home / "daemon.lock", os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._lock_fd, fcntl.LOCK_EX)
            os.write(self._lock_fd, b"%d 0\n" % os.getpid())
        folder = os.open(self.home, os.O_RDONLY)
        self._socket = socket.socket(socket.AF_UNIX)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.home / "daemon.sock")
        self._socket.bind(f"/proc/self/fd/{folder}/daemon.sock" if os.path.isdir("/proc/self/fd") else self._address())
        os.close(folder)
        self._socket.listen(8)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def _address(self) -> str:
        return str(self.home / "daemon.sock")

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.home / "daemon.sock")
        self.release_lock()

    def release_lock(self) -> None:
        """As if the daemon were gone."""
        if self._lock_fd >= 0:
            os.close(self._lock_fd)
            self._lock_fd = -1

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, contextlib.suppress(BrokenPipeError):
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        data = b""
        while b"\n" not in data:
            part = connection.recv(65536)
            if not part:  # it connected and left
                return
            data += part
        head, _, body = data.partition(b"\n")
        request, length = protocol.parse_header(head)
        while len(body) < length:
            body += connection.recv(65536)
        request.body = body
        self.requests.append(request)
        self.heard.append((request.op, json.loads(body)))
        answer = self.script.get(request.op, [(protocol.ERROR, b"the script knows no " + request.op.encode())])
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            answer = answer(request)
        if isinstance(answer, dict):
            answer = [(protocol.REPLY, json.dumps(answer).encode())]
        for tag, text in answer or []:
            connection.sendall(protocol.answer(tag, text))
