"""Dispatch of a request: version check, handler, errors as frames."""

from __future__ import annotations

import json
import logging
import time

from memlayer import __version__
from memlayer.daemon import hooks, opening
from memlayer.daemon.ops import citations, deletion, disclosure, maintenance, memories, queries, sessions, transfer
from memlayer.daemon.ops.requests import Table
from memlayer.daemon.resources.jobs import where
from memlayer.daemon.resources.state import State
from memlayer.daemon.server import Send
from memlayer.edge.ipc import ops, protocol
from memlayer.errors import DaemonError, StoreError, UserError

TABLE: Table = {
    **queries.OPERATIONS,
    **disclosure.OPERATIONS,
    **citations.OPERATIONS,
    **memories.OPERATIONS,
    **sessions.OPERATIONS,
    **deletion.OPERATIONS,
    **transfer.OPERATIONS,
    **maintenance.OPERATIONS,
}
OPERATIONS = {arguments.op: (arguments, handler) for arguments, handler in TABLE.items()}
# A newer daemon that still serves clients of its own build does not give way to an old one that happens to be about.
STAYS_FOR_OWN_S = 600.0
# A daemon whose runtime does not work says so while it is that young, and later leaves for a luckier one.
FRESH_S = 3.0
log = logging.getLogger(__name__)


class Dispatch:
    """Callable as daemon.server.Dispatch."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __call__(self, request: protocol.Request, send: Send) -> None:
        """Answer one request. Raises OSError when the client has gone."""
        state = self._state
        started = time.monotonic()
        if (request.protocol, request.build) != (protocol.PROTOCOL, __version__):
            if self._gives_way(request):
                log.info("leaving for a client of build %s", request.build)
                state.leaving.set()
            if request.protocol != protocol.PROTOCOL or state.leaving.is_set():
                send(protocol.VERSION, b"%d %s" % (protocol.PROTOCOL, __version__.encode()))
                return
        elif request.op != "status":
            state.last_own_client = started
        is_work = request.op not in ("status", "stop")
        if is_work and opening.has_broken_runtime(state) and started - state.opened_s > FRESH_S:
            log.error("leaving: the runtime does not work")  # a fresh process may find it mended
            state.leaving.set()
        if state.leaving.is_set() and is_work:
            send(protocol.VERSION, b"leaving")
            return
        if request.op not in ("status", "stats"):
            state.last_request = started
        try:
            if request.op in hooks.ASKING:
                hooks.ASKING[request.op](request, send, state)
            elif request.op in hooks.HANDLERS:
                hooks.answer(request, send, state)
            else:
                self._operate(request, send)
        except OSError:
            raise
        except BaseException as bad:  # one of three broad ones: a request, or a panic in Rust, takes nobody with it
            if isinstance(bad, (UserError, StoreError, DaemonError)):
                kind = "user" if isinstance(bad, UserError) else "store" if isinstance(bad, StoreError) else "daemon"
                send(protocol.ERROR, ("%s: %s" % (kind, bad)).encode("utf-8", "replace"))
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
        if not isinstance(sent, dict):
            raise UserError("the request is not a JSON object")
        arguments, handler = OPERATIONS[request.op]

        def progress(phase: str, done: int, total: int) -> None:
            send(protocol.PROGRESS, json.dumps({"phase": phase, "done": done, "total": total}).encode())

        found = handler(self._state, ops.read(arguments, sent), progress)
        send(protocol.REPLY, json.dumps(found, ensure_ascii=False, default=str).encode("utf-8", "replace"))

    def _gives_way(self, request: protocol.Request) -> bool:
        """Return whether to leave for a client of another build.

        An older daemon always gives way to a newer client; a newer one only when nobody else needs it any more, so that
        two plugin versions in use at once do not drive each other out by turns.
        """
        if _order(request.build, request.protocol) > _order(__version__, protocol.PROTOCOL):
            return True
        return time.monotonic() - self._state.last_own_client > STAYS_FOR_OWN_S


def _order(build: str, version: int) -> tuple[int, list[int]]:
    return version, [int(part) if part.isdigit() else 0 for part in build.replace("-", ".").split(".")]
