"""One request to one answer: checks the version, finds the handler, turns errors into frames."""

from __future__ import annotations

import json
import logging
import time

from memlayer import __version__
from memlayer.daemon import opening
from memlayer.daemon.hooks import Hooks
from memlayer.daemon.ops.table import OPERATIONS
from memlayer.daemon.resources.jobs import where
from memlayer.daemon.resources.state import State
from memlayer.daemon.server import Send
from memlayer.edge.ipc import protocol
from memlayer.errors import DaemonError, StoreError, UserError

HOOK_OPS = (
    "hook.session_start",
    "hook.user_prompt_submit",
    "hook.post_tool_use",
    "hook.post_tool_use_failure",
    "hook.stop",
    "hook.session_end",
    "hook.pre_compact",
    "hook.post_compact",
)
# A newer daemon that still serves clients of its own build does not give way to an old one that happens to be about.
STAYS_FOR_OWN_S = 600.0
# A daemon whose runtime does not work says so while it is that young, and later leaves for one that may do better.
FRESH_S = 3.0
log = logging.getLogger(__name__)


class Dispatch:
    """Callable as daemon.server.Dispatch."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hooks = Hooks(state)

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
            if request.op in HOOK_OPS:
                self._hooks.answer(request, send)
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
        operation = OPERATIONS.get(request.op)
        if operation is None:
            raise UserError("this daemon knows no op %r; try `memlayer daemon restart`" % request.op)
        try:
            asked = json.loads(request.body or b"{}")
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            raise UserError("the request is not a JSON object")

        def progress(phase: str, done: int, total: int) -> None:
            send(protocol.PROGRESS, json.dumps({"phase": phase, "done": done, "total": total}).encode())

        found = operation(self._state, asked, progress)
        send(protocol.REPLY, json.dumps(found, ensure_ascii=False, default=str).encode("utf-8", "replace"))

    def _gives_way(self, request: protocol.Request) -> bool:
        """An older daemon always gives way to a newer client; a newer one only when nobody else needs it any more, so
        that two plugin versions in use at once do not drive each other out by turns."""
        if _order(request.build, request.protocol) > _order(__version__, protocol.PROTOCOL):
            return True
        return time.monotonic() - self._state.last_own_client > STAYS_FOR_OWN_S


def _order(build: str, spoken: int) -> tuple[int, list[int]]:
    return spoken, [int(part) if part.isdigit() else 0 for part in build.replace("-", ".").split(".")]
