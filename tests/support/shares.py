"""Places that a share may be carried through, and the bytes that they hold."""

import fcntl
import http.client
import itertools
import socket
import subprocess
import sys
import threading
import time
import urllib.request
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memlayer.sharing.ledger import Content, living, span_of, unpacked
from memlayer.sharing.sync import Sharing
from tests.support.shared_homes import SharedHome

NUMBERS = itertools.count(1)
ROOT = Path(__file__).resolve().parents[2]


def folder_address(folder: Path) -> str:
    """Make a folder that a drive or Syncthing would carry."""
    place = folder / "드라이브 (shared)"
    place.mkdir()
    return "file://%s" % place


def git_address(folder: Path) -> str:
    """Make a bare repository, as a private remote is."""
    remote = folder / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    return "git+file://%s" % remote


PLACES = {"folder": folder_address, "git": git_address}


def contents(sharing: Sharing) -> Iterator[tuple[str, str, Content]]:
    """Yield (machine, name, content) of all objects that are there, replaced ones included."""
    with sharing._open("read") as channel:
        for machine in channel.engine.machines():
            for name in channel.engine.names(machine):
                data = channel.engine.read(machine, [name])[name]
                yield machine, name, unpacked(data, machine, channel.seal)


def live_objects(sharing: Sharing, machine: str) -> list[str]:
    """Return the names of a machine's objects of rows."""
    with sharing._open("read") as channel:
        spans = [span for name in channel.engine.names(machine) if (span := span_of(name))]
        return [span.name for span in living(spans, "rows")]


def files_below(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()


def holding(words: str, *folders: Path) -> list[str]:
    """Return the files with these words, also inside packed git objects."""
    needle = words.encode()
    hits = []
    for path, data in files_below(*folders):
        inner = b""
        if "objects" in path.parts:
            try:
                inner = zlib.decompress(data)
            except zlib.error:
                inner = b""
        if needle in data or needle in inner:
            hits.append(str(path))
    return hits


def join(address: str, *homes: SharedHome, encrypted: bool = True) -> None:
    """Set up a share, and carry its key to the others."""
    first, *others = homes
    first.sharing.set_up(address, name=first.home.name, is_plain=not encrypted)
    first.sharing.push()
    secret = first.sharing.key() if encrypted else ""
    for home in others:
        home.sharing.set_up(address, secret=secret, name=home.home.name, is_plain=not encrypted)


def settle(*homes: SharedHome) -> None:
    """Push and pull until nothing moves."""
    for _ in range(2):
        for home in homes:
            home.sharing.push()
        for home in homes:
            home.sharing.pull()


class ObjectStore:
    """moto_server as a process, behind a door that can misbehave as stores do."""

    def __init__(self) -> None:
        self.inner = free_port()
        self.process = subprocess.Popen(
            [moto_python(), "-m", "moto.server", "-p", str(self.inner)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        ends = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.inner), 1).close()
                break
            except OSError:
                assert time.monotonic() < ends, "no moto_server in time"
                time.sleep(0.05)
        self.status, self.drops_condition, self.delay_s = 0, False, 0.0
        self.requests: list[str] = []
        self.bodies: list[bytes] = []
        self.answered_bytes = 0
        store = self

        class Door(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def pass_on(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                store.requests.append("%s %s" % (self.command, self.path.partition("?")[0]))
                store.bodies.append(body)
                time.sleep(store.delay_s)
                is_conditional = "If-None-Match" in self.headers
                if store.status and (store.status != 501 or is_conditional):
                    code = {403: b"AccessDenied", 501: b"NotImplemented"}[store.status]
                    self.answer(store.status, {}, b"<Error><Code>" + code + b"</Code></Error>")
                    return
                inner = http.client.HTTPConnection("127.0.0.1", store.inner, timeout=60)
                left_out = {"host", "if-none-match"} if store.drops_condition else {"host"}
                kept = {name: value for name, value in self.headers.items() if name.lower() not in left_out}
                inner.request(self.command, self.path, body or None, kept)
                reply = inner.getresponse()
                answer = reply.read()
                store.answered_bytes += len(answer)
                self.answer(reply.status, dict(reply.getheaders()), answer)
                inner.close()

            def answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
                self.send_response(status)
                size = headers.get("Content-Length", str(len(body))) if self.command == "HEAD" else str(len(body))
                for name, value in headers.items():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date"):
                        self.send_header(name, value)
                self.send_header("Content-Length", size)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

            def log_message(self, *_: object) -> None:
                """Stay silent."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def bucket(self, name: str) -> str:
        """Make a bucket; return the address of a share in it."""
        url = "http://127.0.0.1:%d/%s" % (self.inner, name)
        urllib.request.urlopen(urllib.request.Request(url, data=b"", method="PUT")).close()
        return "s3://%s/기억?endpoint=http://127.0.0.1:%d&region=us-east-1" % (name, self.port)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.process.terminate()
        self.process.wait(10)


def moto_python() -> str:
    """Return the Python of an environment with moto, made once; its packages do not go with LanceDB's."""
    folder, lock = ROOT / ".venv" / "s3-tests", ROOT / "requirements-s3-tests.lock"
    python, stamp = folder / "bin" / "python", folder / lock.name
    with (ROOT / ".venv" / "s3-tests.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # workers of pytest
        if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
            uv = str(ROOT / ".venv" / "bin" / "uv")
            made = [
                subprocess.run([uv, *words], capture_output=True, timeout=300, check=False).returncode
                for words in (
                    ("venv", "--quiet", "--clear", "--python", sys.executable, str(folder)),
                    ("pip", "install", "--quiet", "--require-hashes", "--python", str(python), "-r", str(lock)),
                )
            ]
            if any(made):
                pytest.skip("moto cannot be installed here: there is no package index")
            stamp.write_bytes(lock.read_bytes())
    return str(python)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def bucket_of(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a bucket of a test's own, with the variables to sign in."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "a"),
        ("AWS_SECRET_ACCESS_KEY", "b"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    store.status, store.drops_condition, store.delay_s = 0, False, 0.0
    store.bodies.clear()
    store.requests.clear()
    return store.bucket("bucket-%d" % next(NUMBERS))
