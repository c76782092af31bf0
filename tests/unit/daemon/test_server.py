"""The server of the socket: a client that leaves in mid-request is no problem."""

import contextlib
import logging
import os
import socket
from pathlib import Path

import pytest

from memlayer.daemon.dispatch import Server
from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol


@pytest.mark.parametrize(
    ("sent", "problems"),
    [
        (b"", 0),
        (b"half a hea", 0),
        (protocol.request("hook.stop", b"0123456789", build="x", deadline_ms=1, at_ms=1)[:-4], 0),
        (b"no request at all\n", 1),
        (b"x" * (protocol.MAX_HEADER_BYTES + 70_000), 1),
    ],
)
def test_interrupted_request_is_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, sent: bytes, problems: int
) -> None:
    monkeypatch.chdir(os.getcwd())  # the server moves into its home
    server = Server(str(tmp_path), lambda request, send: None)
    server.start()
    with caplog.at_level(logging.WARNING):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(str(tmp_path / paths.SOCKET_NAME))
            with contextlib.suppress(ConnectionError):  # the server hangs up first where a header does not end
                client.sendall(sent)
                client.shutdown(socket.SHUT_WR)
                client.recv(1)
        server.close(5.0)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == problems
