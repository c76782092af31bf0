"""The person's side of the socket: replies, errors, waiting, foreign users."""

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer import __version__
from memlayer.edge.ipc import client, protocol
from memlayer.edge.ipc.client import Client
from memlayer.errors import DaemonError, EmbedderError, MemlayerError, ProtocolError, StoreError, UserError
from tests.support.scripted_daemon import ScriptedDaemon


def client_of(home: Path, wait_s: float = 1.0) -> Client:
    """Return a client whose daemon, if it starts any, ends at once."""
    return Client(str(home), "/nonexistent", "/bin/false", wait_s=wait_s)


def test_call_sends_request_and_returns_reply(home: Path, project: Path) -> None:
    with ScriptedDaemon(home, {"search": {"hits": ["과제"]}}) as daemon:
        reply = client_of(home).call("search", {"query": "과제를 \ud800"}, deadline_s=2.5, project_dir=str(project))
    assert reply == {"hits": ["과제"]}
    assert daemon.heard == [("search", {"query": "과제를 \ud800"})]
    request = daemon.requests[0]
    assert (request.build, request.deadline_ms, request.project_dir) == (__version__, 2500, os.fsencode(project))
    assert abs(request.at_ms - time.time() * 1000) < 60_000


def test_progress_frames_are_passed_on(home: Path) -> None:
    frames = [
        (protocol.DURABLE, b""),
        (protocol.PROGRESS, json.dumps({"phase": "임베딩", "done": 1, "total": 2}).encode()),
        (protocol.REPLY, b'{"taken": 2}'),
    ]
    seen: list[dict[str, Any]] = []
    with ScriptedDaemon(home, {"flush": frames}):
        assert client_of(home).call("flush", {}, on_progress=seen.append) == {"taken": 2}
        assert client_of(home).call("flush", {}) == {"taken": 2}
    assert seen == [{"phase": "임베딩", "done": 1, "total": 2}]


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("user: 그런 기억은 없습니다: x", UserError, "그런 기억은 없습니다: x"),
        ("store: torn\nfile", StoreError, "torn file"),
        ("embedder: no model", EmbedderError, "no model"),
        ("daemon: busy", DaemonError, "busy"),
        ("something else", DaemonError, "something else"),
        ("", DaemonError, "does not say why"),
    ],
)
def test_error_frame_raises_its_exception(home: Path, body: str, kind: type[MemlayerError], message: str) -> None:
    with ScriptedDaemon(home, {"show": [(protocol.ERROR, body.encode())]}), pytest.raises(kind) as raised:
        client_of(home).call("show", {"id": "x"})
    assert message in str(raised.value) and "\n" not in str(raised.value)


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff"])
def test_reply_must_be_an_object(home: Path, body: bytes) -> None:
    with ScriptedDaemon(home, {"stats": [(protocol.REPLY, body)]}), pytest.raises(ProtocolError):
        client_of(home).call("stats", {})


@pytest.mark.timeout(20)
def test_late_daemon_is_an_error(home: Path) -> None:
    held = threading.Event()
    with (
        ScriptedDaemon(home, {"stats": lambda _: held.wait(5) and None}),
        pytest.raises(DaemonError, match=r"did not answer `stats` within 0.3 s"),
    ):
        try:
            client_of(home).call("stats", {}, deadline_s=0.3)
        finally:
            held.set()


def test_absent_daemon_fails_at_once(home: Path) -> None:
    began = time.monotonic()
    with pytest.raises(DaemonError, match="no daemon is running"):
        client_of(home, wait_s=60).call("stats", {}, start=False)
    assert client_of(home, wait_s=60).status() is None
    assert time.monotonic() - began < 30  # without waiting for a daemon
    assert not home.exists()


def test_failed_start_quotes_the_daemon(home: Path, tmp_path: Path) -> None:
    dying = tmp_path / "python"
    dying.write_text("#!/bin/sh\necho 'ImportError: 없는 모듈' >&2\nexit 1\n")
    dying.chmod(0o755)
    with pytest.raises(DaemonError, match=r"did not come up within 0.5 s: ImportError: 없는 모듈"):
        Client(str(home), "/nonexistent", str(dying), wait_s=0.5).call("stats", {})
    assert home.stat().st_mode & 0o777 == 0o700


def test_missing_runtime_names_setup(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLAYER_RUNTIME_DIR", raising=False)
    with pytest.raises(DaemonError, match="memlayer setup"):
        Client(str(home), "/nonexistent", wait_s=0.5).call("stats", {})


def test_lost_connection_is_retried(home: Path) -> None:
    answers: list[Any] = [None, {"hits": []}]
    with ScriptedDaemon(home, {"search": lambda _: answers.pop(0)}) as daemon:
        assert client_of(home).call("search", {"query": "q"}) == {"hits": []}
    assert len(daemon.heard) == 2


def test_retries_are_bounded(home: Path) -> None:
    with (
        ScriptedDaemon(home, {"search": []}) as daemon,
        pytest.raises(DaemonError, match="goes away while it answers `search`"),
    ):
        client_of(home).call("search", {"query": "q"})
    assert len(daemon.heard) == 3


def test_other_version_is_waited_out(home: Path) -> None:
    old = [(protocol.VERSION, b"1 0.0.9")]
    answers: list[Any] = [old, old, {"hits": []}]
    with ScriptedDaemon(home, {"search": lambda _: answers.pop(0)}):
        assert client_of(home, wait_s=5).call("search", {"query": "q"}) == {"hits": []}


def test_other_version_that_stays_is_named(home: Path) -> None:
    with ScriptedDaemon(home, {"search": [(protocol.VERSION, b"9 9.0")]}), pytest.raises(DaemonError, match="another"):
        client_of(home, wait_s=0.3).call("search", {"query": "q"})


@pytest.mark.timeout(20)
def test_stop_waits_for_the_lock(home: Path) -> None:
    with ScriptedDaemon(home, {"stop": {}}, holds_lock=True) as daemon:
        assert client.is_locked(str(home))
        assert client.lock_holder(str(home)) == os.getpid()
        leaving = threading.Timer(0.4, daemon.release_lock)
        leaving.start()
        began = time.monotonic()
        assert client_of(home).stop() is True
        assert time.monotonic() - began >= 0.3
        leaving.join()
    assert client_of(home).stop() is False


def test_stop_reaches_daemon_that_listens_late(home: Path) -> None:
    home.mkdir(mode=0o700, exist_ok=True)
    lock = os.open(home / "daemon.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)

    def leave(request: protocol.Request) -> dict[str, Any]:
        os.close(lock)
        return {}

    daemon = ScriptedDaemon(home, {"stop": leave})
    starting = threading.Timer(0.2, daemon.__enter__)
    starting.start()
    try:
        assert client_of(home).stop(deadline_s=15) is True
    finally:
        starting.join()
        daemon.__exit__()


@pytest.mark.timeout(20)
def test_stop_names_a_stubborn_process(home: Path) -> None:
    with (
        ScriptedDaemon(home, {"stop": {}}, holds_lock=True),
        pytest.raises(DaemonError, match=f"process {os.getpid()}"),
    ):
        client_of(home).stop(deadline_s=0.3)


def test_lock_without_listener_is_named(home: Path) -> None:
    with ScriptedDaemon(home, {}, holds_lock=True) as daemon:
        (home / "daemon.sock").unlink()
        with pytest.raises(DaemonError, match=r"process \d+\) runs but does not listen"):
            client_of(home, wait_s=0.2).call("stats", {})
        daemon.release_lock()


def test_long_home_path_is_reached(tmp_path: Path) -> None:
    deep = tmp_path / ("긴 이름" * 8) / ("x" * 120) / "home"
    assert len(os.fsencode(deep)) > 108
    here = os.getcwd()
    with ScriptedDaemon(deep, {"stats": {"events": 1}}):
        assert client_of(deep).call("stats", {}, start=False) == {"events": 1}
    assert os.getcwd() == here


def test_working_folder_is_restored_without_proc(home: Path, tmp_path: Path) -> None:
    here = os.getcwd()
    with ScriptedDaemon(home, {}):
        folder = os.open(home, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as sock:
            client.connect_from(sock, folder)
            client.check_peer(sock)
        os.close(folder)
    empty = os.open(tmp_path, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as sock, pytest.raises(FileNotFoundError):
        client.connect_from(sock, empty)
    os.close(empty)
    assert os.getcwd() == here


SYSTEM_PYTHON = "/usr/bin/python3"  # every user may run it
LISTEN = """
import os, socket, sys
os.chdir(sys.argv[1])
listening = socket.socket(socket.AF_UNIX)
listening.bind("daemon.sock")
listening.listen()
os.chmod("daemon.sock", 0o777)
print("ready", flush=True)
connection, _ = listening.accept()
print(len(connection.recv(100)), flush=True)
"""


@pytest.mark.skipif(
    os.getuid() != 0 or not os.path.exists(SYSTEM_PYTHON), reason="only root can start a process of another user"
)
def test_foreign_socket_gets_nothing() -> None:
    shared = Path(tempfile.mkdtemp())
    try:
        shared.chmod(0o777)
        with subprocess.Popen(
            [SYSTEM_PYTHON, "-I", "-c", LISTEN, str(shared)], user=65534, stdout=subprocess.PIPE, cwd="/"
        ) as other:
            assert other.stdout is not None and other.stdout.readline() == b"ready\n"
            with pytest.raises(UserError, match="another user"):
                client_of(shared).call("search", {"query": "비밀"})
            assert other.stdout.readline() == b"0\n"
    finally:
        shutil.rmtree(shared)


def test_client_imports_standard_library_only() -> None:
    code = "import sys, memlayer.edge.ipc.client; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert not {"click", "rich", "pydantic", "yaml", "lancedb", "dataclasses", "subprocess"} & set(done.stdout.split())
