"""New events and the daemon's state for open pages, over a WebSocket.

One look at the daemon serves all open pages, and there is none while no page is open. A look asks for the status, which
neither starts a daemon nor keeps it from leaving. Events are asked for when the status has moved.
"""

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from memlayer.errors import MemlayerError
from memlayer.model import replace
from memlayer.view.source import EVERY, Source
from memlayer.view.texts import short
from memlayer.wire import record as record_ops

CHANNELS = ("events", "status")
STATUS = ("hooks_worked_ms", "spool_waiting", "jobs_waiting", "job", "job_errors")
LOOK_S = 0.5
SETTLE_S = 3.0  # after a change, in which its events are looked for
MAX_PAGES = 64
MAX_EVENTS = 50
WAITING = 256  # messages for a page that does not read them. Then it goes
PREVIEW_CHARS = 100


@dataclass(eq=False)
class Subscriber:
    """An open page."""

    channels: set[str] = field(default_factory=set)
    project: str = ""
    session: str = ""
    waiting: asyncio.Queue[dict[str, Any]] = field(default_factory=lambda: asyncio.Queue(WAITING))

    def wants(self, channel: str, row: record_ops.StoredEvent | None = None) -> bool:
        """Return whether a message is for this page."""
        if channel not in self.channels:
            return False
        if row is None:
            return True
        return self.project in ("", row.project_id) and self.session in ("", row.session_id)

    def take(self, message: Mapping[str, Any]) -> None:
        """Carry out a message of the page. Raises ValueError for another one."""
        kind, channels, filters = message.get("type"), message.get("channels", []), message.get("filters") or {}
        if kind not in ("subscribe", "unsubscribe") or not isinstance(channels, list) or not isinstance(filters, dict):
            raise ValueError("give type subscribe or unsubscribe, and channels")
        if not set(map(str, channels)) <= set(CHANNELS):
            raise ValueError(f"the channels are {', '.join(CHANNELS)}")
        if kind == "unsubscribe":
            self.channels -= set(channels)
            return
        self.channels |= set(channels)
        project = str(filters.get("project") or "")
        self.project, self.session = "" if project == EVERY else project, str(filters.get("session_id") or "")


class Live:
    """The open pages, and the look at the daemon that serves them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._pages: set[Subscriber] = set()
        self._looking: asyncio.Task[None] | None = None

    async def serve(self, socket: WebSocket) -> None:
        """Serve a page until it goes."""
        if len(self._pages) >= MAX_PAGES:
            await socket.close(1013, "too many pages are open")
            return
        await socket.accept()
        page = Subscriber()
        self._pages.add(page)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        sending = asyncio.create_task(_send(socket, page))
        try:
            while True:
                try:
                    message = json.loads(await socket.receive_text())
                    page.take(message if isinstance(message, dict) else {})
                except (ValueError, KeyError) as wrong:
                    page.waiting.put_nowait({"channel": "error", "data": {"detail": short(wrong)}})
        except (WebSocketDisconnect, asyncio.QueueFull):
            pass  # the browser has left, or reads nothing any more
        finally:
            sending.cancel()
            self._pages.discard(page)

    async def _look(self) -> None:
        """Look at the daemon while a page is open."""
        seen_ms, moved_s = int(time.time() * 1000), 0.0
        before: dict[str, Any] = {}
        known: set[str] = set()
        while self._pages:
            with contextlib.suppress(MemlayerError):  # a daemon that is away: the next look
                status = await run_in_threadpool(self._source.status)
                state = {name: status.get(name) for name in STATUS}
                if state != before:
                    moved_s = time.monotonic()
                    self._tell("status", state)
                    before = state
                is_wanted = any(page.wants("events") for page in self._pages)
                if status and is_wanted and time.monotonic() - moved_s < SETTLE_S:
                    asked = record_ops.Events(since_ms=seen_ms, limit=MAX_EVENTS)
                    rows = (await run_in_threadpool(self._source.ask, asked)).events
                    new = [row for row in reversed(rows) if row.id not in known]
                    known = {row.id for row in rows}
                    for row in new:
                        told = replace(row, text=short(row.text, PREVIEW_CHARS))
                        self._tell("events", told.fields(), row)
                    seen_ms = max([seen_ms, *(row.at_ms for row in rows)])
            await asyncio.sleep(LOOK_S)

    def _tell(self, channel: str, data: Mapping[str, Any], row: record_ops.StoredEvent | None = None) -> None:
        for page in list(self._pages):
            if page.wants(channel, row):
                try:
                    page.waiting.put_nowait({"channel": channel, "data": dict(data)})
                except asyncio.QueueFull:  # it does not read: its socket is closed by the next send
                    page.channels.clear()


async def _send(socket: WebSocket, page: Subscriber) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_json(await page.waiting.get())
