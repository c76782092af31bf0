"""The process of the page: port, token, idle end."""

import asyncio
import contextlib
import os
import secrets
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from memlayer.edge.bootstrap import runtime
from memlayer.edge.bootstrap.program import ENDS, LOOK_S, Program
from memlayer.edge.home import paths
from memlayer.errors import UserError
from memlayer.view.app import make
from memlayer.view.guard import Keys, entry
from memlayer.view.source import Source

ADDRESS = "127.0.0.1"
PORT = 37777
PORTS_TRIED = 50
IDLE_S = 30 * 60.0
HEADER_S = 10.0  # for the header of a request. Then its connection goes
WANTED_FILES = 8192
NICE = 5  # a hook goes first
TOKEN_VARIABLE = "MEMORY_VIEWER_TOKEN"
TOKEN_NAME = "view.token"
LEAST_TOKEN_CHARS = 16
OPEN_NAME = "view.open"  # process, port and door of the last page
ENTRY_NAME = "view.html"  # posts a key that works once


class TimedProtocol(H11Protocol):
    """HTTP/1.1 that closes a connection whose next request does not come whole."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock of a connection."""
        super().connection_made(transport)
        self._await_request()

    def on_response_complete(self) -> None:
        """Start the clock anew, for the next request."""
        super().on_response_complete()
        self._await_request()

    def _await_request(self) -> None:
        self.loop.call_later(HEADER_S, self._close_without_request, self.cycle)

    def _close_without_request(self, answered: object) -> None:
        if self.cycle is answered and not self.transport.is_closing():
            self.transport.close()


def token_of(home: str) -> str:
    """Return the page's token, made once. Raises UserError, OSError."""
    given = os.environ.get(TOKEN_VARIABLE, "").strip()
    if given:
        if len(given) < LEAST_TOKEN_CHARS:
            raise UserError(f"{TOKEN_VARIABLE} is too short to be safe: give {LEAST_TOKEN_CHARS} characters or more")
        return given
    path = os.path.join(home, TOKEN_NAME)
    stored = paths.read_start(path, 200, follow_links=False).decode("ascii", "replace").strip()
    if len(stored) >= LEAST_TOKEN_CHARS:
        return stored
    made = secrets.token_urlsafe(32)
    paths.write_whole(path, made.encode() + b"\n")
    return made


def write_entry(home: str, port: int, door: str) -> str:
    """Write a file that enters a page once; return its address."""
    path = os.path.join(home, ENTRY_NAME)
    paths.write_whole(path, entry(door, port).encode())
    return Path(path).absolute().as_uri()


def open_page(home: str) -> tuple[int, str] | None:
    """Return port and door of a page that is open."""
    parts = paths.read_start(os.path.join(home, OPEN_NAME), 100, follow_links=False).decode("ascii", "replace").split()
    return (int(parts[1]), parts[2]) if len(parts) == 3 and paths.runs(parts[0]) else None


def listen(port: int) -> socket.socket:
    """Return a listening socket, by default 37777. Raises UserError."""
    tried = range(port, port + 1) if port else range(PORT, PORT + PORTS_TRIED)
    for number in tried:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((ADDRESS, number))
            made.listen(1024)
        except OSError:
            made.close()
            continue
        return made
    if port:
        raise UserError(f"Port {port} is taken. Leave --port out for the next free one")
    raise UserError(f"The ports {PORT} to {PORT + PORTS_TRIED - 1} are all taken. Give another with --port")


def serve(
    source: Source, *, port: int, is_read_only: bool, opened: Callable[[str, str, int], None], idle_s: float = IDLE_S
) -> None:
    """Serve until Ctrl-C, or a while after the last use.

    opened: is told the first address, that of a file which enters by itself, and the port.
    """
    program, token, listening = Program(), token_of(source.home), listen(port)
    number = int(listening.getsockname()[1])
    keys = Keys(token, number, is_read_only)
    runtime.allow_files(WANTED_FILES)
    os.nice(NICE)
    config = uvicorn.Config(
        make(source, keys), http=TimedProtocol, ws="websockets-sansio", log_config=None, access_log=False,
        server_header=False, proxy_headers=False, lifespan="off", timeout_graceful_shutdown=2, ws_max_size=16_384,
        h11_max_incomplete_event_size=32_768,
    )  # fmt: skip
    server = uvicorn.Server(config)
    first = f"http://{ADDRESS}:{number}/?token="
    entry_file = write_entry(source.home, number, keys.door)
    try:
        paths.write_whole(os.path.join(source.home, OPEN_NAME), f"{os.getpid()} {number} {keys.door}\n".encode())
        opened(first + token, entry_file, number)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(_until_idle(server, listening, keys, idle_s, program, source.home))
    finally:
        with contextlib.suppress(OSError):
            path = os.path.join(source.home, ENTRY_NAME)
            if f":{number}/".encode() in paths.read_start(path, 2000, follow_links=False):  # not a later page's
                os.unlink(path)


async def _until_idle(
    server: uvicorn.Server, listening: socket.socket, keys: Keys, idle_s: float, program: Program, home: str
) -> None:
    async def watch() -> None:
        while time.monotonic() - keys.last_s < idle_s and os.path.isdir(home) and not program.is_replaced():
            await asyncio.sleep(min(LOOK_S, idle_s))
        if program.is_changed():
            print(ENDS, file=sys.stderr)
        server.should_exit = True

    clock = asyncio.create_task(watch())
    try:
        await server.serve([listening])
    finally:
        clock.cancel()
